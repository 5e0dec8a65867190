package io.strata.kafka.metrics.sink;

import io.strata.kafka.migration.MigrationStats.Latency;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Where metrics are published. The suppliers throw nothing.
 *
 * <p>Thread safety: implementations may be used by any thread.
 */
public interface MetricSink {

  /** Publishes a gauge: the attribute {@code Value}. */
  void gauge(BeanName name, DoubleSupplier value);

  /** Publishes a counter: the attribute {@code Count}. */
  void counter(BeanName name, LongSupplier count);

  /** Publishes durations in seconds: the attributes of Kafka's histograms. */
  void latency(BeanName name, Supplier<Latency> latency);

  /** Withdraws what was published under the name; without effect if nothing was. */
  void remove(BeanName name);
}
