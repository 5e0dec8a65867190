package io.strata.kafka.broker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
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

/**
 * A {@link HotTier} as the metrics see it. Thread safety: all methods may be called by any thread.
 */
public final class HotTierSource implements TierSource {

  private static final long FRESH_NANOS = 200_000_000;

  private final HotTier tier;
  private final Supplier<Optional<MigrationStats>> migration;

  @GuardedBy("this")
  private List<TierUsage> usages = List.of();

  @GuardedBy("this")
  private long takenNanos;

  /**
   * Samples of {@code tier}.
   *
   * @param migration what its engine has done
   */
  public HotTierSource(HotTier tier, Supplier<Optional<MigrationStats>> migration) {
    this.tier = tier;
    this.migration = migration;
  }

  @Override
  public List<TierSample> tiers() {
    List<TierSample> samples = new ArrayList<>();
    for (TierUsage usage : usages()) {
      Traffic.Counts counts = tier.traffic().of(usage.tier());
      samples.add(
          new TierSample(
              usage.name(),
              usage,
              counts.pressureBytes(),
              counts.pressureSegments(),
              counts.spilledBytes(),
              counts.spilledSegments(),
              counts.readBytes(),
              counts.reads()));
    }
    return samples;
  }

  /** Counting is a walk over all segments: once for the many metrics that are read together. */
  private synchronized List<TierUsage> usages() {
    long now = System.nanoTime();
    if (usages.isEmpty() || now - takenNanos > FRESH_NANOS) {
      usages = tier.tieredSegments().state().tiers();
      takenNanos = now;
    }
    return usages;
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
