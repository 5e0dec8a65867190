package io.strata.kafka.metrics;

import io.strata.kafka.migration.EngineMeters;
import io.strata.kafka.migration.EngineMeters.TierMeter;
import io.strata.kafka.migration.LatencyWindow;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.BackOffs.FailureCause;
import io.strata.kafka.migration.plan.Plan.TierPlan;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.LevelMeter;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationMeter;
import io.strata.kafka.migration.remote.RemoteStats.ScrubMeter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** Figures of a remote tier, each another number, for tests. */
public final class RemoteFigures {
  private RemoteFigures() {}

  /** Two levels, ssd and hdd, and a broker that moves segments between them. */
  public static RemoteStats some() {
    ScrubMeter scrub = new ScrubMeter();
    scrub.rounds().add(81);
    scrub.objects().add(82);
    scrub.bytes().add(83);
    scrub.corruptObjects().add(84);
    scrub.missingObjects().add(85);
    scrub.orphansRemoved().add(86);
    scrub.orphansLeft().add(88);
    scrub.lastEndMillis().set(OptionalLong.of(87));
    return new RemoteStats(
        Map.of(
            Operation.COPY, operation(10, Map.of(Cause.FULL, 17L)),
            Operation.FETCH, operation(20, Map.of(Cause.NOT_FOUND, 27L)),
            Operation.INDEX, operation(30, Map.of()),
            Operation.DELETE, operation(40, Map.of())),
        List.of(
            new LevelStats(
                "ssd", 1001, 1002, 1003, 1004, 1005, 1009, 1010, level(1006, 1007, 1008)),
            new LevelStats("hdd", 2001, 2002, 2003, 2004, 2005, 0, 0, level(2006, 2007, 2008))),
        scrub,
        91,
        Optional.of(new RemoteStats.HangingCalls("a.Manager", 3, 2, 1)),
        92,
        93,
        List.of(
            new RemoteStats.DirectoryStats("/ssd", "ssd", true, Optional.empty()),
            new RemoteStats.DirectoryStats(
                "/hdd", "hdd", false, Optional.of("copying t-0 failed"))),
        Duration.ofMillis(500),
        Optional.of(moves()));
  }

  /**
   * The same with one level, of a broker that moves nothing, has copied all and has not scrubbed.
   */
  public static RemoteStats quiet() {
    return quiet(some().operations(), Duration.ofMillis(500));
  }

  private static RemoteStats quiet(Map<Operation, OperationMeter> operations, Duration patience) {
    return new RemoteStats(
        operations,
        List.of(new LevelStats("ssd", 1001, 1002, 1003, 1, 0, 0, 0, level(1006, 1007, 1008))),
        new ScrubMeter(),
        0,
        Optional.empty(),
        0,
        0,
        List.of(new RemoteStats.DirectoryStats("/ssd", "ssd", true, Optional.empty())),
        patience,
        Optional.empty());
  }

  /** The quiet one with so many fetches, one of twenty of which takes that long. */
  public static RemoteStats fetching(int count, Duration slow, Duration patience) {
    OperationMeter fetches = new OperationMeter(() -> 0);
    for (int i = 0; i < count; i++) {
      fetches.latency().record(i % 10 == 0 ? slow.toNanos() : 1);
    }
    return quiet(Map.of(Operation.FETCH, fetches), patience);
  }

  private static OperationMeter operation(int from, Map<Cause, Long> failures) {
    OperationMeter meter = new OperationMeter(() -> 0);
    meter.count().add(from + 1);
    meter.bytes().add(from + 2);
    meter.running().set(from + 3);
    record(meter.latency(), from + 4);
    meter.failures().putAll(failures);
    return meter;
  }

  private static LevelMeter level(long copied, long fetched, long deleted) {
    LevelMeter meter = new LevelMeter();
    meter.copied().add(copied);
    meter.fetched().add(fetched);
    meter.deleted().add(deleted);
    return meter;
  }

  private static MigrationStats moves() {
    EngineMeters meters = new EngineMeters(1, () -> 0);
    TierMeter tier = meters.tiers().get(0);
    LocalFigures.add(tier.destaged(), 102, 101);
    LocalFigures.add(tier.promoted(), 104, 103);
    LocalFigures.add(tier.evicted(), 106, 105);
    tier.down().add(114);
    meters.up().add(115);
    record(meters.destages(), 200);
    record(meters.promotions(), 300);
    meters.failures().put(FailureCause.NO_SPACE, 120L);
    meters.cancelled().add(121);
    meters.refused().add(122);
    LatencyWindow rounds = new LatencyWindow(() -> 0);
    record(rounds, 400);
    return new MigrationStats(
        meters,
        List.of(new TierPlan(true, 285)),
        111,
        112,
        113,
        123,
        2,
        rounds,
        new MigrationStats.RoundCost(125, 0, 127_000_000));
  }

  /**
   * Records 1000 calls: their percentiles are {@code millis} and the next whole numbers, and the
   * longest took {@code millis + 6}.
   */
  static void record(LatencyWindow calls, long millis) {
    int[] numbers = {500, 250, 200, 30, 10, 9, 1};
    for (int more = 0; more < numbers.length; more++) {
      for (int i = 0; i < numbers[more]; i++) {
        calls.record(TimeUnit.MILLISECONDS.toNanos(millis + more));
      }
    }
  }
}
