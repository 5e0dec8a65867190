package io.strata.kafka.metrics;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.Traffic;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** A {@link HotTier} as the metrics see it. Thread safety: immutable, as its sources. */
public final class HotTierSource implements TierSource {

  private final HotTier tier;
  private final Supplier<Optional<MigrationStats>> migration;

  /**
   * Samples of {@code tier}.
   *
   * @param migration what its engine has done
   */
  public HotTierSource(HotTier tier, Supplier<Optional<MigrationStats>> migration) {
    this.tier = tier;
    this.migration = migration;
  }

  /** Walks over all segments: {@link RecentSource} asks a few times a second at most. */
  @Override
  public List<TierSample> tiers() {
    List<TierSample> samples = new ArrayList<>();
    for (TierUsage usage : tier.tieredSegments().state().tiers()) {
      Traffic.Counts counts = tier.traffic().of(usage.tier());
      samples.add(
          new TierSample(
              usage.name(),
              usage,
              counts.evictedBytes(),
              counts.evictedSegments(),
              counts.pressureBytes(),
              counts.spilledBytes(),
              counts.spilledSegments(),
              counts.readBytes(),
              counts.reads()));
    }
    return samples;
  }

  @Override
  public HomeSample home() {
    Traffic.Counts counts = tier.traffic().of(tier.tierNames().size());
    return new HomeSample(counts.readBytes(), counts.reads());
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
