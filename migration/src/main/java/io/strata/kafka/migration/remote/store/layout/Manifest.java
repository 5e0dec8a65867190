package io.strata.kafka.migration.remote.store.layout;

import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The description of one segment of the store: the content of its {@code manifest.json}. It is
 * written once and never changed; {@link ManifestCodec} describes the file.
 *
 * @param storeId the store that it was copied to, as in {@code strata-store.json}
 * @param segment what Kafka says of it
 * @param createdMillis when it was copied, in milliseconds since the epoch
 * @param objects its files; the log is among them
 * @param chunks the checksums of the log's chunks
 */
public record Manifest(
    String storeId,
    SegmentInfo segment,
    long createdMillis,
    List<StoredObject> objects,
    ChunkChecksums chunks) {

  /** The usual size on local file systems; one of NFS says its transfer size instead. */
  private static final long BLOCK = 4096;

  /** A manifest without its chunks' checksums, at the most. */
  private static final long WITHOUT_CHUNKS = 2048;

  /** A chunk's checksum in a manifest. */
  private static final long PER_CHUNK = 12;

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there is no log, a type is there twice, or the log's length
   *     is not the segment's
   */
  public Manifest {
    objects = List.copyOf(objects);
    if (objects.stream().map(StoredObject::type).distinct().count() != objects.size()) {
      throw new IllegalArgumentException("objects: a type is there twice: " + objects);
    }
    long log =
        objects.stream()
            .filter(o -> o.type() == ObjectType.LOG)
            .mapToLong(StoredObject::bytes)
            .findFirst()
            .orElse(-1);
    if (log != segment.bytes()) {
      throw new IllegalArgumentException(
          "objects: found a log of " + log + " bytes, expected the segment's " + segment.bytes());
    }
  }

  /** One of its files; empty if it has no file of the type. */
  public Optional<StoredObject> object(ObjectType type) {
    return objects.stream().filter(o -> o.type() == type).findFirst();
  }

  /** The log; every manifest has one. */
  public StoredObject log() {
    return object(ObjectType.LOG).orElseThrow();
  }

  /** Returns what its files take on disk, and the manifest. */
  public long diskBytes() {
    return diskBytes(
        objects.stream().mapToLong(StoredObject::bytes), segment.bytes(), chunks.chunkBytes());
  }

  /** Returns what a file takes on disk: whole blocks, several times its length if it is small. */
  public static long diskBytes(long length) {
    return (length + BLOCK - 1) / BLOCK * BLOCK;
  }

  /**
   * Returns what a segment's directory takes, with its manifest.
   *
   * @param files the lengths of its other files
   * @param logBytes the log's length
   * @param chunkBytes how the log is divided for its checksums
   */
  public static long diskBytes(LongStream files, long logBytes, int chunkBytes) {
    long manifest = WITHOUT_CHUNKS + PER_CHUNK * (logBytes / chunkBytes + 1);
    return BLOCK + diskBytes(manifest) + files.map(Manifest::diskBytes).sum();
  }

  /** The bytes of all its files, the manifest excepted. */
  public long totalBytes() {
    return objects.stream().mapToLong(StoredObject::bytes).sum();
  }
}
