package io.strata.kafka.bench.load;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * The bytes of records: the time at which each is meant to be sent, and then random bytes with as
 * many zeros as a compressor is to take away. Not thread-safe.
 */
final class Payload {
  /** Bytes of the time stamp. */
  static final int HEAD = Long.BYTES;

  private static final int BLOCK = 256;
  private static final int POOL = 8 << 20;

  private final byte[] pool;
  private final byte[] value;
  private int position;

  /**
   * Creates the payload of one client.
   *
   * @param pool from {@link #pool}, shared by clients
   * @param size bytes of each record
   * @param client its number; each starts elsewhere in the pool
   */
  Payload(byte[] pool, int size, int client) {
    this.pool = pool;
    this.value = new byte[size];
    this.position = (int) ((client * 1_000_003L) % pool.length);
  }

  /**
   * Creates bytes of the compressibility: in each block of 256 the share of zeros.
   *
   * @param compressibility from 0 to 1
   */
  static byte[] pool(double compressibility, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] pool = new byte[POOL];
    random.nextBytes(pool);
    int zeros = (int) Math.round(BLOCK * compressibility);
    for (int block = 0; block < POOL; block += BLOCK) {
      java.util.Arrays.fill(pool, block, block + zeros, (byte) 0);
    }
    return pool;
  }

  /** The next record's value; the array is the same for all. */
  byte[] next(long intendedMicros) {
    int filled = 0;
    while (filled < value.length) {
      int length = Math.min(value.length - filled, pool.length - position);
      System.arraycopy(pool, position, value, filled, length);
      filled += length;
      position = (position + length) % pool.length;
    }
    ByteBuffer.wrap(value).putLong(0, intendedMicros);
    return value;
  }

  /** Returns when a record with this value was meant to be sent: micros of the epoch. */
  static long intendedMicros(ByteBuffer value) {
    return value.getLong(value.position());
  }
}
