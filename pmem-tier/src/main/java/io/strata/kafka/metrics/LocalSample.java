package io.strata.kafka.metrics;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.MigrationStats.TierStats;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.moves.TierFigures;
import io.strata.kafka.tier.space.Traffic;
import io.strata.kafka.tier.spec.TierCounts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The local tiers at one moment.
 *
 * <p>Immutable, the counters excepted; safe for use by any thread.
 *
 * @param pools in the order of {@code strata.pools}; always the same ones
 * @param tiers those with pools, fastest first; always the same ones
 * @param logDirs what was read from the log directories, of segments that Strata knows
 * @param migration the engine; empty if there is none
 * @param segments what lives where
 * @param guarantees what does not hold, and what is offline
 * @param counters what the append and read paths count
 */
public record LocalSample(
    List<OfPool> pools,
    List<OfTier> tiers,
    Traffic.Counts logDirs,
    Optional<MigrationStats> migration,
    OfSegments segments,
    Guarantees guarantees,
    EventCounters counters) {

  /** Copies the lists. */
  public LocalSample {
    pools = List.copyOf(pools);
    tiers = List.copyOf(tiers);
  }

  /**
   * Takes a sample, which costs time in proportion to what has changed since the last one.
   *
   * @param migration what the engine has done
   * @param counters what the segments count into
   */
  public static LocalSample of(
      HotTier tier, Optional<MigrationStats> migration, EventCounters counters) {
    TierFigures figures = tier.figures();
    List<OfTier> tiers = new ArrayList<>();
    for (TierFigures.OfTier one : figures.tiers()) {
      int index = one.usage().tier();
      tiers.add(
          new OfTier(
              one.usage(),
              one.oldestDirtyMillis(),
              tier.traffic().of(index),
              migration
                  .map(MigrationStats::tiers)
                  .filter(moves -> index < moves.size())
                  .map(moves -> moves.get(index))));
    }
    TierCounts counts = tier.counts();
    return new LocalSample(
        tier.pools().stream().map(LocalSample::sample).toList(),
        tiers,
        tier.traffic().of(tiers.size()),
        migration,
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

  /**
   * One pool.
   *
   * @param path of its file, absolute
   * @param sizeBytes bytes that segments can use at most
   * @param usedBytes bytes in extents of segments
   * @param freeBytes bytes in no segment's extent
   * @param freeSlots segments that can still be placed, if there is space for their bytes
   * @param durability what the segments' bytes in it survive, here or in their log files
   * @param failure why nothing is stored in it any more; empty if it works
   */
  public record OfPool(
      String path,
      long sizeBytes,
      long usedBytes,
      long freeBytes,
      long freeSlots,
      Durability durability,
      Optional<String> failure) {}

  /**
   * One tier with pools.
   *
   * @param usage how full it is
   * @param oldestDirtyMillis the age of the dirty segment that has been sealed for longest; empty
   *     if there is none
   * @param traffic what has gone through it
   * @param moves what the engine has done for it; empty if there is no engine
   */
  public record OfTier(
      TierUsage usage,
      OptionalLong oldestDirtyMillis,
      Traffic.Counts traffic,
      Optional<TierStats> moves) {}

  /**
   * Counts of segments, and of what was done with their log files.
   *
   * @param hot with a slot in a pool now, spilled ones included
   * @param spilled of those, the ones whose tail is in the log file
   * @param spilling of those, the ones that Kafka appends to
   * @param refused that Kafka appends to in their log files because they got no place in a pool
   * @param placed placed in a pool since the start
   * @param placementsRefused that had no space in a pool since the start
   * @param logFileFailures operations on log files of hot segments that failed since the start
   * @param mtimeRefreshes updates of log files' modification times since the start
   */
  public record OfSegments(
      long hot,
      long spilled,
      long spilling,
      long refused,
      long placed,
      long placementsRefused,
      long logFileFailures,
      long mtimeRefreshes) {}

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
    /** When all is well. */
    static final Guarantees ALL = new Guarantees(false, List.of(), List.of(), 0, List.of());

    /** Copies the lists. */
    public Guarantees {
      unforcedLogDirectories = List.copyOf(unforcedLogDirectories);
      daxLost = List.copyOf(daxLost);
      skippedLogDirectories = List.copyOf(skippedLogDirectories);
    }
  }
}
