package io.strata.kafka.metrics;

import com.yammer.metrics.core.Gauge;
import com.yammer.metrics.core.Metric;
import com.yammer.metrics.core.MetricName;
import com.yammer.metrics.core.MetricsRegistry;
import com.yammer.metrics.core.PulledMetrics;
import io.strata.kafka.unpublished.BrokerRegistry;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Publishes in a Yammer registry: in the broker's, whose reporter shows each metric in JMX under
 * the same name, and where other reporters find it.
 */
record YammerSink(MetricsRegistry registry) implements MetricSink {

  private static final String GROUP = "strata";
  private static final Pattern COUNTER = Pattern.compile("Total$");

  /** The broker's; throws a LinkageError if this JVM has no such registry, or another one. */
  static MetricSink ofKafka() {
    PulledMetrics.requireAccess();
    return new YammerSink(BrokerRegistry.get());
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
  public void distribution(BeanName name, ToDoubleFunction<String> attributes) {
    add(name, PulledMetrics.histogram(attributes));
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
}
