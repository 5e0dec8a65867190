package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * How long one kind of call took: count and sum since this object was made, the distribution over
 * the last five to ten minutes, or since the last reading if that is longer ago.
 *
 * <p>Thread safety: any number of threads may record, wait-free and in tens of nanoseconds; readers
 * lock each other out, never a recorder.
 */
public final class LatencyWindow {

  private static final long HALF_NANOS = TimeUnit.MINUTES.toNanos(5);

  /** Longer calls count as this long. */
  private static final long HIGHEST_NANOS = TimeUnit.DAYS.toNanos(1);

  /** Two digits: a value is off by 1 % at most; about 40 KiB a histogram. */
  private static final int DIGITS = 2;

  private final LongSupplier nanoTime;
  private final LongAdder count = new LongAdder();
  private final LongAdder totalNanos = new LongAdder();
  private final Recorder recorder = new Recorder(HIGHEST_NANOS, DIGITS);

  @GuardedBy("this")
  private Histogram drained;

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
    this.drained = recorder.getIntervalHistogram();
  }

  /** Counts a call that took this long. */
  public void record(long nanos) {
    long counted = Math.max(0, Math.min(HIGHEST_NANOS, nanos));
    recorder.recordValue(counted);
    count.increment();
    totalNanos.add(counted);
  }

  /** The counts. */
  public synchronized MigrationStats.Latency latency() {
    rotate();
    drained = recorder.getIntervalHistogram(drained);
    current.add(drained);
    Histogram both = current.copy();
    both.add(previous);
    return new MigrationStats.Latency(
        count.sum(),
        totalNanos.sum(),
        both.getMinValue(),
        both.getMaxValue(),
        Math.round(both.getStdDeviation()),
        both.getValueAtPercentile(50),
        both.getValueAtPercentile(75),
        both.getValueAtPercentile(95),
        both.getValueAtPercentile(98),
        both.getValueAtPercentile(99),
        both.getValueAtPercentile(99.9));
  }

  /** Before what was recorded is taken over: it is counted as of this moment. */
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
