package io.strata.kafka.metrics;

import io.strata.kafka.metrics.RemoteReading.LevelFigures;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationStats;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What {@code strata status} asks of a broker's remote tier.
 *
 * <p>Thread safety: as its sources.
 */
public final class RemoteStatusBean implements RemoteStatusMXBean {

  private final String broker;
  private final Supplier<RemoteStats> stats;
  private final Supplier<Map<String, String>> settings;
  private final InstantSource clock;

  /**
   * Tells of {@code stats}.
   *
   * @param broker the broker's number, as configured
   * @param settings what it works by, by key
   */
  public RemoteStatusBean(
      String broker,
      Supplier<RemoteStats> stats,
      Supplier<Map<String, String>> settings,
      InstantSource clock) {
    this.broker = broker;
    this.stats = new Recent<>(stats, System::nanoTime);
    this.settings = settings;
    this.clock = clock;
  }

  /** Publishes it in the platform's MBean server, in the place of an earlier one. */
  public void publish() {
    Beans.publish(NAME, this);
  }

  @Override
  public String getVersion() {
    return Beans.version();
  }

  @Override
  public String getBroker() {
    return broker;
  }

  @Override
  public long getPid() {
    return ProcessHandle.current().pid();
  }

  @Override
  public long getTimeMillis() {
    return clock.millis();
  }

  @Override
  public List<String> getLevelNames() {
    return stats.get().levels().stream().map(LevelStats::name).toList();
  }

  @Override
  public Map<String, Map<String, Double>> getLevels() {
    RemoteStats now = stats.get();
    Map<String, Map<String, Double>> levels = new LinkedHashMap<>();
    for (int i = 0; i < now.levels().size(); i++) {
      LevelFigures figures = RemoteGauge.figures(now, i);
      LevelStats level = figures.stats();
      Map<String, Double> values = new LinkedHashMap<>();
      values.put("capacityBytes", (double) level.capacityBytes());
      values.put("usedBytes", (double) level.usedBytes());
      values.put("segments", (double) level.segments());
      values.put("directories", (double) level.directories());
      values.put("unavailableDirectories", (double) level.unavailableDirectories());
      values.put("copiedBytes", (double) level.copiedBytes());
      values.put("fetchedBytes", (double) level.fetchedBytes());
      values.put("deletedBytes", (double) level.deletedBytes());
      figures
          .moves()
          .ifPresent(
              moves -> {
                values.put("destagedBytes", (double) moves.destagedBytes());
                values.put("promotedBytes", (double) moves.promotedBytes());
                values.put("evictedBytes", (double) moves.evictedBytes());
                values.put("backlogBytes", (double) moves.backlogBytes());
              });
      levels.put(level.name(), values);
    }
    return levels;
  }

  @Override
  public Map<String, Map<String, Double>> getOperations() {
    RemoteStats now = stats.get();
    Map<String, Map<String, Double>> operations = new LinkedHashMap<>();
    for (Operation operation : Operation.values()) {
      OperationStats figures = RemoteGauge.figures(now, operation);
      Map<String, Double> values = new LinkedHashMap<>();
      values.put("count", (double) figures.count());
      values.put("bytes", (double) figures.bytes());
      values.put("running", (double) figures.running());
      values.put("p50Millis", figures.latency().p50Nanos() / 1e6);
      values.put("p99Millis", figures.latency().p99Nanos() / 1e6);
      values.put("maxMillis", figures.latency().maxNanos() / 1e6);
      operations.put(RemoteGauge.label(operation), values);
    }
    return operations;
  }

  @Override
  public Map<String, Long> getFailures() {
    RemoteStats now = stats.get();
    Map<String, Long> failures = new LinkedHashMap<>();
    for (Operation operation : Operation.values()) {
      Map<Cause, Long> causes = RemoteGauge.figures(now, operation).failures();
      for (Cause cause : Cause.values()) {
        failures.put(
            RemoteGauge.label(operation) + " " + RemoteGauge.label(cause),
            causes.getOrDefault(cause, 0L));
      }
    }
    return failures;
  }

  @Override
  public Map<String, Double> getValues() {
    RemoteStats now = stats.get();
    Map<String, Double> values = new LinkedHashMap<>();
    values.put("linkedBytes", (double) now.linkedBytes());
    values.put("stuckThreads", (double) now.stuckThreads());
    now.oldestUncopiedMillis().ifPresent(age -> values.put("oldestUncopiedMillis", (double) age));
    values.put("cacheCapacityBytes", (double) now.cache().capacityBytes());
    values.put("cacheUsedBytes", (double) now.cache().usedBytes());
    values.put("cacheHits", (double) now.cache().hits());
    values.put("cacheMisses", (double) now.cache().misses());
    values.put("cacheEvictions", (double) now.cache().evictions());
    values.put("readAheadBytes", (double) now.readAhead().bytes());
    values.put("readAheadUsedBytes", (double) now.readAhead().usedBytes());
    values.put("readAheadWastedBytes", (double) now.readAhead().wastedBytes());
    values.put("scrubRounds", (double) now.scrub().rounds());
    values.put("scrubObjects", (double) now.scrub().objects());
    values.put("scrubBytes", (double) now.scrub().bytes());
    values.put("scrubCorruptObjects", (double) now.scrub().corruptObjects());
    values.put("scrubMissingObjects", (double) now.scrub().missingObjects());
    values.put("scrubOrphansRemoved", (double) now.scrub().orphansRemoved());
    now.scrub().lastEndMillis().ifPresent(end -> values.put("scrubLastEndMillis", (double) end));
    now.migration().ifPresent(moves -> add(values, moves));
    return values;
  }

  private static void add(Map<String, Double> values, MigrationStats moves) {
    values.put("movesQueued", (double) moves.queued());
    values.put("movesInFlight", (double) moves.inFlight());
    values.put("movesDownBytesPerSecond", moves.downBytesPerSecond());
    values.put("movesUpBytesPerSecond", moves.upBytesPerSecond());
    values.put("movesBackingOff", (double) moves.backingOff());
    values.put(
        "movesFailed",
        (double) moves.failures().values().stream().mapToLong(Long::longValue).sum());
  }

  @Override
  public Map<String, String> getSettings() {
    return settings.get();
  }
}
