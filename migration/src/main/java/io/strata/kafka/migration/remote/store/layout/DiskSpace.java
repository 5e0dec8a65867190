package io.strata.kafka.migration.remote.store.layout;

import java.util.stream.LongStream;

/**
 * Estimates what files take on disk: whole blocks. Small segments take several times their length.
 */
public final class DiskSpace {

  /** The usual size on local file systems; one of NFS says its transfer size instead. */
  private static final long BLOCK = 4096;

  /** A manifest without its chunks' checksums, at the most. */
  private static final long MANIFEST = 2048;

  /** A chunk's checksum in a manifest. */
  private static final long PER_CHUNK = 12;

  private DiskSpace() {}

  /** Returns what a file takes. */
  public static long ofFile(long length) {
    return (length + BLOCK - 1) / BLOCK * BLOCK;
  }

  /**
   * Returns what a segment's directory takes, with its manifest.
   *
   * @param files the lengths of its other files
   * @param logBytes the log's length
   * @param chunkBytes how the log is divided for its checksums
   */
  public static long ofSegment(LongStream files, long logBytes, int chunkBytes) {
    long manifest = MANIFEST + PER_CHUNK * (logBytes / chunkBytes + 1);
    return BLOCK + ofFile(manifest) + files.map(DiskSpace::ofFile).sum();
  }
}
