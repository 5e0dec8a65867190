package io.strata.kafka.broker;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.config.TierConfig;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.tier.HotTier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** A {@link HotTier} as the metrics see it. Thread safety: immutable. */
public final class HotTierSource implements TierSource {

  private final HotTier tier;
  private final List<TierConfig> tiers;
  private final EventCounters counters;
  private final Supplier<Optional<MigrationStats>> migration;

  /**
   * Samples of {@code tier}.
   *
   * @param tiers the tiers as configured, fastest first
   * @param counters what the segments of {@code tier} tell
   * @param migration what its engine has done
   */
  public HotTierSource(
      HotTier tier,
      List<TierConfig> tiers,
      EventCounters counters,
      Supplier<Optional<MigrationStats>> migration) {
    this.tier = tier;
    this.tiers = List.copyOf(tiers);
    this.counters = counters;
    this.migration = migration;
  }

  @Override
  public List<TierSample> tiers() {
    List<TierSample> samples = new ArrayList<>();
    for (int i = 0; i < tiers.size(); i++) {
      samples.add(sample(i, tiers.get(i)));
    }
    return samples;
  }

  /** Spills and reads are counted for all tiers together: they are shown as the first one's. */
  private TierSample sample(int number, TierConfig config) {
    boolean first = number == 0;
    return new TierSample(
        config.name(),
        usage(number, config),
        0,
        0,
        first ? counters.spilledBytes() : 0,
        first ? counters.spills() : 0,
        first ? counters.readBytes() - counters.homeReadBytes() : 0,
        first ? counters.reads() : 0);
  }

  private TierUsage usage(int number, TierConfig config) {
    Set<String> files = config.pools().stream().map(Path::toString).collect(Collectors.toSet());
    long capacity = 0;
    long used = 0;
    int segments = 0;
    int freeSlots = 0;
    for (Pool pool : tier.pools()) {
      if (files.contains(pool.info().path().toString())) {
        PoolUsage usage = pool.usage();
        capacity += pool.info().dataSize();
        used += usage.usedBytes();
        segments += usage.liveSlots();
        freeSlots += usage.freeSlots();
      }
    }
    long bounded = Math.min(used, capacity);
    return new TierUsage(
        number, config.name(), capacity, bounded, bounded, 0, 0, segments, freeSlots, 0, 0);
  }

  @Override
  public HomeSample home() {
    return new HomeSample(counters.homeReadBytes(), 0);
  }

  @Override
  public Optional<MigrationStats> migration() {
    return migration.get();
  }

  @Override
  public List<PoolSample> pools() {
    return tier.pools().stream().map(HotTierSource::sample).toList();
  }

  private static PoolSample sample(Pool pool) {
    PoolInfo info = pool.info();
    PoolUsage usage = pool.usage();
    return new PoolSample(
        info.path().toString(),
        info.dataSize(),
        usage.usedBytes(),
        usage.freeBytes(),
        usage.freeSlots(),
        info.durability());
  }

  @Override
  public long hotSegments() {
    return tier.hotSegments();
  }

  @Override
  public long spilledSegments() {
    return tier.spilledSegments();
  }

  @Override
  public long placementsRefused() {
    return tier.counts().placementsRefused();
  }

  @Override
  public long homeFailures() {
    return tier.counts().homeFailures();
  }

  @Override
  public long mtimeRefreshes() {
    return tier.counts().mtimeRefreshes();
  }
}
