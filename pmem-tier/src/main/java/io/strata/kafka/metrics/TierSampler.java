package io.strata.kafka.metrics;

import io.strata.kafka.metrics.LocalSample.Guarantees;
import io.strata.kafka.metrics.LocalSample.OfPool;
import io.strata.kafka.metrics.LocalSample.OfSegments;
import io.strata.kafka.metrics.LocalSample.OfTier;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.TierCounts;
import io.strata.kafka.tier.TierFigures;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Takes samples of a {@link HotTier}; each costs time in proportion to the number of segments.
 *
 * <p>Thread safety: immutable, as its sources.
 */
public final class TierSampler implements Supplier<LocalSample> {

  private final HotTier tier;
  private final Supplier<Optional<MigrationStats>> migration;
  private final EventCounters counters;

  /**
   * Samples of {@code tier}.
   *
   * @param migration what its engine has done
   * @param counters what its segments count into
   */
  public TierSampler(
      HotTier tier, Supplier<Optional<MigrationStats>> migration, EventCounters counters) {
    this.tier = tier;
    this.migration = migration;
    this.counters = counters;
  }

  @Override
  public LocalSample get() {
    TierFigures figures = tier.figures();
    Optional<MigrationStats> stats = migration.get();
    List<OfTier> tiers = new ArrayList<>();
    for (TierFigures.OfTier one : figures.tiers()) {
      int index = one.usage().tier();
      tiers.add(
          new OfTier(
              one.usage(),
              one.oldestDirtyMillis(),
              tier.traffic().of(index),
              stats
                  .map(MigrationStats::tiers)
                  .filter(moves -> index < moves.size())
                  .map(moves -> moves.get(index))));
    }
    TierCounts counts = tier.counts();
    return new LocalSample(
        tier.pools().stream().map(TierSampler::sample).toList(),
        tiers,
        tier.traffic().of(tiers.size()),
        stats,
        new OfSegments(
            figures.hot(),
            figures.spilled(),
            figures.spilling(),
            figures.refused(),
            counts.placements(),
            counts.placementsRefused(),
            counts.logFileFailures(),
            counts.mtimeRefreshes()),
        new Guarantees(
            tier.spillsUnforced(),
            tier.unforcedLogDirectories(),
            tier.daxLost(),
            tier.recoveryReport().orphaned().size(),
            tier.skippedLogDirectories()),
        counters);
  }

  private static OfPool sample(Pool pool) {
    PoolInfo info = pool.info();
    PoolUsage usage = pool.usage();
    return new OfPool(
        info.path().toString(),
        info.dataSize(),
        usage.usedBytes(),
        usage.freeBytes(),
        usage.freeSlots(),
        info.durability(),
        pool.memory().failure().map(failure -> String.valueOf(failure.getMessage())));
  }
}
