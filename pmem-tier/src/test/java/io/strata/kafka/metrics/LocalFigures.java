package io.strata.kafka.metrics;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.metrics.LocalSample.Guarantees;
import io.strata.kafka.metrics.LocalSample.OfPool;
import io.strata.kafka.migration.EngineMeters;
import io.strata.kafka.migration.EngineMeters.Count;
import io.strata.kafka.migration.EngineMeters.TierMeter;
import io.strata.kafka.migration.LatencyWindow;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.BackOffs.FailureCause;
import io.strata.kafka.migration.plan.Plan.TierPlan;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.tier.moves.TierFigures;
import io.strata.kafka.tier.spec.TierCounts;
import io.strata.kafka.tier.spec.TierEvents;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/** Figures of local tiers, each another number, for tests. */
public final class LocalFigures {
  private static final long MIB = 1 << 20;

  private LocalFigures() {}

  /** Two pools, one tier, and an engine that has copied down so many bytes. */
  public static LocalSample some(EventCounters counters, long destaged) {
    MigrationStats moves = moves(destaged);
    return with(counters, Optional.of(moves), Optional.empty());
  }

  /** A tier that nothing is wrong with, and no engine. */
  public static LocalSample quiet(EventCounters counters) {
    return with(counters, Optional.empty(), Optional.empty());
  }

  /** A tier with a pool that failed. */
  public static LocalSample failed(EventCounters counters) {
    return with(counters, Optional.empty(), Optional.of("the device is gone"));
  }

  private static LocalSample with(
      EventCounters counters, Optional<MigrationStats> moves, Optional<String> failure) {
    TierCounts counts = new TierCounts(TierEvents.NONE, 1, pool -> 0);
    counts.placements().add(16);
    counts.placementsRefused().add(13);
    counts.logFileFailures().add(14);
    counts.mtimeRefreshes().add(15);
    TierCounts.OfTier hot = counts.tiers().get(0);
    add(hot.reads(), 26, 5 * MIB);
    add(hot.spilled(), 24, 3 * MIB);
    add(hot.evicted(), 22, 21);
    add(hot.pressure(), 19, 20);
    add(counts.tiers().get(1).reads(), 32, 31);
    return new LocalSample(
        List.of(
            pool("/mnt/pmem0/hot.pool", 1000, Durability.POWER, failure),
            pool("/odd,name=*", 2000, Durability.PROCESS, Optional.empty())),
        new TierFigures(
            List.of(
                new TierFigures.OfTier(
                    new TierUsage(
                        0, "hot", 100 * MIB, 60 * MIB, 35 * MIB, 25 * MIB, 5 * MIB, 7, 8, 0, 0),
                    OptionalLong.of(61_000))),
            11,
            12,
            0,
            0),
        counts,
        moves,
        new Guarantees(false, List.of(), List.of(), 0, List.of()),
        counters);
  }

  private static OfPool pool(
      String path, int bytes, Durability durability, Optional<String> failure) {
    return new OfPool(
        new PoolInfo(
            Path.of(path),
            new UUID(0, bytes),
            MemoryType.MAPPED,
            durability,
            PoolOwner.of(1, "c"),
            3L * bytes,
            2L * bytes,
            bytes,
            bytes / 10,
            0,
            1),
        new PoolUsage(bytes * 4 / 10, bytes * 6 / 10, 1, bytes / 100 - 1),
        failure);
  }

  static void add(Count count, long number, long bytes) {
    count.number().add(number);
    count.bytes().add(bytes);
  }

  private static MigrationStats moves(long destaged) {
    EngineMeters meters = new EngineMeters(1, () -> 0);
    TierMeter tier = meters.tiers().get(0);
    add(tier.destaged(), 102, destaged);
    add(tier.promoted(), 104, 103);
    add(tier.evicted(), 106, 105);
    tier.down().add(10 * MIB);
    meters.up().add(5);
    RemoteFigures.record(meters.destages(), 6);
    meters.failures().put(FailureCause.NO_SPACE, 3L);
    meters.cancelled().add(11);
    meters.refused().add(12);
    LatencyWindow rounds = new LatencyWindow(() -> 0);
    RemoteFigures.record(rounds, 16);
    return new MigrationStats(
        meters,
        List.of(new TierPlan(true, 900 * MIB)),
        4,
        1,
        2,
        13,
        0,
        rounds,
        new MigrationStats.RoundCost(15, 0, 17_000_000));
  }

  static Set<String> causes() {
    return Set.of("no-space", "io-error", "corrupt-segment", "other");
  }
}
