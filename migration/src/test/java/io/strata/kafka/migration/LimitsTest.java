package io.strata.kafka.migration;

import static io.strata.kafka.migration.FakeTiers.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentId;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.BackOffs;
import io.strata.kafka.migration.plan.BackOffs.FailureCause;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.Plan.PlannedMove.Target;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rates, waits after failures, the queue, meters. */
@Timeout(600)
class LimitsTest {

  private static final long SEGMENT = 1 << 20;

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // the clock may overflow
  private final BackOffs backOffs = new BackOffs(nanos::get, new Random(1));
  private static final Target LOG_DIRS = new Target(false, 1, "/data0");

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void aSegmentWaitsLongerEachTimeUpToFiveMinutes() {
    long longest = 0;
    for (int attempt = 1; attempt <= 15; attempt++) {
      BackOffs.Verdict verdict = backOffs.failed(7, FailureCause.IO_ERROR);
      assertThat(verdict.attempt()).isEqualTo(attempt);
      long full = Math.min(BackOffs.LONGEST_NANOS, BackOffs.FIRST_NANOS << (attempt - 1));
      assertThat(verdict.retryNanos()).isBetween(full / 2, full);
      longest = verdict.retryNanos();
      assertThat(backOffs.waits(7)).isTrue();
      pass(Duration.ofNanos(longest));
      assertThat(backOffs.waits(7)).isFalse();
    }
    assertThat(longest).isGreaterThan(Duration.ofMinutes(2).toNanos());
    assertThat(backOffs.waits(8)).isFalse();
    backOffs.succeeded(move(Move.Kind.DESTAGE, 7, "/data0"));
    assertThat(backOffs.failed(7, FailureCause.IO_ERROR).attempt()).isEqualTo(1);
    assertThat(backOffs.waiting()).isEqualTo(1);
    backOffs.retain(id -> id != 7);
    assertThat(backOffs.remembersSegments()).isFalse();
  }

  @Test
  void givingUpIsNoFailureButHasASegmentWait() {
    backOffs.cancelled(7);
    assertThat(backOffs.waits(7)).isTrue();
    assertThat(backOffs.waiting()).as("segments that wait after a failure").isZero();
    assertThat(backOffs.failed(7, FailureCause.IO_ERROR).attempt()).isEqualTo(1);
    assertThat(backOffs.waiting()).isEqualTo(1);
  }

  @Test
  void aFullTargetIsTriedByOneMoveAtATime() {
    assertThat(backOffs.allowance(LOG_DIRS)).isEqualTo(Integer.MAX_VALUE);
    backOffs.failed(LOG_DIRS, true);
    assertThat(backOffs.allowance(LOG_DIRS)).isZero();
    pass(Duration.ofSeconds(1));
    assertThat(backOffs.allowance(LOG_DIRS)).isEqualTo(1);
    backOffs.failed(LOG_DIRS, true);
    pass(Duration.ofSeconds(1).minusMillis(1));
    assertThat(backOffs.allowance(LOG_DIRS)).isZero();
    pass(Duration.ofSeconds(1));
    assertThat(backOffs.allowance(LOG_DIRS)).isEqualTo(1);
    backOffs.succeeded(move(Move.Kind.DESTAGE, 3, "/data0"));
    assertThat(backOffs.allowance(LOG_DIRS)).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void aTargetIsAtFaultOnlyAfterAFewErrorsInARow() {
    backOffs.failed(LOG_DIRS, false);
    backOffs.failed(LOG_DIRS, false);
    assertThat(backOffs.allowance(LOG_DIRS)).isEqualTo(Integer.MAX_VALUE);
    backOffs.failed(LOG_DIRS, false);
    assertThat(backOffs.allowance(LOG_DIRS)).isZero();
  }

  @Test
  void causesAreTold() {
    assertThat(Mover.causeOf(new CorruptSegmentException("x")))
        .isEqualTo(FailureCause.CORRUPT_SEGMENT);
    assertThat(Mover.causeOf(new IOException("No space left on device")))
        .isEqualTo(FailureCause.NO_SPACE);
    assertThat(
            Mover.causeOf(
                new IOException(new FileSystemException("/a", null, "Disk quota exceeded"))))
        .isEqualTo(FailureCause.NO_SPACE);
    assertThat(Mover.causeOf(new IOException("Input/output error")))
        .isEqualTo(FailureCause.IO_ERROR);
    assertThat(Mover.causeOf(new FileSystemException("/a"))).isEqualTo(FailureCause.IO_ERROR);
  }

  @Test
  void theRateIsKept() throws InterruptedException {
    ByteRateLimiter limiter = new ByteRateLimiter(System::nanoTime);
    limiter.acquire(1 << 30, () -> false); // no limit
    limiter.setRate(20 * MIB);
    long began = System.nanoTime();
    for (int i = 0; i < 10; i++) {
      limiter.acquire(MIB, () -> false);
    }
    // Two of the ten MiB pass at once.
    assertThat(System.nanoTime() - began).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(350));
  }

