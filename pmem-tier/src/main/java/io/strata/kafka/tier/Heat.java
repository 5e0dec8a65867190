package io.strata.kafka.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.segment.Reads;

/**
 * How much has been read from a segment lately: each byte counts half after ten minutes.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class Heat {

  private static final double HALF_LIFE_MILLIS = 600_000;

  private final Reads reads;

  @GuardedBy("this")
  private long seenBytes;

  @GuardedBy("this")
  private long seenMillis;

  @GuardedBy("this")
  private double recent;

  Heat(Reads reads) {
    this.reads = reads;
    this.seenBytes = reads.bytes();
  }

  /** Bytes read lately. What was read since the last call counts as read just now. */
  synchronized double recentBytes(long nowMillis) {
    long bytes = reads.bytes();
    if (recent > 0 && nowMillis > seenMillis) {
      recent *= Math.exp(-Math.log(2) * (nowMillis - seenMillis) / HALF_LIFE_MILLIS);
    }
    recent += Math.max(0, bytes - seenBytes);
    seenBytes = bytes;
    seenMillis = nowMillis;
    return recent;
  }
}
