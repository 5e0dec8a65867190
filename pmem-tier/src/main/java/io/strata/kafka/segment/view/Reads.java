package io.strata.kafka.segment.view;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.atomic.LongAdder;

/**
 * The reads of a segment since the process began.
 *
 * <p>Thread safety: all methods may be called by any number of threads; the time and the bytes are
 * not read together.
 */
public final class Reads {

  private static final double HALF_LIFE_MILLIS = 600_000;

  private final LongAdder bytes = new LongAdder();
  private volatile long lastMillis;

  @GuardedBy("this")
  private long seenBytes;

  @GuardedBy("this")
  private long seenMillis;

  @GuardedBy("this")
  private double recent;

  public Reads(long createdAtMillis) {
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

  /**
   * Bytes read lately: each counts half after ten minutes. Bytes read since the last call count as
   * read just now.
   */
  public synchronized double recentBytes(long nowMillis) {
    long now = bytes.sum();
    if (recent > 0 && nowMillis > seenMillis) {
      recent *= Math.exp(-Math.log(2) * (nowMillis - seenMillis) / HALF_LIFE_MILLIS);
    }
    recent += Math.max(0, now - seenBytes);
    seenBytes = now;
    seenMillis = nowMillis;
    return recent;
  }

  public void add(long count, long nowMillis) {
    bytes.add(count);
    lastMillis = nowMillis;
  }
}
