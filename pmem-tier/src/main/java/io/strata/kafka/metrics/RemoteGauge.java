package io.strata.kafka.metrics;

import io.strata.kafka.metrics.RemoteReading.LevelFigures;
import io.strata.kafka.migration.FailureCause;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationStats;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * One value of the catalogue as it is published: a metric, with tags where it has several values.
 *
 * <p>Immutable; as safe as the source of the value.
 *
 * @param metric what it is
 * @param tags names and values, in order
 * @param value reads it
 */
record RemoteGauge(RemoteMetric metric, Map<String, String> tags, DoubleSupplier value) {

  private static final String OPERATION = "operation";
  private static final String CAUSE = "cause";
  private static final String LEVEL = "level";

  /**
   * All values of the catalogue.
   *
   * @param stats is asked now for the levels, and by each reading of a value
   */
  static List<RemoteGauge> all(Supplier<RemoteStats> stats) {
    List<String> levels = stats.get().levels().stream().map(LevelStats::name).toList();
    List<RemoteGauge> gauges = new ArrayList<>();
    for (RemoteMetric metric : RemoteMetric.values()) {
      add(gauges, metric, levels, stats);
    }
    return gauges;
  }

  private static void add(
      List<RemoteGauge> gauges,
      RemoteMetric metric,
      List<String> levels,
      Supplier<RemoteStats> stats) {
    RemoteReading reading = metric.reading();
    if (reading instanceof RemoteReading.OperationReading each) {
      for (Operation operation : Operation.values()) {
        gauges.add(
            gauge(
                metric,
                () -> each.value().applyAsDouble(figures(stats.get(), operation)),
                OPERATION,
                label(operation)));
      }
    } else if (reading instanceof RemoteReading.OperationCauseReading) {
      for (Operation operation : Operation.values()) {
        for (Cause cause : Cause.values()) {
          gauges.add(
              gauge(
                  metric,
                  () -> figures(stats.get(), operation).failures().getOrDefault(cause, 0L),
                  OPERATION,
                  label(operation),
                  CAUSE,
                  label(cause)));
        }
      }
    } else if (reading instanceof RemoteReading.LevelReading each) {
      for (int i = 0; i < levels.size(); i++) {
        int index = i;
        gauges.add(
            gauge(
                metric,
                () -> each.value().applyAsDouble(figures(stats.get(), index)),
                LEVEL,
                levels.get(i)));
      }
    } else if (reading instanceof RemoteReading.StatsReading one) {
      gauges.add(gauge(metric, () -> one.value().applyAsDouble(stats.get())));
    } else if (reading instanceof RemoteReading.EngineReading one) {
      gauges.add(
          gauge(metric, () -> stats.get().migration().map(one.value()::applyAsDouble).orElse(0.0)));
    } else if (reading instanceof RemoteReading.EngineCauseReading) {
      for (FailureCause cause : FailureCause.values()) {
        gauges.add(gauge(metric, () -> failures(stats.get(), cause), CAUSE, cause.label()));
      }
    }
  }

  private static RemoteGauge gauge(RemoteMetric metric, DoubleSupplier value, String... tags) {
    Map<String, String> named = new LinkedHashMap<>();
    for (int i = 0; i < tags.length; i += 2) {
      named.put(tags[i], tags[i + 1]);
    }
    return new RemoteGauge(metric, named, value);
  }

  static OperationStats figures(RemoteStats stats, Operation operation) {
    return stats
        .operations()
        .getOrDefault(
            operation, new OperationStats(0, 0, 0, MigrationStats.Latency.NONE, Map.of()));
  }

  static LevelFigures figures(RemoteStats stats, int level) {
    return new LevelFigures(
        stats.levels().get(level),
        stats
            .migration()
            .map(MigrationStats::tiers)
            .filter(moves -> level < moves.size())
            .map(moves -> moves.get(level)));
  }

  private static double failures(RemoteStats stats, FailureCause cause) {
    return stats.migration().map(moves -> moves.failures().getOrDefault(cause, 0L)).orElse(0L);
  }

  /** For metrics and tables: lower-case letters and hyphens. */
  static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
