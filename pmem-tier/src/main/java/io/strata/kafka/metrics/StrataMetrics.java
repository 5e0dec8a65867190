package io.strata.kafka.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.metrics.TierSource.PoolSample;
import io.strata.kafka.metrics.TierSource.TierSample;
import io.strata.kafka.migration.FailureCause;
import io.strata.kafka.migration.MigrationStats;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.function.DoubleSupplier;
import javax.management.MBeanServer;

/**
 * Publishes the hot tier's metrics, all of the catalogue in {@code docs/reference/metrics.md}, in
 * the broker's JMX below {@code io.strata.kafka}, until it is closed.
 *
 * <p>Values are read when JMX is read; nothing runs in the background.
 *
 * <p>Thread safety: immutable; safe for use by any thread.
 */
public final class StrataMetrics implements AutoCloseable {
  private final MeterRegistry registry;

  private StrataMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Publishes in the platform's MBean server. */
  public static StrataMetrics publish(TierSource tier, EventCounters counters) {
    return publish(
        new RecentSource(tier, System::nanoTime),
        counters,
        ManagementFactory.getPlatformMBeanServer());
  }

  static StrataMetrics publish(TierSource tier, EventCounters counters, MBeanServer server) {
    MeterRegistry registry = JmxNames.registry(server);
    for (Metric metric : Metric.values()) {
      register(registry, metric, tier, counters);
    }
    return new StrataMetrics(registry);
  }

  private static void register(
      MeterRegistry registry, Metric metric, TierSource tier, EventCounters counters) {
    MetricReading reading = metric.reading();
    if (reading instanceof MetricReading.PoolReading pool) {
      List<PoolSample> pools = tier.pools();
      for (int i = 0; i < pools.size(); i++) {
        int index = i;
        gauge(metric, () -> pool.value().applyAsDouble(tier.pools().get(index)))
            .tag("pool", pools.get(i).pool())
            .register(registry);
      }
    } else if (reading instanceof MetricReading.EachTierReading each) {
      registerEach(registry, metric, each, tier);
    } else if (reading instanceof MetricReading.EngineReading one) {
      gauge(metric, () -> tier.migration().map(one.value()::applyAsDouble).orElse(0.0))
          .register(registry);
    } else if (reading instanceof MetricReading.CauseReading) {
      for (FailureCause cause : FailureCause.values()) {
        gauge(metric, () -> failures(tier, cause)).tag("cause", cause.label()).register(registry);
      }
    } else if (reading instanceof MetricReading.TierReading one) {
      gauge(metric, () -> one.value().applyAsDouble(tier)).register(registry);
    } else if (reading instanceof MetricReading.EventReading one) {
      gauge(metric, () -> one.value().applyAsDouble(counters)).register(registry);
    }
  }

  private static void registerEach(
      MeterRegistry registry, Metric metric, MetricReading.EachTierReading each, TierSource tier) {
    List<TierSample> tiers = tier.tiers();
    for (int i = 0; i < tiers.size(); i++) {
      int index = i;
      gauge(metric, () -> each.value().applyAsDouble(figures(tier, index)))
          .tag("tier", tiers.get(i).name())
          .register(registry);
    }
    each.home()
        .ifPresent(
            value ->
                gauge(metric, () -> value.applyAsDouble(tier.home()))
                    .tag("tier", SegmentView.LOG_DIRS)
                    .register(registry));
  }

  static MetricReading.TierFigures figures(TierSource tier, int index) {
    return new MetricReading.TierFigures(
        tier.tiers().get(index),
        tier.migration()
            .map(MigrationStats::tiers)
            .filter(moves -> index < moves.size())
            .map(moves -> moves.get(index)));
  }

  private static double failures(TierSource tier, FailureCause cause) {
    return tier.migration().map(stats -> stats.failures().getOrDefault(cause, 0L)).orElse(0L);
  }

  /** Counters, too, are gauges in JMX: an MBean with the one attribute {@code Value}. */
  private static Gauge.Builder<DoubleSupplier> gauge(Metric metric, DoubleSupplier value) {
    return Gauge.builder(
            metric.type() + "." + metric.metricName(), value, DoubleSupplier::getAsDouble)
        .description(metric.description())
        .baseUnit(metric.unit())
        .strongReference(true);
  }

  /** Withdraws all metrics; without effect when closed. */
  @Override
  public void close() {
    registry.close();
  }
}
