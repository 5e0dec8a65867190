package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The reads of a segment since the process began.
 *
 * <p>Thread safety: all methods may be called by any number of threads; the time and the bytes are
 * not read together.
 */
public final class Reads {

  private static final double HALF_LIFE_MILLIS = 600_000;

  @GuardedBy("this")
  private long lastMillis;

  /** Bytes read or transferred since the last call of {@link #recentBytes}. */
  @GuardedBy("this")
  private long newBytes;

  @GuardedBy("this")
  private long seenMillis;

  @GuardedBy("this")
  private double recent;

  public Reads(long createdAtMillis) {
    this.lastMillis = createdAtMillis;
  }

  /**
   * Returns when it was last read, in milliseconds since the epoch; its creation if it never was.
   */
  public synchronized long lastMillis() {
    return lastMillis;
  }

  /**
   * Bytes read lately: each counts half after ten minutes. Bytes read since the last call count as
   * read just now.
   */
  public synchronized double recentBytes(long nowMillis) {
    if (recent > 0 && nowMillis > seenMillis) {
      recent *= Math.exp(-Math.log(2) * (nowMillis - seenMillis) / HALF_LIFE_MILLIS);
    }
    recent += newBytes;
    newBytes = 0;
    seenMillis = nowMillis;
    return recent;
  }

  public synchronized void add(long count, long nowMillis) {
    newBytes += count;
    lastMillis = nowMillis;
  }
}
