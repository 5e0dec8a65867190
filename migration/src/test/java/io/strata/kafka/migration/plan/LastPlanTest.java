package io.strata.kafka.migration.plan;

import static io.strata.kafka.migration.FakeTiers.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.MigrationPolicyProvider;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.EngineEvents;
import io.strata.kafka.migration.FakeTiers;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.Settings;
import io.strata.kafka.migration.plan.BackOffs.FailureCause;
import io.strata.kafka.migration.plan.Plan.LastPlan;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** When a round plans, and what it costs when it does not. */
final class LastPlanTest {

  private static final int SEGMENTS = 1000;

  private final FakeTiers tiers = new FakeTiers(4L * SEGMENTS * MIB);
  private final AtomicLong nanos = new AtomicLong();
  private final BackOffs backOffs = new BackOffs(nanos::get, new Random(1));
  private LastPlan last = planned();

  private void fill(int count) {
    for (int i = 0; i < count; i++) {
      tiers.add("t", 0, i, 0, MIB, i, false);
    }
  }

  /** A plan that has found nothing to do. */
  private LastPlan planned() {
    return new LastPlan(
        Settings.of(0.5).value(), nanos.get(), tiers.state(), List.of(Plan.TierPlan.IDLE), 0);
  }

  private boolean isDue() {
    return last.isOutdated(tiers, backOffs, nanos.get());
  }

  @Test
  void aPlanWithMovesIsFollowedByAnother() {
    fill(SEGMENTS);
    last = planned();
    assertThat(isDue()).isFalse();
    LastPlan moves =
        new LastPlan(last.by(), last.nanos(), last.state(), List.of(Plan.TierPlan.IDLE), 1);
    assertThat(moves.isOutdated(tiers, backOffs, nanos.get())).isTrue();
  }

  @Test
  void newSegmentsAreNotPlannedForUntilTheirTierIsAboveItsMark() {
    fill(SEGMENTS);
    last = planned();
    fill(SEGMENTS);
    assertThat(isDue()).as("half full").isFalse();
    fill(1);
    assertThat(isDue()).as("above the mark").isTrue();
    last = planned();
    assertThat(isDue()).as("above the mark, and just as the last plan found it").isFalse();
  }

  @Test
  void aPlanIsMadeFromTimeToTimeWhateverHappens() {
    fill(SEGMENTS);
    last = planned();
    nanos.set(SEGMENTS * LastPlan.PAUSE_NANOS_PER_SEGMENT - 1);
    assertThat(isDue()).isFalse();
    nanos.incrementAndGet();
    assertThat(isDue()).isTrue();
  }

  @Test
  void whatWaitsAfterAFailureIsPlannedWhenTheWaitIsOver() {
    fill(100 * SEGMENTS);
    BackOffs.Verdict verdict = backOffs.failed(1, FailureCause.IO_ERROR);
    last = planned();
    nanos.set(verdict.retryNanos() - 1);
    assertThat(isDue()).isFalse();
    nanos.set(verdict.retryNanos());
    assertThat(isDue()).isTrue();
  }

  @Test
  void anIdleRoundAsksForNoSegment() throws Exception {
    fill(SEGMENTS);
    AtomicInteger asked = new AtomicInteger();
    TieredSegments counted = new Counted(tiers, asked);
    try (MigrationEngine engine = engine(counted, Settings.of(0.5).value(), withoutTime())) {
      engine.start();
      await().until(() -> engine.stats().rounds().count() > 20);
      assertThat(asked).as("looks at all segments").hasValue(1);
      fill(SEGMENTS + 1);
      await().until(() -> engine.stats().meters().tiers().get(0).destaged().number().sum() > 0);
    }
  }

  @Test
  void roundsPlanWhileAMoveIsUnderWay() {
    fill(1);
    CountDownLatch end = new CountDownLatch(1);
    tiers.hook((kind, id, toTier) -> end.await());
    AtomicInteger asked = new AtomicInteger();
    try (MigrationEngine engine =
        engine(new Counted(tiers, asked), Settings.of(0).value(), withoutTime())) {
      engine.start();
      await().until(() -> asked.get() > 5);
      end.countDown();
      await().until(() -> tiers.state().tiers().get(0).dirtyBytes() == 0);
    }
  }