  @Test
  void veryHighAndVeryLowRatesCanBeSet() throws InterruptedException {
    ByteRateLimiter limiter = new ByteRateLimiter(System::nanoTime);
    for (long rate : List.of(1L, 999_999_999L, 1_000_000_001L, 5_000_000_000L, Long.MAX_VALUE)) {
      limiter.setRate(rate);
      limiter.acquire(1, () -> false);
    }
    limiter.acquire(100 * MIB, () -> false);
  }

  @Test
  void aWaitingThreadSeesANewRateAndTheEnd() throws InterruptedException {
    ByteRateLimiter limiter = new ByteRateLimiter(System::nanoTime);
    limiter.setRate(1);
    AtomicBoolean ends = new AtomicBoolean();
    Thread one = acquire(limiter, ends);
    Thread two = acquire(limiter, ends);
    Thread.sleep(50);
    assertThat(one.isAlive() && two.isAlive()).isTrue();
    limiter.setRate(1000 * MIB);
    one.join();
    two.join();
    assertThat(one.isAlive() || two.isAlive()).isFalse();

    limiter.setRate(1);
    Thread three = acquire(limiter, ends);
    Thread.sleep(20);
    ends.set(true);
    limiter.wakeAll();
    three.join();
    assertThat(three.isAlive()).isFalse();
  }

