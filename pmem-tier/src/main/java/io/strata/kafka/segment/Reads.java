package io.strata.kafka.segment;

import java.util.concurrent.atomic.LongAdder;

/**
 * The reads of a segment since the process began.
 *
 * <p>Thread safety: all methods may be called by any number of threads; the time and the bytes are
 * not read together.
 */
public final class Reads {

  private final LongAdder bytes = new LongAdder();
  private volatile long lastMillis;

  Reads(long createdAtMillis) {
    this.lastMillis = createdAtMillis;
  }

  /** Bytes read or transferred. */
  public long bytes() {
    return bytes.sum();
  }

  /**
   * Returns when it was last read, in milliseconds since the epoch; its creation if it never was.
   */
  public long lastMillis() {
    return lastMillis;
  }

  void add(long count, long nowMillis) {
    bytes.add(count);
    lastMillis = nowMillis;
  }
}