  @Test
  void noRoundPlansBeforeSegmentsMayMove() {
    fill(1);
    tiers.mayMove(false);
    List<Long> order = List.of(7L);
    tiers.evictionOrder(order);
    try (MigrationEngine engine = engine(tiers, Settings.of(0).value(), withoutTime())) {
      engine.start();
      await().until(() -> engine.stats().rounds().count() > 5);
      assertThat(tiers.made()).isZero();
      assertThat(tiers.order()).isEqualTo(order);
      tiers.mayMove(true);
      await().until(() -> tiers.state().tiers().get(0).dirtyBytes() == 0);
    }
  }

  @Test
  void newSettingsArePlannedByThoughTheirFirstPlanFails() {
    fill(SEGMENTS);
    AtomicInteger plans = new AtomicInteger();
    int failing = 2;
    MigrationPolicyProvider failsOnce =
        new MigrationPolicyProvider() {
          @Override
          public String name() {
            return "custom";
          }

          @Override
          public MigrationPolicy create(Map<String, String> parameters) {
            return snapshot -> {
              if (plans.incrementAndGet() == failing) {
                throw new IllegalStateException("once");
              }
              return List.of();
            };
          }
        };
    MigrationSettings settings = Settings.of(0.5).policy("custom", Map.of()).value();
    try (MigrationEngine engine =
        new MigrationEngine(
            tiers,
            settings,
            new PolicyRegistry(List.of(failsOnce)),
            List.of(),
            EngineEvents.NONE,
            withoutTime())) {
      engine.start();
      await().until(() -> engine.stats().rounds().count() > 0);
      engine.reconfigure(settings);
      await().until(() -> plans.get() > failing);
    }
  }

  /** A plan of a broker with many segments takes long, and the next one is long in coming. */
  @Test
  void aDrainWaitsForNoSecondPlan() {
    fill(SEGMENTS);
    AtomicInteger asked = new AtomicInteger();
    MigrationSettings settings = Settings.of(0.1).interval(Duration.ofMinutes(1)).value();
    try (MigrationEngine engine =
        engine(new Counted(tiers, asked), settings, EngineEnvironment.system())) {
      engine.start();
      long low = SEGMENTS * MIB / 5;
      await().until(() -> tiers.state().tiers().get(0).dirtyBytes() == low);
      assertThat(asked).hasValue(1);
    }
  }

  private static MigrationEngine engine(
      TieredSegments segments, MigrationSettings settings, EngineEnvironment environment) {
    return new MigrationEngine(
        segments, settings, PolicyRegistry.builtIn(), List.of(), EngineEvents.NONE, environment);
  }

  private static EngineEnvironment withoutTime() {
    EngineEnvironment system = EngineEnvironment.system();
    return new EngineEnvironment(InstantSource.system(), () -> 0, system.threads());
  }

  /** Counts how often all segments are asked for. */
  private record Counted(FakeTiers tiers, AtomicInteger asked) implements TieredSegments {
    @Override
    public State state() {
      asked.incrementAndGet();
      return tiers.state();
    }

    @Override
    public List<TierUsage> usages() {
      return tiers.state().tiers();
    }

    @Override
    public MoveResult destage(long id, int toTier, MoveControl control)
        throws IOException, InterruptedException {
      return tiers.destage(id, toTier, control);
    }

    @Override
    public MoveResult evict(long id) throws IOException {
      return tiers.evict(id);
    }

    @Override
    public MoveResult promote(long id, int toTier, MoveControl control)
        throws IOException, InterruptedException {
      return tiers.promote(id, toTier, control);
    }

    @Override
    public void evictionOrder(List<Long> ids) {
      tiers.evictionOrder(ids);
    }

    @Override
    public void onDemand(Runnable wake) {
      tiers.onDemand(wake);
    }
  }
}
