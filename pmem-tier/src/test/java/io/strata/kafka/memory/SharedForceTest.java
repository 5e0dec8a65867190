package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.lincheck.Lincheck;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Forces that are shared serve everybody, and nobody too early. */
final class SharedForceTest {

  private static final int FOLLOWERS = 7;

  /** A force that ends when the test says so. */
  private static final class Slow {
    private final AtomicInteger begun = new AtomicInteger();
    private final Semaphore ends = new Semaphore(0);
    private boolean fails;

    void force() throws IOException {
      int unused = begun.incrementAndGet();
      ends.acquireUninterruptibly();
      if (fails) {
        throw new IOException("a test's");
      }
    }
  }

  private final Slow slow = new Slow();
  private final SharedForce<Slow> shared = new SharedForce<>(Slow::force);

  private FutureTask<Boolean> asks(List<Thread> threads) {
    FutureTask<Boolean> task =
        new FutureTask<>(
            () -> {
              shared.force(slow, 0, 1);
              return true;
            });
    Thread thread = new Thread(task);
    threads.add(thread);
    thread.start();
    return task;
  }

  private static void awaitBlocked(List<Thread> threads) {
    await()
        .atMost(Duration.ofMinutes(5))
        .until(() -> threads.stream().allMatch(t -> t.getState() == Thread.State.WAITING));
  }

  @Test
  void whoComesDuringAForceSharesTheNext() throws Exception {
    List<Thread> threads = new ArrayList<>();
    FutureTask<Boolean> leader = asks(threads);
    await().atMost(Duration.ofMinutes(5)).until(() -> slow.begun.get() == 1);
    List<FutureTask<Boolean>> followers = new ArrayList<>();
    for (int i = 0; i < FOLLOWERS; i++) {
      followers.add(asks(threads));
    }
    awaitBlocked(threads);

    slow.ends.release();
    assertThat(leader.get()).isTrue();
    await().atMost(Duration.ofMinutes(5)).until(() -> slow.begun.get() == 2);
    assertThat(followers).noneMatch(FutureTask::isDone);
    slow.ends.release();
    for (FutureTask<Boolean> follower : followers) {
      assertThat(follower.get()).isTrue();
    }
    assertThat(slow.begun).hasValue(2);
  }

  /** The kernel reports a failure once: whoever waited must not force again and believe it. */
  @Test
  void aFailureIsThatOfAllWhoWait() throws Exception {
    List<Thread> threads = new ArrayList<>();
    slow.fails = true;
    FutureTask<Boolean> leader = asks(threads);
    await().atMost(Duration.ofMinutes(5)).until(() -> slow.begun.get() == 1);
    FutureTask<Boolean> follower = asks(threads);
    awaitBlocked(threads);
    slow.ends.release();
    assertThatThrownBy(leader::get).hasRootCauseMessage("a test's");
    assertThatThrownBy(follower::get).hasRootCauseMessage("a test's");
    assertThat(slow.begun).hasValue(1);
  }

  /** What each has stored before it asked is durable when its force returns. */
  @Test
  void nobodyIsServedTooEarly() throws Exception {
    new Lincheck(SharedForceOperations.class, SharedForceOperations.Specification.class)
        .model(10, 300, 3, 3);
  }
}
