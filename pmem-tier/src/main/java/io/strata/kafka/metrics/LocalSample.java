package io.strata.kafka.metrics;

import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.moves.TierFigures;
import io.strata.kafka.tier.spec.TierCounts;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The local tiers at one moment, with their counters.
 *
 * <p>Immutable, the counters excepted; safe for use by any thread.
 *
 * @param pools in the order of {@code strata.pools}; always the same ones
 * @param figures what is where; always of the same tiers
 * @param counts what has gone through the tiers, and what failed
 * @param migration the engine; empty if there is none
 * @param guarantees what does not hold, and what is offline
 * @param counters what the append and read paths count
 */
public record LocalSample(
    List<OfPool> pools,
    TierFigures figures,
    TierCounts counts,
    Optional<MigrationStats> migration,
    Guarantees guarantees,
    EventCounters counters) {

  public LocalSample {
    pools = List.copyOf(pools);
  }

  /** Takes a sample, which costs time in proportion to what has changed since the last one. */
  public static LocalSample of(
      HotTier tier, Optional<MigrationStats> migration, EventCounters counters) {
    return new LocalSample(
        tier.pools().stream()
            .map(
                pool ->
                    new OfPool(
                        pool.info(),
                        pool.usage(),
                        pool.memory().failure().map(e -> String.valueOf(e.getMessage()))))
            .toList(),
        tier.figures(),
        tier.counts(),
        migration,
        new Guarantees(
            tier.spillsUnforced(),
            tier.unforcedLogDirectories(),
            tier.daxLost(),
            tier.recoveryReport().orphaned().size(),
            tier.skippedLogDirectories()),
        counters);
  }

  /** One pool, and why nothing is stored in it any more; empty if it works. */
  public record OfPool(PoolInfo info, PoolUsage usage, Optional<String> failure) {}

  /**
   * The guarantees that do not hold, and the log directories that are offline.
   *
   * @param spillsUnforced whether appends that spill are not forced, though the pools are durable
   * @param unforcedLogDirectories those with acknowledged records that are to be forced and could
   *     not be
   * @param daxLost pools that have been on DAX and are not
   * @param orphaned slots of segments whose log files were missing at the start
   * @param skippedLogDirectories those that were skipped at the start, each with the reason
   */
  public record Guarantees(
      boolean spillsUnforced,
      List<Path> unforcedLogDirectories,
      List<Path> daxLost,
      int orphaned,
      List<String> skippedLogDirectories) {

    public Guarantees {
      unforcedLogDirectories = List.copyOf(unforcedLogDirectories);
      daxLost = List.copyOf(daxLost);
      skippedLogDirectories = List.copyOf(skippedLogDirectories);
    }
  }
}
