package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Bytes per second over the last ten seconds.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class RateMeter {

  private static final int SECONDS = 10;

  private final LongSupplier nanoTime;
  private final long began;

  /** One for each second, the current one included. */
  @GuardedBy("this")
  private final long[] bytes = new long[SECONDS + 1];

  @GuardedBy("this")
  private long current;

  RateMeter(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.began = nanoTime.getAsLong();
  }

  synchronized void add(long count) {
    advance();
    bytes[(int) (current % bytes.length)] += count;
  }

  synchronized double perSecond() {
    double elapsed = advance();
    double sum = 0;
    for (long second : bytes) {
      sum += second;
    }
    // The buckets reach back ten full seconds and what has passed of the current one.
    double window = Math.min(elapsed, SECONDS + elapsed - current);
    return sum / Math.max(1, window);
  }

  @GuardedBy("this")
  private double advance() {
    double elapsed = (double) (nanoTime.getAsLong() - began) / TimeUnit.SECONDS.toNanos(1);
    long now = Math.max(current, (long) elapsed);
    for (long second = Math.max(current + 1, now - SECONDS); second <= now; second++) {
      bytes[(int) (second % bytes.length)] = 0;
    }
    current = now;
    return Math.max(elapsed, (double) current);
  }
}
