package com.yammer.metrics.core;

import com.yammer.metrics.stats.Snapshot;
import com.yammer.metrics.stats.UniformSample;
import io.strata.kafka.migration.LatencyWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/**
 * Counters and histograms whose values are kept elsewhere and read when a reporter asks. Reporters
 * distinguish metrics by these classes, whose constructors only this package may call: so this
 * class is in it.
 *
 * <p>Thread safety: stateless; what it makes is as safe as the given suppliers.
 */
public final class PulledMetrics {

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

  /** A histogram that reads {@link LatencyWindow#ATTRIBUTES}. */
  public static Histogram histogram(ToDoubleFunction<String> attributes) {
    return new PulledHistogram(attributes);
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
    private final ToDoubleFunction<String> attributes;

    PulledHistogram(ToDoubleFunction<String> attributes) {
      super(new UniformSample(1));
      this.attributes = attributes;
    }

    @Override
    public long count() {
      return (long) attributes.applyAsDouble("Count");
    }

    @Override
    public double sum() {
      return mean() * count();
    }

    @Override
    public double mean() {
      return attributes.applyAsDouble("Mean");
    }

    @Override
    public double min() {
      return attributes.applyAsDouble("Min");
    }

    @Override
    public double max() {
      return attributes.applyAsDouble("Max");
    }

    @Override
    public double stdDev() {
      return attributes.applyAsDouble("StdDev");
    }

    @Override
    public Snapshot getSnapshot() {
      List<String> names = new ArrayList<>(List.of("Min"));
      names.addAll(LatencyWindow.ATTRIBUTES.subList(5, LatencyWindow.ATTRIBUTES.size()));
      names.add("Max");
      return new Percentiles(names.stream().mapToDouble(attributes).toArray());
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
