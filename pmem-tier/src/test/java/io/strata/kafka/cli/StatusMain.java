package io.strata.kafka.cli;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.metrics.RemoteFigures;
import io.strata.kafka.metrics.RemoteStatusBean;
import io.strata.kafka.metrics.StatusBean;
import io.strata.kafka.metrics.TierSource;
import io.strata.kafka.migration.FailureCause;
import io.strata.kafka.migration.MigrationStats;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** A JVM that has a broker's status to tell; ends when its standard input does. */
public final class StatusMain implements TierSource {
  private static final long MIB = 1 << 20;

  private final long start = System.nanoTime();

  private StatusMain() {}

  /** Publishes, says so, and waits. */
  public static void main(String[] args) throws IOException {
    String what = args.length == 0 ? "local" : args[0];
    if (what.equals("remote") || what.equals("both")) {
      new RemoteStatusBean(
              "8",
              RemoteFigures::some,
              () -> Map.of("strata.remote.rate.copy", "0"),
              InstantSource.system())
          .publish();
    }
    if (what.equals("local") || what.equals("both")) {
      new StatusBean(
              "7",
              new StatusMain(),
              () -> Map.of("strata.migration.mode", "eager", "strata.migration.threads", "2"),
              InstantSource.system())
          .publish();
    }
    System.out.println("ready");
    int unused = System.in.read();
  }

  @Override
  public List<PoolSample> pools() {
    return List.of();
  }

  @Override
  public List<TierSample> tiers() {
    return List.of(
        new TierSample(
            "pmem",
            new TierUsage(0, "pmem", 100 * MIB, 60 * MIB, 35 * MIB, 25 * MIB, 5 * MIB, 7, 8, 0, 0),
            21,
            22,
            20,
            3 * MIB,
            24,
            5 * MIB,
            26));
  }

  @Override
  public HomeSample home() {
    return new HomeSample(31, 32);
  }

  /** Copies down 10 MiB each second. */
  @Override
  public Optional<MigrationStats> migration() {
    long moved = (long) ((System.nanoTime() - start) / 1e9 * 10 * MIB);
    return Optional.of(
        new MigrationStats(
            List.of(
                new MigrationStats.TierStats(
                    0, moved, 5, 0, 0, 105, 106, true, 20 * MIB, OptionalDouble.of(90))),
            4,
            1,
            2,
            10.0 * MIB,
            0,
            new MigrationStats.Latency(1, 6_000_000, 7_000_000, 8_000_000, 9_000_000),
            MigrationStats.Latency.NONE,
            Map.of(FailureCause.NO_SPACE, 3L),
            11,
            12,
            13,
            14,
            15,
            16_000,
            17_000,
            18_000));
  }

  @Override
  public long hotSegments() {
    return 0;
  }

  @Override
  public long spilledSegments() {
    return 0;
  }

  @Override
  public long placementsRefused() {
    return 0;
  }

  @Override
  public long homeFailures() {
    return 0;
  }

  @Override
  public long mtimeRefreshes() {
    return 0;
  }
}
