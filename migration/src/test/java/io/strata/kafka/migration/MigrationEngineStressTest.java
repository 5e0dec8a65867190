package io.strata.kafka.migration;

import static io.strata.kafka.migration.FakeTiers.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.PolicyRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Everything at once: appends, deletions, failures, changed settings, at last the end. */
@Timeout(600)
class MigrationEngineStressTest {

  private static final long SECONDS = Long.getLong("strata.stress.seconds", 4);

  @Test
  void nothingGoesWrongAndItComesToRest() throws InterruptedException {
    long seed = Long.getLong("strata.stress.seed", ThreadLocalRandom.current().nextLong());
    Random random = new Random(seed);
    FakeTiers tiers = new FakeTiers(200 * MIB, 400 * MIB);
    tiers.hook(
        (kind, id, toTier) -> {
          int dice = ThreadLocalRandom.current().nextInt(200);
          if (dice == 0) {
            throw new IOException("Input/output error");
          } else if (dice == 1) {
            tiers.delete(id);
          } else if (dice == 2) {
            throw new IllegalStateException("a fault");
          } else if (dice < 20) {
            Thread.sleep(1);
          }
        });
    Recorder told = new Recorder();
    MigrationEngine engine =
        new MigrationEngine(
            tiers,
            settings(random).value(),
            PolicyRegistry.builtIn(),
            List.of(told),
            told,
            EngineEnvironment.system());
    engine.start();
    List<Thread> threads = new ArrayList<>();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    for (int thread = 0; thread < 3; thread++) {
      int number = thread;
      Random own = new Random(seed + thread);
      threads.add(new Thread(() -> append(tiers, own, number, end)));
    }
    threads.forEach(Thread::start);
    while (System.nanoTime() < end) {
      engine.reconfigure(settings(random).value());
      tiers.exclude(random.nextInt(3) == 0 ? "t2" : "");
      assertThat(engine.stats().queued()).as("seed " + seed).isLessThan(1200);
      Thread.sleep(random.nextInt(100));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    tiers.hook((kind, id, toTier) -> {});
    engine.reconfigure(Settings.of(0.3, 0.5).threads(4).value());
    await("seed " + seed)
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                tiers.tier(0).dirtyShare() <= 0.3
                    && tiers.tier(1).dirtyShare() <= 0.5
                    && engine.stats().inFlight() + engine.stats().queued() == 0);
    assertThat(engine.stop(Duration.ofSeconds(5))).as("seed " + seed).isTrue();
    MigrationStats stats = engine.stats();
    assertThat(tiers.violations).as("seed " + seed).isEmpty();
    assertThat(told.engine).as("seed " + seed).isEmpty();
    assertThat(stats.cost().failed()).as("seed " + seed).isZero();
    long failed = stats.meters().failures().values().stream().mapToLong(Long::longValue).sum();
    // Each move that began has ended, in one way.
    assertThat(told.started.size())
        .as("seed " + seed)
        .isGreaterThan(100)
        .isEqualTo(told.finished.size() + told.cancelled.size() + told.failed.size());
    assertThat(told.failed).as("seed " + seed).hasSize((int) failed);
    assertThat(told.cancelled).as("seed " + seed).hasSize((int) stats.meters().cancelled().sum());
  }

  private static Settings settings(Random random) {
    Settings settings =
        Settings.of(random.nextInt(11) / 10.0, random.nextInt(5) == 0 ? -1 : 0.5)
            .mode(random.nextBoolean() ? Mode.EAGER : Mode.THRESHOLD)
            .promote(random.nextBoolean())
            .threads(1 + random.nextInt(8));
    if (random.nextInt(3) == 0) {
      settings = settings.rates(1 + random.nextLong(500 * MIB), random.nextLong(500 * MIB));
    }
    if (random.nextInt(3) == 0) {
      settings = settings.pin("t1");
    }
    return switch (random.nextInt(3)) {
      case 0 -> settings;
      case 1 -> settings.policy("age", Map.of("after", "1s"));
      default -> settings.policy("access", Map.of());
    };
  }

  private static void append(FakeTiers tiers, Random random, int topic, long end) {
    long offset = 0;
    while (System.nanoTime() < end) {
      long id =
          tiers.add(
              "t" + topic,
              random.nextInt(4),
              offset++,
              random.nextInt(2),
              1 + random.nextLong(2 * MIB),
              System.currentTimeMillis(),
              true);
      if (random.nextInt(10) == 0) {
        tiers.spill(id, 1 + random.nextLong(MIB));
      }
      tiers.seal(id);
      List<SegmentView> all = tiers.state().segments();
      if (all.size() > 300) {
        tiers.delete(all.get(random.nextInt(100)).id());
      }
      try {
        Thread.sleep(random.nextInt(3));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }
}
