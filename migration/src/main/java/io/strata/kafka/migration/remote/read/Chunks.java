package io.strata.kafka.migration.remote.read;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Where a segment's chunks begin and end, and their checksums.
 *
 * <p>Stateless.
 */
final class Chunks {

  private Chunks() {}

  /** How many chunks a segment has. */
  static int count(ChunkSource source) {
    return Math.toIntExact((source.bytes() + source.chunkBytes() - 1) / source.chunkBytes());
  }

  /** Which chunk a byte is in. */
  static int at(ChunkSource source, long position) {
    return Math.toIntExact(position / source.chunkBytes());
  }

  /** How many bytes a chunk has. */
  static int length(ChunkSource source, int chunk) {
    long begin = (long) chunk * source.chunkBytes();
    return (int) Math.min(source.chunkBytes(), source.bytes() - begin);
  }

  /** How many bytes chunks that follow each other have. */
  static int length(ChunkSource source, int first, int count) {
    return Math.addExact(
        Math.multiplyExact(count - 1, source.chunkBytes()), length(source, first + count - 1));
  }

  /** The CRC-32C of what is between position and limit, which stay where they are. */
  static int crc32c(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate());
    return (int) crc.getValue();
  }
}
