package io.strata.kafka.migration;

import static io.strata.kafka.migration.FakeTiers.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.api.MigrationListener;
import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.MigrationPolicyProvider;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import io.strata.kafka.migration.EngineMeters.TierMeter;
import io.strata.kafka.migration.plan.BackOffs.FailureCause;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.PolicyRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The engine on tiers without bytes: threads, failures, limits, settings, the end. */
@Timeout(600)
class MigrationEngineTest {

  private final FakeTiers tiers = new FakeTiers(100 * MIB);
  private final Recorder told = new Recorder();
  private final List<MigrationEngine> engines = new ArrayList<>();

  @AfterEach
  void close() {
    engines.forEach(MigrationEngine::close);
    assertThat(tiers.violations).isEmpty();
  }

  private MigrationEngine engine(Settings settings, MigrationListener... more) {
    return engine(settings, PolicyRegistry.builtIn(), more);
  }

  private MigrationEngine engine(
      Settings settings, PolicyRegistry policies, MigrationListener... more) {
    List<MigrationListener> listeners = new ArrayList<>(List.of(more));
    listeners.add(told);
    MigrationEngine engine =
        new MigrationEngine(
            tiers, settings.value(), policies, listeners, told, EngineEnvironment.system());
    engines.add(engine);
    return engine;
  }

  private void fill(int count, long mib) {
    for (int i = 0; i < count; i++) {
      tiers.add("t", i % 4, i, 0, mib * MIB, i, false);
    }
  }

  /** What is outside of the round throws, too: there may be no memory for its report. */
  @Test
  void planningGoesOnWhereEvenThePauseFails() throws Exception {
    AtomicInteger rounds = new AtomicInteger();
    AtomicInteger pauses = new AtomicInteger();
    PlanningLoop loop =
        new PlanningLoop(
            System::nanoTime,
            EngineEvents.NONE,
            rounds::incrementAndGet,
            () -> {
              if (pauses.incrementAndGet() < 3) {
                throw new OutOfMemoryError("Java heap space");
              }
              return Duration.ofMillis(1);
            },
            0);
    Thread thread = new Thread(loop);
    thread.start();
    await().until(() -> rounds.get() > 3);
    loop.stop();
    thread.join();
    assertThat(pauses.get()).isGreaterThan(2);
  }

  /** A broker that moves the remote store's segments again has counters that go on. */
  @Test
  void whatTheEngineBeforeHasCountedCountsOn() throws Exception {
    fill(4, 10);
    MigrationEngine first = engine(Settings.of(0));
    first.start();
    await().until(() -> tier(first).destaged().number().sum() == 4);
    first.close();
    fill(2, 10);
    MigrationEngine second =
        new MigrationEngine(
            tiers,
            Settings.of(0).value(),
            PolicyRegistry.builtIn(),
            List.of(told),
            told,
            EngineEnvironment.system(),
            Optional.of(first.stats()));
    engines.add(second);
    assertThat(tier(second).destaged().number().sum()).isEqualTo(4);
    second.start();
    await().until(() -> tier(second).destaged().number().sum() == 6);
  }

  private static TierMeter tier(MigrationEngine engine) {
    return engine.stats().meters().tiers().get(0);
  }

  private static PolicyRegistry registry(Function<TierSnapshot, List<Move>> plan) {
    return new PolicyRegistry(
        List.of(
            new MigrationPolicyProvider() {
              @Override
              public String name() {
                return "custom";
              }

              @Override
              public MigrationPolicy create(Map<String, String> parameters) {
                return plan::apply;
              }
            }));
  }

  @Test
  void destagesToTheLowMarkAndPublishesTheEvictionOrder() {
    fill(80, 1);
    MigrationEngine engine = engine(Settings.of(0.5));
    engine.start();
    await().until(() -> tiers.tier(0).dirtyBytes() == 45 * MIB);
    await().until(() -> tiers.order().size() == 35);
    await().until(() -> engine.stats().queued() + engine.stats().inFlight() == 0);
    MigrationStats stats = engine.stats();
    TierMeter meter = tier(engine);
    assertThat(meter.destaged().number().sum()).isEqualTo(35);
    assertThat(meter.destaged().bytes().sum()).isEqualTo(35 * MIB);
    assertThat(stats.meters().downPerSecond()).isPositive();
    assertThat(stats.meters().destages().count()).isEqualTo(35);
    assertThat(stats.rounds().count()).isPositive();
    assertThat(stats.meters().failures()).isEmpty();
    assertThat(told.finished).hasSize(35);
    await().until(() -> !engine.stats().plans().get(0).draining());
    assertThat(meter.secondsFor(engine.stats().plans().get(0).backlogBytes())).isZero();
    assertThat(meter.secondsFor(MIB)).isPositive().isFinite();
    assertThat(new TierMeter(() -> 0).secondsFor(MIB)).as("nothing was copied").isNaN();
  }

