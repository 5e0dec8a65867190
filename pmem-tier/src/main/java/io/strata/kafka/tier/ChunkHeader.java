package io.strata.kafka.tier;

import static io.strata.kafka.layout.ChunkHeaderLayout.*;

import io.strata.kafka.migration.remote.read.ChunkKey;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * What is stored before a cached chunk; see {@link io.strata.kafka.layout.ChunkHeaderLayout}.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param key which chunk
 * @param length how many bytes it has, from 0
 * @param sequence one more for each chunk
 * @param generation of the region that it lies in
 * @param position of the header in the pool
 */
record ChunkHeader(ChunkKey key, int length, long sequence, long generation, long position) {

  /** Where the chunk's bytes begin. */
  long dataPosition() {
    return position + LENGTH;
  }

  /** How many pages a chunk of so many bytes takes. */
  static int pages(long length) {
    return Math.toIntExact((LENGTH + length + PAGE - 1) / PAGE);
  }

  /** Its bytes. */
  ByteBuffer encode() {
    ByteBuffer bytes = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(MAGIC_OFFSET, MAGIC);
    bytes.putLong(ID_HIGH_OFFSET, key.idHigh());
    bytes.putLong(ID_LOW_OFFSET, key.idLow());
    bytes.putInt(NUMBER_OFFSET, key.number());
    bytes.putInt(CHUNK_LENGTH_OFFSET, length);
    bytes.putLong(SEQUENCE_OFFSET, sequence);
    bytes.putLong(GENERATION_OFFSET, generation);
    bytes.putLong(POSITION_OFFSET, position);
    bytes.putInt(CHECKSUM_OFFSET, checksum(bytes));
    return bytes;
  }

  /**
   * The header in these bytes.
   *
   * @param generation of the region
   * @param position of the bytes in the pool
   * @return empty if they are no header, or one of somewhere else
   */
  static Optional<ChunkHeader> decode(ByteBuffer encoded, long generation, long position) {
    ByteBuffer bytes = encoded.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.getLong(MAGIC_OFFSET) != MAGIC
        || bytes.getInt(CHECKSUM_OFFSET) != checksum(bytes)
        || bytes.getLong(GENERATION_OFFSET) != generation
        || bytes.getLong(POSITION_OFFSET) != position
        || bytes.getInt(CHUNK_LENGTH_OFFSET) < 0
        || bytes.getInt(NUMBER_OFFSET) < 0) {
      return Optional.empty();
    }
    ChunkKey key =
        new ChunkKey(
            bytes.getLong(ID_HIGH_OFFSET),
            bytes.getLong(ID_LOW_OFFSET),
            bytes.getInt(NUMBER_OFFSET));
    return Optional.of(
        new ChunkHeader(
            key,
            bytes.getInt(CHUNK_LENGTH_OFFSET),
            bytes.getLong(SEQUENCE_OFFSET),
            generation,
            position));
  }

  private static int checksum(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate().position(0).limit(CHECKSUM_OFFSET));
    return (int) crc.getValue();
  }
}
