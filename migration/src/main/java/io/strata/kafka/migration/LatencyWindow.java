package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * How long moves took, over the last five to ten minutes.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
public final class LatencyWindow {

  private static final long HALF_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final long HIGHEST_NANOS = TimeUnit.DAYS.toNanos(1);
  private static final int DIGITS = 2;

  private final LongSupplier nanoTime;

  @GuardedBy("this")
  private Histogram current = new Histogram(HIGHEST_NANOS, DIGITS);

  @GuardedBy("this")
  private Histogram previous = new Histogram(HIGHEST_NANOS, DIGITS);

  @GuardedBy("this")
  private long currentBegan;

  /** Empty. */
  public LatencyWindow(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.currentBegan = nanoTime.getAsLong();
  }

  /** Counts one. */
  public synchronized void record(long nanos) {
    rotate();
    current.recordValue(Math.max(0, Math.min(HIGHEST_NANOS, nanos)));
  }

  /** The counts. */
  public synchronized MigrationStats.Latency latency() {
    rotate();
    Histogram both = current.copy();
    both.add(previous);
    if (both.getTotalCount() == 0) {
      return MigrationStats.Latency.NONE;
    }
    return new MigrationStats.Latency(
        both.getTotalCount(),
        both.getValueAtPercentile(50),
        both.getValueAtPercentile(95),
        both.getValueAtPercentile(99),
        both.getMaxValue());
  }

  @GuardedBy("this")
  private void rotate() {
    long age = nanoTime.getAsLong() - currentBegan;
    if (age < HALF_NANOS) {
      return;
    }
    Histogram emptied = previous;
    emptied.reset();
    previous = current;
    current = emptied;
    if (age >= 2 * HALF_NANOS) {
      previous.reset();
    }
    currentBegan += age;
  }
}
