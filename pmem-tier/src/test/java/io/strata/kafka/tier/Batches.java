package io.strata.kafka.tier;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Bytes that are record batches, made by Kafka's own classes. */
public final class Batches {

  private Batches() {}

  /** At least {@code length} bytes of batches with random values. */
  public static byte[] of(int length, long seed) {
    Random random = new Random(seed);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    long offset = 0;
    while (bytes.size() < length) {
      byte[] value = new byte[100 + random.nextInt(20_000)];
      random.nextBytes(value);
      MemoryRecords records =
          MemoryRecords.withRecords(offset++, Compression.NONE, new SimpleRecord(offset, value));
      ByteBuffer buffer = records.buffer();
      byte[] batch = new byte[buffer.remaining()];
      buffer.get(batch);
      bytes.writeBytes(batch);
    }
    return bytes.toByteArray();
  }
}