  @Test
  void inThresholdModeCopiesAreEvictedAtOnce() {
    fill(80, 1);
    MigrationEngine engine = engine(Settings.of(0.5).mode(Mode.THRESHOLD));
    engine.start();
    await().until(() -> tiers.tier(0).usedBytes() == 45 * MIB);
    assertThat(tiers.tier(0).cleanBytes()).isZero();
    await().until(() -> tier(engine).evicted().number().sum() == 35);
    assertThat(told.finished).hasSize(70);
  }

  @Test
  void aSealedSegmentIsNotKeptWaitingForTheInterval() {
    Settings slow = Settings.of(0);
    MigrationSettings value = slow.value();
    MigrationEngine engine =
        engine(
            new Settings(
                new MigrationSettings(
                    value.mode(),
                    value.thresholds(),
                    value.hysteresis(),
                    value.promote(),
                    value.threads(),
                    0,
                    0,
                    Duration.ofMinutes(1),
                    value.policy(),
                    Map.of(),
                    List.of())));
    long id = tiers.add("t", 0, 0, 0, MIB, 1, true);
    engine.start();
    await().until(() -> engine.stats().rounds().count() >= 1);
    tiers.seal(id);
    await().atMost(Duration.ofSeconds(5)).until(() -> tiers.view(id).clean());
    // More than the queue holds is done without waiting for the interval too.
    fill(60, 1);
    await().atMost(Duration.ofSeconds(10)).until(() -> tiers.tier(0).dirtyBytes() == 0);
  }

