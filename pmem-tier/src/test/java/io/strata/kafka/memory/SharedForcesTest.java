package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 600, unit = TimeUnit.SECONDS)
class SharedForcesTest {
  private static final int THREADS = 8;

  private SharedForces forces = new SharedForces();
  private final AtomicInteger calls = new AtomicInteger();
  private final CountDownLatch first = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);

  /**
   * What a thread stored before its force is durable when that returns, whichever thread made the
   * call.
   */
  @ParameterizedTest
  @ValueSource(longs = {0, 100_000})
  void aForceCoversWhatWasStoredBeforeIt(long patienceNanos) throws Exception {
    forces = new SharedForces(nanos -> patienceNanos);
    AtomicLongArray stored = new AtomicLongArray(THREADS);
    AtomicLongArray durable = new AtomicLongArray(THREADS);
    SharedForces.Call call =
        () -> {
          assertThat(calls.incrementAndGet()).as("calls at once").isEqualTo(1);
          long[] begun = new long[THREADS];
          for (int i = 0; i < THREADS; i++) {
            begun[i] = stored.get(i);
          }
          for (int spin = ThreadLocalRandom.current().nextInt(200); spin > 0; spin--) {
            Thread.onSpinWait();
          }
          for (int i = 0; i < THREADS; i++) {
            durable.set(i, begun[i]);
          }
          calls.decrementAndGet();
        };
    List<FutureTask<Boolean>> appenders = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int own = i;
      appenders.add(
          started(
              () -> {
                for (int record = 1; record <= 20_000; record++) {
                  stored.set(own, record);
                  forces.force(call);
                  assertThat(durable.get(own)).isGreaterThanOrEqualTo(record);
                }
              }));
    }
    for (FutureTask<Boolean> appender : appenders) {
      assertThat(appender.get()).isTrue();
    }
  }

  @Test
  void threadsThatWaitShareOneCall() throws Exception {
    List<FutureTask<Boolean>> waiting = waitingBehindOne(this::counted);
    go.countDown();
    for (FutureTask<Boolean> each : waiting) {
      assertThat(each.get()).isTrue();
    }
    assertThat(calls).hasValue(2);
  }

  /** Without that, each of them would find a force under way, and wait for two. */
  @Test
  void theThreadsOfAForceShareTheNextWhenTheyComeBackSoon() throws Exception {
    forces = new SharedForces(nanos -> TimeUnit.MINUTES.toNanos(5));
    SharedForces.Call threeTimes =
        () -> {
          for (int i = 0; i < 3; i++) {
            forces.force(this::counted);
          }
        };
    List<FutureTask<Boolean>> waiting =
        waitingBehindOne(
            () -> {
              forces.force(this::counted);
              threeTimes.force();
            },
            threeTimes);
    go.countDown();
    for (FutureTask<Boolean> each : waiting) {
      assertThat(each.get()).isTrue();
    }
    assertThat(calls).hasValue(4);
  }

  @Test
  void aForceDoesNotWaitLongForThreadsThatDoNotComeBack() throws Exception {
    forces = new SharedForces(nanos -> TimeUnit.MILLISECONDS.toNanos(1));
    List<FutureTask<Boolean>> waiting = waitingBehindOne(this::counted);
    go.countDown();
    for (FutureTask<Boolean> each : waiting) {
      assertThat(each.get()).isTrue();
    }
    forces.force(this::counted);
    assertThat(calls).hasValue(3);
  }

  /** An eighth of the last force, unless that is too short to help; 10 ms at most. */
  @ParameterizedTest
  @CsvSource({"0, 0", "1999, 0", "2000, 250", "8000, 1000", "80000, 10000", "9000000, 10000"})
  void aForceWaitsAPartOfTheLastOnesTime(long micros, long waitMicros) {
    long patience = SharedForces.patience(TimeUnit.MICROSECONDS.toNanos(micros));
    assertThat(patience).isEqualTo(TimeUnit.MICROSECONDS.toNanos(waitMicros));
  }

  @Test
  void aFailureIsThatOfAllThatShareTheCall() throws Exception {
    assertShared(
        () -> {
          throw new IOException("a test's");
        });
  }

  /** Memory may run out for a moment: then too, all that wait are notified. */
  @Test
  void anErrorIsThatOfAllThatShareTheCall() throws Exception {
    assertShared(
        () -> {
          throw new OutOfMemoryError("a test's");
        });
  }

  private void assertShared(SharedForces.Call failure) throws Exception {
    List<FutureTask<Boolean>> waiting =
        waitingBehindOne(
            () -> {
              counted();
              if (calls.get() == 2) {
                failure.force();
              }
            });
    go.countDown();
    assertThat(waiting.get(0).get()).isTrue();
    assertFailed(waiting.subList(1, waiting.size()));
    assertThat(calls).hasValue(2);
  }

  private static void assertFailed(List<FutureTask<Boolean>> forced) {
    for (FutureTask<Boolean> each : forced) {
      assertThatThrownBy(each::get)
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining("a test's");
    }
  }

  @Test
  void anInterruptedThreadWaitsForItsForceAndStaysInterrupted() throws Exception {
    AtomicInteger interrupted = new AtomicInteger();
    List<FutureTask<Boolean>> waiting =
        waitingBehindOne(
            () -> forces.force(this::counted),
            () -> {
              Thread.currentThread().interrupt();
              forces.force(this::counted);
              assertThat(calls.get()).isEqualTo(2);
              if (Thread.interrupted()) {
                interrupted.incrementAndGet();
              }
            });
    go.countDown();
    for (FutureTask<Boolean> each : waiting) {
      assertThat(each.get()).isTrue();
    }
    assertThat(interrupted).hasValue(THREADS);
  }

  private void counted() {
    if (calls.incrementAndGet() == 1) {
      first.countDown();
      try {
        go.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private List<FutureTask<Boolean>> waitingBehindOne(SharedForces.Call call) throws Exception {
    return waitingBehindOne(() -> forces.force(call), () -> forces.force(call));
  }

  /** Begins a force that stays under way until {@link #go}, and so many threads behind it. */
  private List<FutureTask<Boolean>> waitingBehindOne(SharedForces.Call one, SharedForces.Call rest)
      throws Exception {
    List<FutureTask<Boolean>> all = new ArrayList<>();
    all.add(started(one));
    first.await();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      FutureTask<Boolean> task = task(rest);
      Thread thread = new Thread(task);
      thread.start();
      all.add(task);
      threads.add(thread);
    }
    for (Thread thread : threads) {
      while (thread.getState() != Thread.State.WAITING) {
        assertThat(thread.isAlive()).isTrue();
        Thread.onSpinWait();
      }
    }
    return all;
  }

  private static FutureTask<Boolean> started(SharedForces.Call work) {
    FutureTask<Boolean> task = task(work);
    new Thread(task).start();
    return task;
  }

  private static FutureTask<Boolean> task(SharedForces.Call work) {
    return new FutureTask<>(
        () -> {
          work.force();
          return true;
        });
  }
}
