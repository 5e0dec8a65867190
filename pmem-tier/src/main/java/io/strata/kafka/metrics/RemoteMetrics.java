package io.strata.kafka.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.strata.kafka.migration.remote.RemoteStats;
import java.lang.management.ManagementFactory;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import javax.management.MBeanServer;

/**
 * Publishes the remote tier's metrics in the broker's JMX below {@code io.strata.kafka}, as those
 * of the local tiers. Not in Kafka's own registry (KIP-877): a plugin that can be given it has an
 * interface of Kafka 4.1, and cannot be loaded by an older one.
 *
 * <p>Values are read when they are asked for; nothing runs in the background.
 *
 * <p>Thread safety: immutable; safe for use by any thread.
 */
public final class RemoteMetrics implements AutoCloseable {

  private final MeterRegistry registry;

  private RemoteMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Publishes in the platform's MBean server, until it is closed. */
  public static RemoteMetrics publish(Supplier<RemoteStats> stats) {
    return publish(stats, ManagementFactory.getPlatformMBeanServer());
  }

  static RemoteMetrics publish(Supplier<RemoteStats> stats, MBeanServer server) {
    MeterRegistry registry = JmxNames.registry(server);
    for (RemoteGauge gauge : RemoteGauge.all(new Recent<>(stats, System::nanoTime))) {
      RemoteMetric metric = gauge.metric();
      Gauge.Builder<DoubleSupplier> builder =
          Gauge.builder(
                  metric.type() + "." + metric.metricName(),
                  gauge.value(),
                  DoubleSupplier::getAsDouble)
              .description(metric.description())
              .baseUnit(metric.unit())
              .strongReference(true);
      gauge.tags().forEach(builder::tag);
      Gauge unused = builder.register(registry);
    }
    return new RemoteMetrics(registry);
  }

  /** Withdraws them; without effect when closed. */
  @Override
  public void close() {
    registry.close();
  }
}
