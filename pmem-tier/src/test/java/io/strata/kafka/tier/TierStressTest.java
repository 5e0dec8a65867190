package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult.Outcome;
import io.strata.kafka.pool.PoolChecker;
import io.strata.kafka.tier.offline.Drain;
import io.strata.kafka.tier.spec.TierEvents;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Everything at once on a whole tier: partitions are appended to, rolled, truncated, deleted and
 * renamed, read, destaged, evicted and promoted, in pools too small for them. Readers compare each
 * byte while that goes on. In the end every byte is there, the accounting is exact, the pools are
 * sound and empty after a drain.
 *
 * <p>{@code -Dstrata.stress.seconds=600} for longer, {@code -Dstrata.stress.seed=} for the same
 * decisions; what the threads meet is up to the machine.
 */
final class TierStressTest {

  private static final long MIB = 1 << 20;
  private static final int SECONDS = Integer.getInteger("strata.stress.seconds", 10);
  private static final int STEPS_PER_PAUSE = 500;
  private static final int MOVES_PER_PAUSE = 8;
  private static final int LONGEST_PAUSE_SECONDS = 10;
  private static final int PARTITIONS = 3;

  /** A busy machine is given this much longer to have everything happen at least once. */
  private static final int MOST_SECONDS_MORE = 120;

  @TempDir private Path directory;

  private final AtomicBoolean stop = new AtomicBoolean();
  private final AtomicLong destaged = new AtomicLong();
  private final AtomicLong evicted = new AtomicLong();
  private final AtomicLong promoted = new AtomicLong();
  private final Set<Long> moving = ConcurrentHashMap.newKeySet();
  private final List<StressPartition> partitions = new ArrayList<>();

  private interface Work {
    void step() throws Exception;
  }

  @Test
  void everythingAtOnce() throws Exception {
    long seed = Long.getLong("strata.stress.seed", System.nanoTime());
    try {
      run(seed);
    } catch (Exception | AssertionError e) {
      throw new AssertionError(
          "repeat with mvn test -Dtest=TierStressTest -Dstrata.stress.seed="
              + seed
              + " -Dstrata.stress.seconds="
              + SECONDS
              + ": "
              + e,
          e);
    }
  }

  private void run(long seed) throws Exception {
    try (TierFixture fixture = TierFixture.twoTiers(directory, 12 * MIB)) {
      HotTier tier = fixture.open();
      List<Work> works = new ArrayList<>();
      for (int p = 0; p < PARTITIONS; p++) {
        StressPartition partition =
            new StressPartition(fixture, "orders-" + p, new Random(seed + p));
        partitions.add(partition);
        Random random = new Random(seed + 300 + p);
        works.add(() -> stepOrPause(partition, random));
      }
      for (int i = 0; i < 2; i++) {
        Random random = new Random(seed + 100 + i);
        ByteBuffer target = ByteBuffer.allocate(200_000);
        works.add(() -> partitions.get(random.nextInt(PARTITIONS)).read(random, target));
      }
      for (int i = 0; i < 2; i++) {
        Random random = new Random(seed + 200 + i);
        works.add(() -> move(tier.tieredSegments(), random));
      }
      together(works);
      settled(fixture);
      for (StressPartition partition : partitions) {
        partition.close();
      }
      fixture.reopen();
      for (StressPartition partition : partitions) {
        partition.check();
      }
      drained(fixture);
    }
  }

