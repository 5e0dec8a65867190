package io.strata.kafka.metrics;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * The distribution of one kind of call's duration over the last interval.
 *
 * <p>Nothing runs in the background: an interval ends with the first reading after its least
 * length, so that all percentiles of one JMX scrape come from the same calls.
 *
 * <p>Thread safety: any number of threads may record, wait-free and in tens of nanoseconds; readers
 * lock each other out, never a recorder.
 */
final class Latencies {
  /** Longer calls count as this long. */
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** Two digits: a value is off by 1 % at most; about 40 KiB. */
  private static final int DIGITS = 2;

  private final Recorder recorder = new Recorder(LONGEST_NANOS, DIGITS);
  private final long intervalNanos;
  private final LongSupplier nanoClock;

  @GuardedBy("this")
  private Histogram last;

  @GuardedBy("this")
  private long intervalStart;

  Latencies(Duration interval, LongSupplier nanoClock) {
    this.intervalNanos = interval.toNanos();
    this.nanoClock = nanoClock;
    this.intervalStart = nanoClock.getAsLong();
    this.last = recorder.getIntervalHistogram();
  }

  void record(long nanos) {
    recorder.recordValue(Math.max(0, Math.min(nanos, LONGEST_NANOS)));
  }

  /** Nanoseconds that the given share of calls in the last interval did not exceed; 0 if none. */
  synchronized long percentile(double percent) {
    endInterval();
    return last.getTotalCount() == 0 ? 0 : last.getValueAtPercentile(percent);
  }

  /** The longest call of the last interval in nanoseconds; 0 if there was none. */
  synchronized long max() {
    endInterval();
    return last.getMaxValue();
  }

  @GuardedBy("this")
  private void endInterval() {
    long now = nanoClock.getAsLong();
    if (now - intervalStart >= intervalNanos) {
      last = recorder.getIntervalHistogram(last);
      intervalStart = now;
    }
  }
}
