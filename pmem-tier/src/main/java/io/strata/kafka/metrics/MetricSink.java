package io.strata.kafka.metrics;

import io.strata.kafka.migration.LatencyWindow;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/**
 * Where metrics are published. The suppliers throw nothing.
 *
 * <p>Thread safety: implementations may be used by any thread.
 */
interface MetricSink {

  /** Publishes a gauge: the attribute {@code Value}. */
  void gauge(BeanName name, DoubleSupplier value);

  /** Publishes a counter: the attribute {@code Count}. */
  void counter(BeanName name, LongSupplier count);

  /** Publishes a distribution: {@link LatencyWindow#ATTRIBUTES}. */
  void distribution(BeanName name, ToDoubleFunction<String> attributes);

  /** Withdraws what was published under the name; without effect if nothing was. */
  void remove(BeanName name);
}
