package io.strata.kafka.metrics;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.metrics.TierSource.HomeSample;
import io.strata.kafka.metrics.TierSource.TierSample;
import io.strata.kafka.migration.FailureCause;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.MigrationStats.TierStats;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What {@code strata status} asks of a broker.
 *
 * <p>Thread safety: as its sources.
 */
public final class StatusBean implements StatusMXBean {

  private final String broker;
  private final TierSource source;
  private final Supplier<Map<String, String>> settings;
  private final InstantSource clock;

  /**
   * Tells of {@code source}.
   *
   * @param broker the broker's number, as configured
   * @param settings what the engine works by, by key
   */
  public StatusBean(
      String broker,
      TierSource source,
      Supplier<Map<String, String>> settings,
      InstantSource clock) {
    this.broker = broker;
    this.source = new RecentSource(source, System::nanoTime);
    this.settings = settings;
    this.clock = clock;
  }

  /** Publishes it in the platform's MBean server, for as long as the process lives. */
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
  public List<String> getTierNames() {
    List<String> names = new ArrayList<>();
    source.tiers().forEach(tier -> names.add(tier.name()));
    names.add(SegmentView.LOG_DIRS);
    return names;
  }

  @Override
  public Map<String, Map<String, Double>> getTiers() {
    Map<String, Map<String, Double>> tiers = new LinkedHashMap<>();
    List<TierSample> samples = source.tiers();
    List<TierStats> moves = source.migration().map(MigrationStats::tiers).orElse(List.of());
    for (int i = 0; i < samples.size(); i++) {
      Map<String, Double> values = values(samples.get(i));
      if (i < moves.size()) {
        add(values, moves.get(i));
      }
      tiers.put(samples.get(i).name(), values);
    }
    HomeSample home = source.home();
    Map<String, Double> values = new LinkedHashMap<>();
    values.put("readBytes", (double) home.readBytes());
    values.put("reads", (double) home.reads());
    tiers.put(SegmentView.LOG_DIRS, values);
    return tiers;
  }

  private static Map<String, Double> values(TierSample tier) {
    TierUsage usage = tier.usage();
    Map<String, Double> values = new LinkedHashMap<>();
    values.put("capacityBytes", (double) usage.capacityBytes());
    values.put("usedBytes", (double) usage.usedBytes());
    values.put("dirtyBytes", (double) usage.dirtyBytes());
    values.put("cleanBytes", (double) usage.cleanBytes());
    values.put("activeBytes", (double) usage.activeBytes());
    values.put("reserveBytes", (double) usage.reserveBytes());
    values.put("segments", (double) usage.segments());
    values.put("freeSlots", (double) usage.freeSlots());
    values.put("evictedBytes", (double) tier.evictedBytes());
    values.put("evictedSegments", (double) tier.evictedSegments());
    values.put("pressureBytes", (double) tier.pressureBytes());
    values.put("spilledBytes", (double) tier.spilledBytes());
    values.put("spilledSegments", (double) tier.spilledSegments());
    values.put("readBytes", (double) tier.readBytes());
    values.put("reads", (double) tier.reads());
    return values;
  }

  private static void add(Map<String, Double> values, TierStats moves) {
    values.put("destagedBytes", (double) moves.destagedBytes());
    values.put("destagedSegments", (double) moves.destagedSegments());
    values.put("promotedBytes", (double) moves.promotedBytes());
    values.put("promotedSegments", (double) moves.promotedSegments());
    values.put("draining", moves.draining() ? 1.0 : 0.0);
    values.put("backlogBytes", (double) moves.backlogBytes());
    moves.backlogSeconds().ifPresent(seconds -> values.put("backlogSeconds", seconds));
  }

  @Override
  public Map<String, Double> getMigration() {
    return source.migration().map(StatusBean::values).orElse(Map.of());
  }

  private static Map<String, Double> values(MigrationStats stats) {
    Map<String, Double> values = new LinkedHashMap<>();
    values.put("queued", (double) stats.queued());
    values.put("inFlight", (double) stats.inFlight());
    values.put("threads", (double) stats.threads());
    values.put("downBytesPerSecond", stats.downBytesPerSecond());
    values.put("upBytesPerSecond", stats.upBytesPerSecond());
    values.put("destageP50Millis", stats.destageLatency().p50Nanos() / 1e6);
    values.put("destageP99Millis", stats.destageLatency().p99Nanos() / 1e6);
    values.put("destageMaxMillis", stats.destageLatency().maxNanos() / 1e6);
    values.put("promoteP50Millis", stats.promoteLatency().p50Nanos() / 1e6);
    values.put("promoteP99Millis", stats.promoteLatency().p99Nanos() / 1e6);
    values.put("promoteMaxMillis", stats.promoteLatency().maxNanos() / 1e6);
    values.put("cancelled", (double) stats.cancelled());
    values.put("refusedMoves", (double) stats.refusedMoves());
    values.put("backingOff", (double) stats.backingOff());
    values.put("rounds", (double) stats.rounds());
    values.put("failedRounds", (double) stats.failedRounds());
    values.put("lastRoundMicros", stats.lastRoundNanos() / 1e3);
    return values;
  }

  @Override
  public Map<String, Long> getFailures() {
    Map<String, Long> failures = new LinkedHashMap<>();
    source
        .migration()
        .ifPresent(
            stats -> {
              for (FailureCause cause : FailureCause.values()) {
                failures.put(cause.label(), stats.failures().getOrDefault(cause, 0L));
              }
            });
    return failures;
  }

  @Override
  public Map<String, String> getSettings() {
    return settings.get();
  }
}
