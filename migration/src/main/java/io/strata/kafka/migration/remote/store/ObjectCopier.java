package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reads and copies files of segments, and computes their checksums on the way. Nothing is forced
 * here: what gives the files their place forces them together. Used by one thread.
 *
 * @param chunkBytes how a log is divided for its checksums
 * @param pace is asked for each piece
 * @param buffer nobody else uses it meanwhile
 */
record ObjectCopier(int chunkBytes, BytePace pace, ByteBuffer buffer) {

  /**
   * Copies the first bytes of a file.
   *
   * @param bytes so many at most: an object may have grown, and what is behind its length is not
   *     the segment's
   * @param target must not exist
   * @return the checksums of what was read
   */
  ChunkChecksums.Builder copy(Path source, long bytes, Path target)
      throws IOException, InterruptedException {
    try (FileChannel from = FileChannel.open(source, StandardOpenOption.READ);
        FileChannel to =
            FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      return read(from, bytes, piece -> Disk.writeFully(to, piece));
    }
  }

  /** The checksums of the first bytes of a file. */
  ChunkChecksums.Builder read(Path file, long bytes) throws IOException, InterruptedException {
    try (FileChannel from = FileChannel.open(file, StandardOpenOption.READ)) {
      return read(from, bytes, piece -> {});
    }
  }

  private ChunkChecksums.Builder read(FileChannel from, long bytes, Disk.Taking taking)
      throws IOException, InterruptedException {
    ChunkChecksums.Builder read = new ChunkChecksums.Builder(chunkBytes);
    while (read.bytes() < bytes) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), bytes - read.bytes()));
      Disk.readFully(from, buffer, read.bytes());
      if (!buffer.hasRemaining()) {
        break;
      }
      pace.before(buffer.remaining());
      read.update(buffer);
      taking.take(buffer);
    }
    return read;
  }
}
