package com.yammer.metrics.core;

import com.yammer.metrics.stats.Snapshot;
import com.yammer.metrics.stats.UniformSample;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Counters and histograms whose values are kept elsewhere and read when a reporter asks. Reporters
 * tell metrics by these classes, whose constructors only this package may call: so this class is in
 * it.
 *
 * <p>Thread safety: stateless; what it makes is as safe as the given suppliers.
 */
public final class PulledMetrics {

  private PulledMetrics() {}

  /**
   * A distribution at one moment.
   *
   * @param count values since the start
   * @param sum of all values since the start
   * @param min of the recent values
   * @param max of the recent values
   * @param stdDev of the recent values
   * @param snapshot percentiles of the recent values
   */
  public record Distribution(
      long count, double sum, double min, double max, double stdDev, Snapshot snapshot) {}

  /**
   * Checks that this package is one with the library's.
   *
   * @throws LinkageError if there is no such library, or it was loaded by another loader
   */
  public static void requireAccess() {
    long unused = new PulledCounter(() -> 0).count();
  }

  /** A counter that reads its count. */
  public static Counter counter(LongSupplier count) {
    return new PulledCounter(count);
  }

  /** A histogram that reads its values. */
  public static Histogram histogram(Supplier<Distribution> values) {
    return new PulledHistogram(values);
  }

  /** Adds a metric to a registry, unless it has one of that name. */
  public static void add(MetricsRegistry registry, MetricName name, Metric metric) {
    Metric unused = registry.getOrAdd(name, metric);
  }

  private static final class PulledCounter extends Counter {
    private final LongSupplier count;

    PulledCounter(LongSupplier count) {
      this.count = count;
    }

    @Override
    public long count() {
      return count.getAsLong();
    }
  }

  private static final class PulledHistogram extends Histogram {
    private final Supplier<Distribution> values;

    PulledHistogram(Supplier<Distribution> values) {
      super(new UniformSample(1));
      this.values = values;
    }

    @Override
    public long count() {
      return values.get().count();
    }

    @Override
    public double sum() {
      return values.get().sum();
    }

    @Override
    public double mean() {
      Distribution now = values.get();
      return now.count() == 0 ? 0 : now.sum() / now.count();
    }

    @Override
    public double min() {
      return values.get().min();
    }

    @Override
    public double max() {
      return values.get().max();
    }

    @Override
    public double stdDev() {
      return values.get().stdDev();
    }

    @Override
    public Snapshot getSnapshot() {
      return values.get().snapshot();
    }
  }
}
