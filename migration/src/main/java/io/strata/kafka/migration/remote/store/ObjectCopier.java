package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * Copies files into the store, and computes their checksums on the way. Nothing is forced here:
 * what gives the files their place forces them together.
 *
 * <p>Thread safety: used by one thread.
 */
final class ObjectCopier {

  private final int chunkBytes;
  private final BytePace pace;
  private final ByteBuffer buffer;

  /**
   * With a buffer that nobody else uses meanwhile.
   *
   * @param chunkBytes how a log is divided for its checksums
   */
  ObjectCopier(int chunkBytes, BytePace pace, ByteBuffer buffer) {
    this.chunkBytes = chunkBytes;
    this.pace = pace;
    this.buffer = buffer;
  }

  /**
   * Copies a file's bytes.
   *
   * @param source is read from 0 to its end
   * @param target must not exist
   * @return the checksums of what was read
   */
  ChunkChecksums.Builder copy(Path source, Path target) throws IOException, InterruptedException {
    return copy(source, Long.MAX_VALUE, target);
  }

  /**
   * Copies the first bytes of a file.
   *
   * @param bytes so many at most: an object may have grown, and what is behind its length is not
   *     the segment's
   */
  ChunkChecksums.Builder copy(Path source, long bytes, Path target)
      throws IOException, InterruptedException {
    ChunkChecksums.Builder read = new ChunkChecksums.Builder(chunkBytes);
    try (FileChannel from = FileChannel.open(source, StandardOpenOption.READ);
        FileChannel to =
            FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      while (read.bytes() < bytes && fill(from, read.bytes(), bytes)) {
        pace.before(buffer.remaining());
        read.update(buffer);
        Disk.writeFully(to, buffer);
      }
    }
    return read;
  }

  private boolean fill(FileChannel from, long position) throws IOException {
    return fill(from, position, Long.MAX_VALUE);
  }

  private boolean fill(FileChannel from, long position, long end) throws IOException {
    buffer.clear();
    buffer.limit((int) Math.min(buffer.capacity(), end - position));
    Disk.readFully(from, buffer, position);
    return buffer.hasRemaining();
  }

  /** The checksums of a file's bytes, as they are. */
  ChunkChecksums.Builder read(Path file) throws IOException, InterruptedException {
    ChunkChecksums.Builder read = new ChunkChecksums.Builder(chunkBytes);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      while (fill(channel, read.bytes())) {
        pace.before(buffer.remaining());
        read.update(buffer);
      }
    }
    return read;
  }

  /** Writes an object that is in memory. */
  static StoredObject write(ObjectType type, ByteBuffer bytes, Path target) throws IOException {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes.duplicate());
    int length = bytes.remaining();
    Disk.write(target, bytes.duplicate());
    return new StoredObject(type, length, (int) checksum.getValue());
  }
}