  /**
   * Now and then a partition is quiet until some moves have come to their end, however slow the
   * disk: where a move takes longer than a segment lives, none would.
   */
  private void stepOrPause(StressPartition partition, Random random) throws Exception {
    partition.step();
    if (random.nextInt(STEPS_PER_PAUSE) == 0) {
      long enough = moved() + MOVES_PER_PAUSE;
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_PAUSE_SECONDS);
      while (!stop.get() && moved() < enough && System.nanoTime() < end) {
        Thread.sleep(10);
      }
    }
  }

  private long moved() {
    return destaged.get() + evicted.get() + promoted.get();
  }

  private void together(List<Work> works) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(works.size());
    ExecutorCompletionService<Void> running = new ExecutorCompletionService<>(threads);
    try {
      for (Work work : works) {
        running.submit(
            () -> {
              while (!stop.get()) {
                work.step();
              }
              return null;
            });
      }
      long start = System.nanoTime();
      var failed = running.poll(SECONDS, TimeUnit.SECONDS);
      while (failed == null && !enough()) {
        assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start))
            .as("seconds until everything has happened: %s", happened())
            .isLessThan(SECONDS + MOST_SECONDS_MORE);
        failed = running.poll(1, TimeUnit.SECONDS);
      }
      stop.set(true);
      for (int left = works.size(); left > 0; left--) {
        var ended = failed != null ? failed : running.poll(60, TimeUnit.SECONDS);
        failed = null;
        assertThat(ended).as("a thread does not end").isNotNull();
        Void unused = ended.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError(String.valueOf(e.getCause()), e.getCause());
    } finally {
      stop.set(true);
      threads.shutdownNow();
      assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    }
    System.getLogger(TierStressTest.class.getName()).log(System.Logger.Level.INFO, happened());
  }

  private String happened() {
    StringBuilder text = new StringBuilder();
    for (StressPartition p : partitions) {
      text.append(
          String.format(
              "%s appends, %s truncations, %s deletions, %s renames, %s reads; ",
              p.appends, p.truncations, p.deletions, p.renames, p.reads));
    }
    return text
        + String.format("%s destaged, %s evicted, %s promoted", destaged, evicted, promoted);
  }

  private boolean enough() {
    return destaged.get() > 3
        && evicted.get() > 3
        && promoted.get() > 0
        && partitions.stream()
            .allMatch(
                p ->
                    p.appends.get() > 20
                        && p.truncations.get() > 2
                        && p.deletions.get() > 2
                        && p.renames.get() > 0
                        && p.reads.get() > 20);
  }

  private void move(TieredSegments tiers, Random random) throws Exception {
    List<SegmentView> views = tiers.state().segments();
    if (views.isEmpty()) {
      Thread.sleep(1);
      return;
    }
    SegmentView view = pick(tiers, views, random);
    if (!moving.add(view.id())) {
      return; // One move of a segment at a time, as the engine has it.
    }
    try {
      move(tiers, view, random);
    } finally {
      moving.remove(view.id());
    }
  }

  /** Any of them, or one that may be promoted or evicted: few are, and not for long. */
  private static SegmentView pick(TieredSegments tiers, List<SegmentView> views, Random random) {
    int logFile = tiers.state().tiers().size();
    List<SegmentView> some =
        switch (random.nextInt(4)) {
          case 0 -> views.stream().filter(SegmentView::evictable).toList();
          case 1 -> views.stream().filter(v -> v.tier() == logFile && !v.active()).toList();
          default -> views;
        };
    return some.isEmpty()
        ? views.get(random.nextInt(views.size()))
        : some.get(random.nextInt(some.size()));
  }

  private void move(TieredSegments tiers, SegmentView view, Random random) throws Exception {
    int logFile = tiers.state().tiers().size();
    int to = random.nextInt(logFile + 1);
    if (view.evictable() && random.nextBoolean()) {
      count(tiers.evict(view.id()), evicted);
    } else if (to > view.tier()) {
      count(tiers.destage(view.id(), to, MoveControl.UNLIMITED), destaged);
    } else if (to < logFile) {
      count(tiers.promote(view.id(), to, MoveControl.UNLIMITED), promoted);
    }
  }

  private static void count(MoveResult result, AtomicLong counter) {
    counter.addAndGet(result.outcome() == Outcome.DONE ? 1 : 0);
  }

  /** Nothing is left under way, and every byte of the pools is a segment's or free. */
  private void settled(TierFixture fixture) throws Exception {
    for (StressPartition partition : partitions) {
      partition.check();
    }
    Awaitility.await()
        .atMost(java.time.Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              for (TierUsage usage : fixture.tier().tieredSegments().state().tiers()) {
                assertThat(usage.dirtyBytes() + usage.cleanBytes())
                    .as(usage.toString())
                    .isEqualTo(usage.usedBytes());
              }
            });
    for (Path pool : fixture.pools) {
      assertThat(PoolChecker.check(pool).findings()).as("findings in %s", pool).isEmpty();
    }
  }

  private void drained(TierFixture fixture) throws Exception {
    fixture.close();
    assertThat(Drain.run(fixture.spec(), TierEvents.NONE, (done, total) -> {}).complete()).isTrue();
    for (StressPartition partition : partitions) {
      partition.checkInLogFile();
    }
    for (Path pool : fixture.pools) {
      var report = PoolChecker.check(pool);
      assertThat(report.findings()).isEmpty();
      assertThat(report.usedBytes()).as("used in %s after the drain", pool).isZero();
      assertThat(report.liveSlots() + report.deletingSlots()).isZero();
    }
  }
}
