package io.strata.kafka.metrics;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.metrics.LocalSample.Guarantees;
import io.strata.kafka.metrics.LocalSample.OfPool;
import io.strata.kafka.metrics.LocalSample.OfSegments;
import io.strata.kafka.metrics.LocalSample.OfTier;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.FailureCause;
import io.strata.kafka.tier.space.Traffic;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;

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
    return new LocalSample(
        List.of(
            new OfPool("/mnt/pmem0/hot.pool", 1000, 400, 600, 9, Durability.POWER, failure),
            new OfPool("/odd,name=*", 2000, 800, 1200, 19, Durability.PROCESS, Optional.empty())),
        List.of(
            new OfTier(
                new TierUsage(
                    0, "hot", 100 * MIB, 60 * MIB, 35 * MIB, 25 * MIB, 5 * MIB, 7, 8, 0, 0),
                OptionalLong.of(61_000),
                new Traffic.Counts(26, 5 * MIB, 24, 3 * MIB, 22, 21, 19, 20),
                moves.map(stats -> stats.tiers().get(0)))),
        new Traffic.Counts(32, 31, 0, 0, 0, 0, 0, 0),
        moves,
        new OfSegments(11, 12, 0, 0, 16, 13, 14, 15),
        Guarantees.ALL,
        counters);
  }

  private static MigrationStats moves(long destaged) {
    return new MigrationStats(
        List.of(
            new MigrationStats.TierStats(
                0, destaged, 102, 103, 104, 105, 106, true, 20 * MIB, OptionalDouble.of(90))),
        4,
        1,
        2,
        10.0 * MIB,
        5,
        RemoteFigures.latency(6),
        MigrationStats.Latency.NONE,
        Map.of(FailureCause.NO_SPACE, 3L),
        11,
        12,
        13,
        0,
        RemoteFigures.latency(16),
        15,
        0,
        17_000_000);
  }

  static Set<String> causes() {
    return Set.of("no-space", "io-error", "corrupt-segment", "other");
  }
}