  private static Thread acquire(ByteRateLimiter limiter, AtomicBoolean ends) {
    Thread thread =
        new Thread(
            () -> {
              try {
                limiter.acquire(MIB, ends::get);
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    thread.start();
    return thread;
  }

  private static PlannedMove move(Move.Kind kind, long id, String directory) {
    SegmentView segment =
        new SegmentView(
            id,
            new SegmentName(
                new SegmentId("t", 0, id), SegmentName.Replica.CURRENT, SegmentName.Stage.LIVE),
            directory,
            kind == Move.Kind.PROMOTE ? 1 : 0,
            kind == Move.Kind.EVICT ? OptionalInt.of(1) : OptionalInt.empty(),
            false,
            false,
            SEGMENT,
            SEGMENT,
            kind == Move.Kind.EVICT ? 0 : SEGMENT,
            kind == Move.Kind.EVICT ? SEGMENT : 0,
            0,
            0,
            0,
            0,
            false);
    Move move = new Move(kind, segment, kind == Move.Kind.PROMOTE ? 0 : 1);
    return new PlannedMove(move, Target.of(move, 1), 0, false);
  }

  private static List<PlannedMove> copies(String directory, long... ids) {
    return LongStream.of(ids).mapToObj(id -> move(Move.Kind.DESTAGE, id, directory)).toList();
  }

  private static List<Long> takeAll(MoveQueue queue) throws InterruptedException {
    List<Long> taken = new ArrayList<>();
    while (queue.queued() > 0) {
      taken.add(queue.take(0).orElseThrow().id());
    }
    return taken;
  }

  @Test
  void aPlanIsTakenAsAWholeAndTheNextOneTakesItsPlace() throws InterruptedException {
    MoveQueue queue = new MoveQueue(2);
    List<PlannedMove> many = new ArrayList<>();
    for (int id = 0; id < 100_000; id++) {
      many.add(move(id % 2 == 0 ? Move.Kind.DESTAGE : Move.Kind.EVICT, id, "/data0"));
    }
    queue.offer(many, 1);
    assertThat(queue.queued()).isEqualTo(many.size());
    assertThat(queue.beginPlan()).isEmpty();
    queue.offer(many.subList(0, 10), 1);
    assertThat(queue.queued()).isEqualTo(10);
    queue.offer(copies("/data1", 7, 8), 1);
    assertThat(takeAll(queue)).containsExactly(7L, 8L);
    assertThat(queue.running()).isEqualTo(2);
    queue.offer(many, 1);
    queue.reset(2);
    assertThat(queue.queued()).isZero();
  }

  @Test
  void whatRanWhileAPlanWasMadeIsNotMovedTwice() throws InterruptedException {
    MoveQueue queue = new MoveQueue(3);
    queue.offer(copies("/data0", 1, 2, 3, 4, 5), 1);
    PlannedMove first = queue.take(0).orElseThrow();
    assertThat(queue.beginPlan()).containsExactly(first);
    PlannedMove second = queue.take(1).orElseThrow();
    queue.done(second, Optional.empty());
    PlannedMove third = queue.take(1).orElseThrow();
    queue.done(third, third.after(SEGMENT / 2));
    queue.offer(copies("/data0", 2, 3, 4, 5, 6), 1);
    assertThat(takeAll(queue)).containsExactly(3L, 4L, 5L, 6L);
  }

  @Test
  void whatIsLeftAfterAPieceTakesTurnsWithOthersUntilAllIsCopiedOrSettingsAreNew()
      throws InterruptedException {
    MoveQueue queue = new MoveQueue(2);
    queue.offer(copies("/data0", 1, 2), 1);
    for (int piece = 0; piece < 4; piece++) {
      for (long id = 1; id <= 2; id++) {
        PlannedMove next = queue.take(0).orElseThrow();
        assertThat(next.id()).isEqualTo(id);
        assertThat(next.copiedBytes()).isEqualTo(piece * SEGMENT / 4);
        queue.done(next, next.after(SEGMENT / 4));
      }
    }
    assertThat(queue.queued()).isZero();
    queue.offer(copies("/data0", 3), 1);
    PlannedMove running = queue.take(0).orElseThrow();
    queue.reset(2);
    queue.done(running, running.after(SEGMENT / 4));
    assertThat(queue.queued()).isZero();
  }

  @Test
  void evictionsComeFirstPromotionsTakeTurnsAndASlowDirectoryDoesNotTakeAllThreads()
      throws InterruptedException {
    MoveQueue queue = new MoveQueue(4);
    List<PlannedMove> moves = new ArrayList<>();
    for (int id = 0; id < 5; id++) {
      moves.add(move(Move.Kind.PROMOTE, 100 + id, "/data0"));
    }
    for (int id = 0; id < 6; id++) {
      moves.add(move(Move.Kind.DESTAGE, id, "/slow"));
    }
    moves.add(move(Move.Kind.DESTAGE, 10, "/data1"));
    moves.add(move(Move.Kind.EVICT, 20, "/data1"));
    queue.offer(moves, 1);
    List<Long> order = new ArrayList<>();
    PlannedMove evict = queue.take(0).orElseThrow();
    assertThat(evict.id()).isEqualTo(20);
    queue.done(evict, Optional.empty());
    for (int i = 0; i < 6; i++) {
      order.add(queue.take(0).orElseThrow().id());
    }
    assertThat(order).containsExactly(0L, 10L, 1L, 100L, 2L, 3L);
    assertThat(queue.running()).isEqualTo(6);
    queue.close();
    assertThat(queue.take(0)).isEmpty();
    queue.offer(moves, 1);
    assertThat(queue.queued()).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"DESTAGE", "EVICT"})
  void whereThereAreSeveralDirectoriesNoneGetsAllThreadsOrAnothersPlaceInTheQueue(Move.Kind kind)
      throws InterruptedException {
    MoveQueue queue = new MoveQueue(4);
    List<PlannedMove> moves = new ArrayList<>();
    for (int id = 0; id < 1000; id++) {
      moves.add(move(kind, id, "/hangs"));
    }
    queue.offer(moves, 4);
    for (int thread = 0; thread < 3; thread++) {
      assertThat(queue.take(thread)).isPresent();
    }
    moves.add(move(Move.Kind.DESTAGE, 2000, "/works"));
    queue.offer(moves, 4);
    assertThat(queue.take(3).orElseThrow().id()).isEqualTo(2000);
  }

  /**
   * Each move of a segment needs the disk of its log directory, for the tag if for nothing else.
   */
  @Test
  void aLogDirectoryThatHangsHoldsUpNoOtherWhereThereAreSeveralTiers() throws InterruptedException {
    MoveQueue queue = new MoveQueue(2);
    List<PlannedMove> moves =
        List.of(copy(1, "/hangs", 1), copy(2, "/hangs", 2), copy(3, "/works", 1));
    queue.offer(moves, 2);
    assertThat(queue.take(0).orElseThrow().id()).isEqualTo(1);
    assertThat(queue.take(1).orElseThrow().id()).isEqualTo(3);
  }

  @Test
  void aTierThatHangsDoesNotTakeTheLastOfThreeThreads() throws InterruptedException {
    MoveQueue queue = new MoveQueue(3);
    queue.offer(List.of(copy(1, "/a", 1), copy(2, "/b", 1)), 3);
    assertThat(queue.take(0).orElseThrow().id()).isEqualTo(1);
    assertThat(queue.take(1).orElseThrow().id()).isEqualTo(2);
    queue.offer(List.of(copy(3, "/c", 1), move(Move.Kind.PROMOTE, 4, "/c")), 3);
    assertThat(queue.take(2).orElseThrow().id()).isEqualTo(4);
  }

  /** A copy down where there are two tiers of pools. */
  private static PlannedMove copy(long id, String directory, int to) {
    Move move = Move.destage(move(Move.Kind.DESTAGE, id, directory).move().segment(), to);
    return new PlannedMove(move, Target.of(move, 2), 0, false);
  }

  @Test
  void promotionsNeverTakeMoreThanHalfOfTheThreads() throws InterruptedException {
    MoveQueue queue = new MoveQueue(4);
    List<PlannedMove> moves = new ArrayList<>();
    for (int id = 0; id < 5; id++) {
      moves.add(move(Move.Kind.PROMOTE, id, "/data0"));
    }
    queue.offer(moves, 1);
    PlannedMove first = queue.take(0).orElseThrow();
    assertThat(queue.take(1)).isPresent();
    Thread third =
        new Thread(
            () -> {
              try {
                assertThat(queue.take(2)).isPresent();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    third.start();
    await().until(() -> third.getState() == Thread.State.WAITING);
    queue.done(first, Optional.empty());
    third.join();
    assertThat(third.isAlive()).isFalse();
  }

  @Test
  void theMeterForgetsAfterTenSeconds() {
    nanos.set(0);
    EngineMeters.RateMeter meter = new EngineMeters.RateMeter(nanos::get);
    for (int second = 0; second < 30; second++) {
      meter.add(100);
      pass(Duration.ofSeconds(1));
    }
    assertThat(meter.perSecond()).isBetween(90.0, 110.0);
    pass(Duration.ofSeconds(5));
    assertThat(meter.perSecond()).isBetween(40.0, 60.0);
    pass(Duration.ofDays(3));
    assertThat(meter.perSecond()).isZero();
  }

  @Test
  void latenciesAreOfTheLastMinutes() {
    LatencyWindow window = new LatencyWindow(nanos::get);
    assertThat(window.seconds().keySet()).containsExactlyElementsOf(LatencyWindow.ATTRIBUTES);
    assertThat(window.seconds().values()).containsOnly(0.0);
    for (int i = 1; i <= 100; i++) {
      window.record(TimeUnit.MILLISECONDS.toNanos(i));
    }
    assertThat(window.seconds().get("Count")).isEqualTo(100);
    assertThat(window.seconds().get("Mean")).isCloseTo(0.0505, within(1e-9));
    assertThat(window.seconds().get("StdDev")).isBetween(0.028, 0.03);
    assertPercentile(window, "50thPercentile", 50);
    assertPercentile(window, "75thPercentile", 75);
    assertPercentile(window, "95thPercentile", 95);
    assertPercentile(window, "98thPercentile", 98);
    assertPercentile(window, "99thPercentile", 99);
    assertPercentile(window, "999thPercentile", 100);
    assertPercentile(window, "Max", 100);
    assertPercentile(window, "Min", 1);
    pass(Duration.ofMinutes(6));
    window.record(1);
    assertThat(window.count()).isEqualTo(101);
    assertPercentile(window, "Max", 100);
    assertThat(window.seconds().get("Min")).isEqualTo(1e-9);
    pass(Duration.ofMinutes(6));
    assertThat(window.seconds().get("Max")).isEqualTo(1e-9);
    pass(Duration.ofMinutes(30));
    assertThat(window.seconds().get("Max")).isZero();
    assertThat(window.seconds().get("Count")).as("since the start").isEqualTo(101);
    assertThat(window.seconds().get("Mean")).isCloseTo(5.050_000_001 / 101, within(1e-12));
  }

  private static void assertPercentile(LatencyWindow window, String name, double millis) {
    assertThat(window.seconds().get(name)).as(name).isCloseTo(millis / 1e3, withinPercentage(1));
  }

  @Test
  void aSegmentStaysCorruptUntilItIsCopiedOrGone() {
    backOffs.failed(1, FailureCause.CORRUPT_SEGMENT);
    backOffs.failed(2, FailureCause.CORRUPT_SEGMENT);
    backOffs.failed(3, FailureCause.IO_ERROR);
    assertThat(backOffs.corrupt()).isEqualTo(2);
    backOffs.cancelled(1);
    backOffs.failed(1, FailureCause.IO_ERROR);
    backOffs.succeeded(move(Move.Kind.EVICT, 1, "/data0"));
    assertThat(backOffs.corrupt()).isEqualTo(2);
    backOffs.succeeded(move(Move.Kind.DESTAGE, 1, "/data0"));
    assertThat(backOffs.corrupt()).isEqualTo(1);
    backOffs.retain(id -> id != 2);
    assertThat(backOffs.corrupt()).isZero();
  }
}
