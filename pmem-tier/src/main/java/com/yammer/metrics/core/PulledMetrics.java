package com.yammer.metrics.core;

import com.yammer.metrics.stats.Snapshot;
import com.yammer.metrics.stats.UniformSample;
import io.strata.kafka.migration.MigrationStats.Latency;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Counters and histograms whose values are kept elsewhere and read when a reporter asks. Reporters
 * distinguish metrics by these classes, whose constructors only this package may call: so this
 * class is in it.
 *
 * <p>Thread safety: stateless; what it makes is as safe as the given suppliers.
 */
public final class PulledMetrics {

  private static final double NANOS = 1e9;

  private PulledMetrics() {}

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

  /** A histogram of durations, in seconds. */
  public static Histogram histogram(Supplier<Latency> latency) {
    return new PulledHistogram(latency);
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
    private final Supplier<Latency> latency;

    PulledHistogram(Supplier<Latency> latency) {
      super(new UniformSample(1));
      this.latency = latency;
    }

    @Override
    public long count() {
      return latency.get().count();
    }

    @Override
    public double sum() {
      return latency.get().totalNanos() / NANOS;
    }

    @Override
    public double mean() {
      Latency now = latency.get();
      return now.count() == 0 ? 0 : now.totalNanos() / NANOS / now.count();
    }

    @Override
    public double min() {
      return latency.get().minNanos() / NANOS;
    }

    @Override
    public double max() {
      return latency.get().maxNanos() / NANOS;
    }

    @Override
    public double stdDev() {
      return latency.get().stdDevNanos() / NANOS;
    }

    @Override
    public Snapshot getSnapshot() {
      Latency now = latency.get();
      return new Percentiles(
          now.minNanos() / NANOS,
          now.p50Nanos() / NANOS,
          now.p75Nanos() / NANOS,
          now.p95Nanos() / NANOS,
          now.p98Nanos() / NANOS,
          now.p99Nanos() / NANOS,
          now.p999Nanos() / NANOS,
          now.maxNanos() / NANOS);
    }
  }

  /** One value for each quantile; one that is not known is the next higher one that is. */
  private static final class Percentiles extends Snapshot {
    private static final double[] QUANTILES = {0, 0.5, 0.75, 0.95, 0.98, 0.99, 0.999};

    private final double[] values;

    Percentiles(double... values) {
      super(values);
      this.values = values;
    }

    @Override
    public double getValue(double quantile) {
      for (int i = 0; i < QUANTILES.length; i++) {
        if (quantile <= QUANTILES[i]) {
          return values[i];
        }
      }
      return values[QUANTILES.length];
    }
  }
}
