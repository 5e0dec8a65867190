package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Durations of one kind of call: count and mean since this object was made, the distribution over
 * the last five to ten minutes, or since the last reading if that is longer ago.
 *
 * <p>Thread safety: any number of threads may record, wait-free and in tens of nanoseconds; readers
 * lock each other out, never a recorder.
 */
public final class LatencyWindow {

  /** The names of {@link #seconds}, as in Kafka's own histograms; the percentiles come last. */
  public static final List<String> ATTRIBUTES =
      List.of(
          "Count",
          "Mean",
          "Min",
          "Max",
          "StdDev",
          "50thPercentile",
          "75thPercentile",
          "95thPercentile",
          "98thPercentile",
          "99thPercentile",
          "999thPercentile");

  private static final double[] PERCENTILES = {50, 75, 95, 98, 99, 99.9};

  private static final double SECOND = TimeUnit.SECONDS.toNanos(1);

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

  /** Returns how many calls there were. */
  public long count() {
    return count.sum();
  }

  /** Returns the {@link #ATTRIBUTES}: durations in seconds, 0 where there was no call. */
  public synchronized Map<String, Double> seconds() {
    rotate();
    drained = recorder.getIntervalHistogram(drained);
    current.add(drained);
    Histogram both = current.copy();
    both.add(previous);
    long calls = count.sum();
    double[] first = {
      calls,
      calls == 0 ? 0 : totalNanos.sum() / SECOND / calls,
      both.getMinValue() / SECOND,
      both.getMaxValue() / SECOND,
      Math.round(both.getStdDeviation()) / SECOND
    };
    Map<String, Double> seconds = new LinkedHashMap<>();
    for (int i = 0; i < ATTRIBUTES.size(); i++) {
      double value =
          i < first.length
              ? first[i]
              : both.getValueAtPercentile(PERCENTILES[i - first.length]) / SECOND;
      seconds.put(ATTRIBUTES.get(i), value);
    }
    return seconds;
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
