package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.EngineEvents;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.moves.TierState;
import io.strata.kafka.tier.moves.TierStateTest;
import io.strata.kafka.tier.spec.TierEvents;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The processor time of a planning round of a broker with 100,000 segments. */
final class IdleRoundCostTest {

  private static final int SEGMENTS = 100_000;
  private static final int CHANGED = 1000;
  private static final int ROUNDS = 200;
  private static final long MOST_NANOS = 5_000_000;

  @TempDir private Path directory;

  /** Processor time of the planner's thread, which the load of the machine hardly changes. */
  @Test
  @Tag("long")
  void aRoundCostsWhatHasChanged() throws Exception {
    try (TierFixture fixture = new TierFixture(directory).pool("hot.pool", 16 << 20)) {
      SegmentRegistry registry = new SegmentRegistry();
      PoolSet pools = PoolSet.open(fixture.spec(), TierEvents.NONE, TierParts.STANDARD.pools());
      TierState state =
          new TierState(
              pools, registry, name -> true, false, (segment, whole) -> {}, InstantSource.system());
      List<TieredSegment> segments = new ArrayList<>();
      for (int i = 0; i < SEGMENTS; i++) {
        segments.add(TierStateTest.inLogFile(registry, i));
      }
      MigrationSettings settings =
          new MigrationSettings(
              MigrationSettings.Mode.EAGER,
              List.of(0.5),
              MigrationSettings.HYSTERESIS,
              false,
              2,
              0,
              0,
              Duration.ofMillis(10),
              "newest",
              Map.of(),
              List.of());
      try (MigrationEngine engine =
          new MigrationEngine(
              new Kept(state),
              settings,
              PolicyRegistry.builtIn(),
              List.of(),
              EngineEvents.NONE,
              EngineEnvironment.system())) {
        engine.start();
        Awaitility.await().until(() -> engine.stats().rounds().count() > 3);
        long idle = median(engine, List.of());
        long busy = median(engine, segments.subList(0, CHANGED));
        System.out.printf(
            Locale.ROOT,
            "%,d segments: %,d us of a processor in a round without changes, %,d us with %,d%n",
            SEGMENTS,
            idle / 1000,
            busy / 1000,
            CHANGED);
        assertThat(idle).as("nanoseconds of an idle round").isLessThan(MOST_NANOS);
        assertThat(busy).as("with 1%% of the segments changed").isLessThan(MOST_NANOS);
      }
      pools.close();
    }
  }

  private static long median(MigrationEngine engine, List<TieredSegment> changing) {
    List<Long> nanos = new ArrayList<>();
    for (int i = 0; i < ROUNDS; i++) {
      long before = engine.stats().rounds().count();
      changing.forEach(TieredSegment::changed);
      Awaitility.await()
          .pollInterval(Duration.ofMillis(1))
          .until(() -> engine.stats().rounds().count() > before);
      nanos.add(engine.stats().cost().lastCpuNanos());
    }
    Collections.sort(nanos);
    return nanos.get(ROUNDS / 2);
  }

  /** What a tier shows of segments that stay where they are. */
  private record Kept(TierState kept) implements TieredSegments {
    @Override
    public State state() {
      return kept.now();
    }

    @Override
    public List<TierUsage> usages() {
      return kept.usagesNow();
    }

    @Override
    public MoveResult destage(long id, int toTier, MoveControl control) {
      return MoveResult.cancelled("not here");
    }

    @Override
    public MoveResult evict(long id) {
      return MoveResult.cancelled("not here");
    }

    @Override
    public MoveResult promote(long id, int toTier, MoveControl control) {
      return MoveResult.cancelled("not here");
    }

    @Override
    public void evictionOrder(List<Long> ids) {}
  }
}
