package io.strata.kafka.metrics;

import com.yammer.metrics.core.Gauge;
import com.yammer.metrics.core.Metric;
import com.yammer.metrics.core.MetricName;
import com.yammer.metrics.core.MetricsRegistry;
import com.yammer.metrics.core.PulledMetrics;
import com.yammer.metrics.stats.Snapshot;
import io.strata.kafka.migration.MigrationStats.Latency;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;

/**
 * Publishes in a Yammer registry: in the broker's, whose reporter shows each metric in JMX under
 * the same name, and where other reporters find it.
 *
 * <p>Thread safety: immutable; safe for use by any thread.
 */
final class YammerSink implements MetricSink {

  private static final String GROUP = "strata";
  private static final Pattern COUNTER = Pattern.compile("Total$");

  private final MetricsRegistry registry;

  YammerSink(MetricsRegistry registry) {
    this.registry = registry;
  }

  /**
   * The broker's.
   *
   * @throws LinkageError if this JVM has no such registry, or another one
   */
  static MetricSink ofKafka() {
    PulledMetrics.requireAccess();
    return new YammerSink(KafkaYammerMetrics.defaultRegistry());
  }

  @Override
  public void gauge(BeanName name, DoubleSupplier value) {
    add(
        name,
        new Gauge<Double>() {
          @Override
          public Double value() {
            return value.getAsDouble();
          }
        });
  }

  @Override
  public void counter(BeanName name, LongSupplier count) {
    add(name, PulledMetrics.counter(count));
  }

  @Override
  public void latency(BeanName name, Supplier<Latency> latency) {
    add(
        name,
        PulledMetrics.histogram(
            () -> {
              Latency now = latency.get();
              return new PulledMetrics.Distribution(
                  now.count(),
                  now.totalNanos() / 1e9,
                  now.minNanos() / 1e9,
                  now.maxNanos() / 1e9,
                  now.stdDevNanos() / 1e9,
                  new Percentiles(now));
            }));
  }

  private void add(BeanName name, Metric metric) {
    remove(name);
    PulledMetrics.add(registry, nameOf(name), metric);
  }

  @Override
  public void remove(BeanName name) {
    registry.removeMetric(nameOf(name));
  }

  /**
   * The name in JMX, and what reporters make names of that read the registry: Strimzi's makes
   * {@code strata_tier_spilledbytes_total} of group, type and name, where the ending says that it
   * is a counter, and finds the tags by the scope.
   */
  @SuppressWarnings("NullAway") // no scope is null to the library
  private static MetricName nameOf(BeanName name) {
    String withoutKind = COUNTER.matcher(name.name()).replaceFirst("");
    if (name.tags().isEmpty()) {
      return new MetricName(GROUP, name.type(), withoutKind, null, name.objectName());
    }
    String scope =
        name.tags().entrySet().stream()
            .map(tag -> tag.getKey() + "." + tag.getValue().replace('.', '_'))
            .collect(Collectors.joining("."));
    return new MetricName(GROUP, name.type(), withoutKind, scope, name.objectName());
  }

  /** The percentiles of a distribution; one that is not known is the next higher one that is. */
  private static final class Percentiles extends Snapshot {
    private final Latency latency;

    Percentiles(Latency latency) {
      super(
          new double[] {
            latency.minNanos() / 1e9,
            latency.p50Nanos() / 1e9,
            latency.p75Nanos() / 1e9,
            latency.p95Nanos() / 1e9,
            latency.p98Nanos() / 1e9,
            latency.p99Nanos() / 1e9,
            latency.p999Nanos() / 1e9,
            latency.maxNanos() / 1e9
          });
      this.latency = latency;
    }

    @Override
    public double getValue(double quantile) {
      long nanos;
      if (quantile <= 0) {
        nanos = latency.minNanos();
      } else if (quantile <= 0.5) {
        nanos = latency.p50Nanos();
      } else if (quantile <= 0.75) {
        nanos = latency.p75Nanos();
      } else if (quantile <= 0.95) {
        nanos = latency.p95Nanos();
      } else if (quantile <= 0.98) {
        nanos = latency.p98Nanos();
      } else if (quantile <= 0.99) {
        nanos = latency.p99Nanos();
      } else if (quantile <= 0.999) {
        nanos = latency.p999Nanos();
      } else {
        nanos = latency.maxNanos();
      }
      return nanos / 1e9;
    }
  }
}
