package io.strata.kafka.broker;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.tier.HotTier;
import java.util.List;

/** A {@link HotTier} as the metrics see it. Thread safety: immutable. */
public final class HotTierSource implements TierSource {

  private final HotTier tier;

  /** Samples of {@code tier}. */
  public HotTierSource(HotTier tier) {
    this.tier = tier;
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
