package io.strata.kafka.crash;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.zip.CRC32C;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Record batches that Kafka's own classes have made once, with other values and offsets. */
final class SimBatches {

  private static final int HEADER = 61;
  private static final int SIZE_OFFSET = 8;
  private static final int CRC_OFFSET = 17;
  private static final int CHECKED_FROM = 21;
  private static final int VALUE_FROM = HEADER + 16;
  private static final int VALUE_END = 4;

  private SimBatches() {}

  /** One batch of about {@code length} bytes, unlike any other. */
  static byte[] of(int length, long seed) {
    MemoryRecords records =
        MemoryRecords.withRecords(
            seed & 0xFFFF_FFFFL,
            Compression.NONE,
            new SimpleRecord(1L, new byte[Math.max(40, length - HEADER)]));
    ByteBuffer buffer = records.buffer();
    byte[] batch = new byte[buffer.remaining()];
    buffer.get(batch);
    byte[] value = new byte[batch.length - VALUE_FROM - VALUE_END];
    new Random(seed).nextBytes(value);
    for (int i = 0; i < value.length; i++) {
      // A byte of zero is what a hole looks like.
      value[i] = value[i] == 0 ? 1 : value[i];
    }
    System.arraycopy(value, 0, batch, VALUE_FROM, value.length);
    CRC32C crc = new CRC32C();
    crc.update(batch, CHECKED_FROM, batch.length - CHECKED_FROM);
    ByteBuffer.wrap(batch).putInt(CRC_OFFSET, (int) crc.getValue());
    return batch;
  }

  /** The length of the batches from the start on that are whole and whose checksums fit. */
  static int validLength(byte[] bytes) {
    int at = 0;
    while (at + HEADER <= bytes.length) {
      ByteBuffer header = ByteBuffer.wrap(bytes, at, HEADER).slice();
      int length = header.getInt(SIZE_OFFSET) + 12;
      if (length < HEADER || at + length > bytes.length || header.get(16) != 2) {
        return at;
      }
      CRC32C crc = new CRC32C();
      crc.update(bytes, at + CHECKED_FROM, length - CHECKED_FROM);
      if ((int) crc.getValue() != header.getInt(CRC_OFFSET)) {
        return at;
      }
      at += length;
    }
    return at;
  }

  /** Where a batch ends: the last such place that is not behind {@code most}. */
  static int boundary(byte[] bytes, int most) {
    int at = 0;
    while (at + HEADER <= bytes.length) {
      int next = at + 12 + ByteBuffer.wrap(bytes).getInt(at + SIZE_OFFSET);
      if (next > most) {
        return at;
      }
      at = next;
    }
    return at;
  }
}