  @Test
  void aFailingSegmentIsTriedAgainLaterAndHoldsUpNoOther() {
    fill(60, 1);
    tiers.hook(
        (kind, id, toTier) -> {
          if (id == 1) {
            throw new IOException("Input/output error");
          }
          if (id == 2) {
            throw new CorruptSegmentException("batch at 0");
          }
          if (id == 3) {
            throw new IllegalStateException("a fault");
          }
          if (id == 4) {
            throw new InternalError("a fault occurred in an unsafe memory access operation");
          }
        });
    MigrationEngine engine = engine(Settings.of(0));
    engine.start();
    await().until(() -> tiers.tier(0).dirtyBytes() == 4 * MIB);
    assertThat(engine.stats().backingOff()).isEqualTo(4);
    assertThat(engine.stats().corrupt()).isEqualTo(1);
    assertThat(engine.stats().meters().failures())
        .containsEntry(FailureCause.CORRUPT_SEGMENT, 1L)
        .containsEntry(FailureCause.IO_ERROR, 1L)
        .containsEntry(FailureCause.OTHER, 2L);
    assertThat(told.failed).hasSize(4).allMatch(text -> text.endsWith("attempt 1"));
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(told.failed).anyMatch(t -> t.endsWith("attempt 2")));
    tiers.hook((kind, id, toTier) -> {});
    await().atMost(Duration.ofSeconds(20)).until(() -> tiers.tier(0).dirtyBytes() == 0);
    await().until(() -> engine.stats().backingOff() == 0);
    assertThat(engine.stats().corrupt()).isZero();
  }

  /** As of memory that runs out for a moment. */
  @Test
  void anErrorEndsNoThread() {
    fill(60, 1);
    AtomicInteger errors = new AtomicInteger(8);
    AtomicInteger reported = new AtomicInteger();
    EngineEnvironment system = EngineEnvironment.system();
    MigrationEngine engine =
        new MigrationEngine(
            tiers,
            Settings.of(0).threads(2).value(),
            PolicyRegistry.builtIn(),
            List.of(told),
            told,
            new EngineEnvironment(
                system.clock(),
                () -> {
                  if (Thread.currentThread().getName().matches("strata-migration-\\d+")
                      && errors.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("by the test");
                  }
                  return System.nanoTime();
                },
                task -> {
                  Thread thread = system.threads().newThread(task);
                  thread.setUncaughtExceptionHandler((of, error) -> reported.incrementAndGet());
                  return thread;
                }));
    engines.add(engine);
    engine.start();
    await().atMost(Duration.ofSeconds(30)).until(() -> tiers.tier(0).dirtyBytes() == 0);
    assertThat(reported.get()).isPositive();
  }

  @Test
  void aFullLogDirectoryIsNotHammered() {
    AtomicBoolean full = new AtomicBoolean(true);
    AtomicInteger tries = new AtomicInteger();
    fill(90, 1);
    tiers.hook(
        (kind, id, toTier) -> {
          if (kind == Move.Kind.DESTAGE && full.get()) {
            tries.incrementAndGet();
            throw new IOException("No space left on device");
          }
        });
    MigrationEngine engine = engine(Settings.of(0).threads(4));
    engine.start();
    await().until(() -> engine.stats().rounds().count() > 30);
    // Three log directories; a few were under way at the first failure, then one at a time.
    assertThat(tries.get()).isLessThan(20);
    full.set(false);
    await().atMost(Duration.ofSeconds(30)).until(() -> tiers.tier(0).dirtyBytes() == 0);
  }

  @Test
  void aSlowDirectoryDoesNotHoldUpTheOthers() {
    CountDownLatch slow = new CountDownLatch(1);
    fill(90, 1);
    Set<Long> stuck = ConcurrentHashMap.newKeySet();
    tiers
        .state()
        .segments()
        .forEach(
            segment -> {
              if (segment.logDirectory().equals("/data0")) {
                stuck.add(segment.id());
              }
            });
    tiers.hook(
        (kind, id, toTier) -> {
          if (stuck.contains(id)) {
            slow.await();
          }
        });
    MigrationEngine engine = engine(Settings.of(0).threads(4));
    engine.start();
    try {
      await().until(() -> tiers.tier(0).dirtyBytes() <= (stuck.size() + 16) * MIB);
    } finally {
      slow.countDown();
    }
    await().until(() -> tiers.tier(0).dirtyBytes() == 0);
  }

  @Test
  void deletedSegmentsAreCancelled() {
    fill(40, 1);
    tiers.hook((kind, id, toTier) -> tiers.delete(id));
    MigrationEngine engine = engine(Settings.of(0));
    engine.start();
    await().until(() -> tiers.state().segments().isEmpty());
    await().until(() -> engine.stats().meters().cancelled().sum() == 40);
    assertThat(told.failed).isEmpty();
    assertThat(engine.stats().backingOff()).isZero();
  }

  @Test
  void theRateHoldsForAllThreadsAndIsChangedWhileTheyWait() {
    fill(60, 1);
    MigrationEngine engine = engine(Settings.of(0).threads(4).rates(MIB, 0));
    engine.start();
    await().until(() -> engine.stats().inFlight() == 4);
    await().pollDelay(Duration.ofMillis(500)).until(() -> true);
    assertThat(tier(engine).destaged().number().sum()).isLessThan(4);
    engine.reconfigure(Settings.of(0).threads(4).value());
    await().atMost(Duration.ofSeconds(10)).until(() -> tiers.tier(0).dirtyBytes() == 0);
  }

  @Test
  void settingsAreRefusedWithoutAnyEffect() {
    MigrationEngine engine = engine(Settings.of(0.5));
    engine.start();
    MigrationSettings before = engine.settings();
    assertThatThrownBy(() -> engine.reconfigure(Settings.of(0.5, 0.5).value()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("one for each tier");
    assertThatThrownBy(() -> engine.reconfigure(Settings.of(0.5).policy("x", Map.of()).value()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'x'");
    assertThatThrownBy(() -> engine.reconfigure(Settings.of(0.5).pin("(").value()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pinned topics: '('");
    assertThat(engine.settings()).isSameAs(before);
    assertThatThrownBy(engine::start).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void thresholdPolicyThreadsAndPinsAreChangedLive() {
    fill(50, 1);
    MigrationEngine engine = engine(Settings.of(-1));
    engine.start();
    await().until(() -> engine.stats().rounds().count() > 3);
    assertThat(tiers.made()).isZero();
    engine.reconfigure(Settings.of(0.3).threads(8).value());
    await().until(() -> tiers.tier(0).dirtyBytes() == 25 * MIB);
    assertThat(engine.stats().threads()).isEqualTo(8);
    engine.reconfigure(Settings.of(-1).threads(1).policy("age", Map.of("after", "1ms")).value());
    await().until(() -> tiers.tier(0).usedBytes() == 0);
    // Pinned ones come back, whatever the policy says.
    engine.reconfigure(
        Settings.of(-1).threads(3).policy("age", Map.of("after", "1ms")).pin("t").value());
    await().until(() -> tiers.tier(0).segments() == 50);
  }

  @Test
  void aPolicyThatThrowsMovesNothingAndIsTold() {
    fill(60, 1);
    AtomicBoolean bad = new AtomicBoolean(true);
    PolicyRegistry registry =
        registry(
            snapshot -> {
              if (bad.get()) {
                throw new IllegalStateException("cannot decide");
              }
              return snapshot.segments().stream()
                  .filter(s -> !s.clean())
                  .limit(1)
                  .map(s -> Move.destage(s, 1))
                  .toList();
            });
    MigrationEngine engine = engine(Settings.of(0).policy("custom", Map.of()), registry);
    engine.start();
    await().until(() -> engine.stats().cost().failed() > 3);
    assertThat(tiers.made()).isZero();
    assertThat(told.engine).contains("round failed 1: cannot decide");
    bad.set(false);
    await().until(() -> tiers.made() > 3);
    assertThat(told.engine).anyMatch(text -> text.startsWith("rounds succeed again after "));
  }

  @Test
  void movesThatAreNotAllowedAreRefusedAndCounted() {
    long active = tiers.add("t", 0, 0, 1, MIB, 1, true);
    tiers.found(active);
    tiers.add("t", 0, 1, 0, MIB, 1, false);
    PolicyRegistry registry =
        registry(
            snapshot -> {
              List<Move> moves = new ArrayList<>();
              for (SegmentView segment : snapshot.segments()) {
                Move move = segment.active() ? Move.promote(segment, 0) : Move.destage(segment, 1);
                moves.add(move);
                moves.add(move);
              }
              return moves;
            });
    MigrationEngine engine = engine(Settings.of(0).policy("custom", Map.of()), registry);
    engine.start();
    await().until(() -> engine.stats().meters().refused().sum() > 5);
    assertThat(tiers.view(active).tier()).isEqualTo(1);
    assertThat(told.engine).anyMatch(text -> text.contains("the segment is active"));
  }

  @Test
  void aListenerThatThrowsDisturbsNobody() {
    fill(60, 1);
    MigrationEngine engine =
        engine(
            Settings.of(0),
            new MigrationListener() {
              @Override
              public void started(Move move) {
                throw new IllegalStateException("not my day");
              }
            });
    engine.start();
    await().until(() -> tiers.tier(0).dirtyBytes() == 0);
    await().until(() -> told.finished.size() == 60);
    assertThat(told.engine).contains("listener failed: not my day");
  }

  @Test
  void stopsWithinSecondsUnderLoadAndLeavesNothingBehind() throws InterruptedException {
    fill(90, 1);
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    EngineEnvironment system = EngineEnvironment.system();
    MigrationEngine engine =
        new MigrationEngine(
            tiers,
            Settings.of(0).threads(8).rates(64 << 10, 0).value(), // a MiB takes a quarter minute
            PolicyRegistry.builtIn(),
            List.of(told),
            told,
            new EngineEnvironment(
                system.clock(),
                system.nanoTime(),
                task -> {
                  Thread thread = system.threads().newThread(task);
                  threads.add(thread);
                  return thread;
                }));
    engine.start();
    await().until(() -> engine.stats().inFlight() == 8);
    assertThat(engine.stop(Duration.ofMinutes(5))).isTrue();
    assertThat(threads).hasSize(9).noneMatch(Thread::isAlive);
    assertThat(told.cancelled).hasSize(8);
    int started = told.started.size();
    engine.reconfigure(Settings.of(0).threads(9).value());
    tiers.demand();
    Thread.sleep(100);
    assertThat(told.started).hasSize(started);
    assertThatThrownBy(engine::start).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void stopSaysWhenAThreadHangsInInputOrOutput() throws InterruptedException {
    fill(90, 1);
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch hung = new CountDownLatch(1);
    tiers.hook(
        (kind, id, toTier) -> {
          hung.countDown();
          hangs.await();
        });
    MigrationEngine engine = engine(Settings.of(0));
    engine.start();
    assertThat(hung.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(engine.stop(Duration.ofMillis(100))).isFalse();
    hangs.countDown();
    assertThat(engine.stop(Duration.ofSeconds(5))).isTrue();
  }

  @Test
  void planningIsBoundedHoweverOftenItIsAskedFor() throws InterruptedException {
    long asked = 0;
    MigrationEngine engine = engine(Settings.of(0.5));
    engine.start();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
    while (System.nanoTime() < end) {
      tiers.demand();
      asked++;
    }
    assertThat(asked).isGreaterThan(10_000);
    assertThat(engine.stats().rounds().count()).isLessThan(60);
  }
}
