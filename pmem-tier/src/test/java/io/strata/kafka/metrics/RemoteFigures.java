package io.strata.kafka.metrics;

import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.FailureCause;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationStats;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** Figures of a remote tier, each another number, for tests. */
public final class RemoteFigures {
  private RemoteFigures() {}

  /** Two levels, ssd and hdd, and a broker that moves segments between them. */
  public static RemoteStats some() {
    return new RemoteStats(
        Map.of(
            Operation.COPY, operation(10, Map.of(Cause.FULL, 17L)),
            Operation.FETCH, operation(20, Map.of(Cause.NOT_FOUND, 27L)),
            Operation.INDEX, operation(30, Map.of()),
            Operation.DELETE, operation(40, Map.of())),
        List.of(
            new RemoteStats.LevelStats(
                "ssd", 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010),
            new RemoteStats.LevelStats(
                "hdd", 2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008, 0, 0)),
        new RemoteStats.ScrubStats(81, 82, 83, 84, 85, 86, 88, OptionalLong.of(87)),
        91,
        Optional.of(new RemoteStats.HangingCalls("a.Manager", 3, 2, 1)),
        92,
        93,
        List.of(
            new RemoteStats.DirectoryStats("/ssd", "ssd", true, Optional.empty()),
            new RemoteStats.DirectoryStats(
                "/hdd", "hdd", false, Optional.of("copying t-0 failed"))),
        Optional.of(moves()));
  }

  /**
   * The same with one level, of a broker that moves nothing, has copied all and has not scrubbed.
   */
  public static RemoteStats quiet() {
    RemoteStats some = some();
    return new RemoteStats(
        some.operations(),
        List.of(new RemoteStats.LevelStats("ssd", 1001, 1002, 1003, 1, 0, 1006, 1007, 1008, 0, 0)),
        new RemoteStats.ScrubStats(0, 0, 0, 0, 0, 0, 0, OptionalLong.empty()),
        0,
        Optional.empty(),
        0,
        0,
        List.of(new RemoteStats.DirectoryStats("/ssd", "ssd", true, Optional.empty())),
        Optional.empty());
  }

  private static OperationStats operation(int from, Map<Cause, Long> failures) {
    return new OperationStats(from + 1, from + 2, from + 3, latency(from + 4), failures);
  }

  private static MigrationStats moves() {
    return new MigrationStats(
        List.of(
            new MigrationStats.TierStats(
                0, 101, 102, 103, 104, 105, 106, true, 107, OptionalDouble.of(2.5))),
        111,
        112,
        113,
        114,
        115,
        latency(200),
        latency(300),
        Map.of(FailureCause.NO_SPACE, 120L),
        121,
        122,
        123,
        2,
        latency(400),
        125,
        0,
        127_000_000);
  }

  /** Two calls in all; percentiles of {@code millis} and the next whole numbers. */
  public static MigrationStats.Latency latency(long millis) {
    long unit = 1_000_000;
    return new MigrationStats.Latency(
        2,
        10 * millis * unit,
        1,
        (millis + 6) * unit,
        2,
        millis * unit,
        (millis + 1) * unit,
        (millis + 2) * unit,
        (millis + 3) * unit,
        (millis + 4) * unit,
        (millis + 5) * unit);
  }
}
