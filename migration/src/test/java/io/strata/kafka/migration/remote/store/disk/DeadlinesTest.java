package io.strata.kafka.migration.remote.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import java.io.IOException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeadlinesTest {

  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofSeconds(20);

  private final CountDownLatch kernel = new CountDownLatch(1);
  private final Deadlines calls =
      new Deadlines(
          "calls",
          2,
          task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
          });

  @AfterEach
  void close() {
    kernel.countDown();
    calls.close();
  }

  @Test
  void givesWhatTheWorkGives() throws Exception {
    assertThat(calls.<String>call("reading", LONG, control -> "done")).isEqualTo("done");
    assertThatThrownBy(
            () ->
                calls.<String>call(
                    "reading",
                    LONG,
                    control -> {
                      throw new IOException("no disk");
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("no disk");
  }

  @Test
  void endsInItsTimeAndTellsTheWork() throws Exception {
    AtomicBoolean told = new AtomicBoolean();
    AtomicBoolean interrupted = new AtomicBoolean();
    assertThatThrownBy(
            () ->
                calls.<String>call(
                    "reading",
                    SHORT,
                    control -> {
                      try {
                        TimeUnit.SECONDS.sleep(60);
                      } catch (InterruptedException e) {
                        interrupted.set(true);
                      }
                      told.set(control.isCancelled());
                      return "late";
                    }))
        .isInstanceOf(TimeLimitException.class)
        .hasMessageContaining("reading: not done within 50 ms");
    await().untilTrue(told);
    assertThat(interrupted).isTrue();
    await().until(() -> calls.stuck() == 0);
  }

  /** The result comes a moment before or after the caller gives up: one of both undoes it. */
  @Test
  void undoesWhatNobodyHasTaken() throws Exception {
    AtomicInteger made = new AtomicInteger();
    AtomicInteger taken = new AtomicInteger();
    AtomicInteger undone = new AtomicInteger();
    AtomicBoolean interrupted = new AtomicBoolean();
    for (int i = 0; i < 2000; i++) {
      int spins = i;
      boolean reached = i % 2 == 0;
      Deadlines.Work<Integer> work =
          new Deadlines.Work<>() {
            @Override
            public Integer run(Deadlines.Control control) {
              for (int spin = 0; spin < spins; spin++) {
                Thread.onSpinWait();
              }
              return made.incrementAndGet();
            }

            @Override
            public void undo(Integer result) {
              interrupted.compareAndSet(false, Thread.currentThread().isInterrupted());
              int unused = undone.incrementAndGet();
            }

            @Override
            public boolean isInterruptible() {
              return reached;
            }
          };
      try {
        Integer unused = calls.call("copying", Duration.ofNanos(30_000), work);
        int unusedToo = taken.incrementAndGet();
      } catch (TimeLimitException e) {
        // It may have been made all the same.
      }
    }
    await().until(() -> made.get() == taken.get() + undone.get());
    assertThat(interrupted).isFalse();
    assertThat(undone).hasPositiveValue();
  }

  /** More callers than threads, each within its own time: a store that is slow, and answers. */
  @Test
  void aTurnDoesNotCountWhileOthersComeBack() throws Exception {
    ExecutorService callers = Executors.newCachedThreadPool();
    List<Future<String>> results = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      results.add(
          callers.submit(
              () ->
                  calls.callInTurn(
                      "copying",
                      Duration.ofSeconds(1),
                      control -> {
                        TimeUnit.MILLISECONDS.sleep(300);
                        return "done";
                      })));
    }
    for (Future<String> result : results) {
      assertThat(result.get()).isEqualTo("done");
    }
    var unused = callers.shutdownNow();
  }

  @Test
  void aTurnThatDoesNotComeEndsInItsTime() throws Exception {
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> calls.<String>callInTurn("copying", SHORT, this::hangWhateverComes))
          .isInstanceOf(TimeLimitException.class)
          .hasMessageContaining("not done");
    }
    assertThatThrownBy(() -> calls.<String>callInTurn("copying", SHORT, control -> "done"))
        .isInstanceOf(TimeLimitException.class)
        .hasMessageContaining("not begun within 50 ms");
  }

  private String hangWhateverComes(Deadlines.Control control) {
    while (kernel.getCount() > 0) {
      try {
        kernel.await();
      } catch (InterruptedException e) {
        // It hangs in the kernel.
      }
    }
    return "late";
  }

  /** As a file channel on a disk that hangs: closing it waits for the thread that is in it. */
  private final class Stuck extends AbstractInterruptibleChannel {

    void use() throws IOException {
      boolean completed = false;
      begin();
      try {
        awaitKernel();
        completed = true;
      } finally {
        end(completed);
      }
    }

    @Override
    protected void implCloseChannel() {
      awaitKernel();
    }

    private void awaitKernel() {
      boolean interrupted = false;
      while (kernel.getCount() > 0) {
        try {
          kernel.await();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private String hang(Deadlines.Control unused) throws IOException {
    try (Stuck channel = new Stuck()) {
      channel.use();
    }
    return "late";
  }

  @Test
  void theCallerDoesNotWaitForAThreadThatHangsInTheKernel() {
    assertThatThrownBy(() -> calls.call("reading", SHORT, this::hang))
        .isInstanceOf(TimeLimitException.class);
    assertThat(calls.stuck()).isEqualTo(1);
    kernel.countDown();
    await().until(() -> calls.stuck() == 0);
  }

  @Test
  void callsThatFindAllThreadsHangingFailInTheirTime() throws Exception {
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> calls.call("reading", SHORT, this::hang))
          .isInstanceOf(TimeLimitException.class);
    }
    assertThatThrownBy(() -> calls.call("reading more", SHORT, control -> "never"))
        .isInstanceOf(TimeLimitException.class)
        .hasMessageContaining("reading more: not begun within 50 ms: 2 operations run, 2 of them");
    kernel.countDown();
    assertThat(calls.<String>call("reading more", LONG, control -> "well again"))
        .isEqualTo("well again");
  }

  @Test
  void anInterruptedCallerDoesNotWaitEither() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    AtomicBoolean interrupted = new AtomicBoolean();
    Thread caller =
        new Thread(
            () -> {
              try {
                String unused = calls.call("reading", LONG, this::hang);
              } catch (InterruptedException e) {
                interrupted.set(true);
              } catch (IOException e) {
                // not what is expected
              }
              ended.countDown();
            });
    caller.start();
    await().until(() -> caller.getState() == Thread.State.TIMED_WAITING);
    caller.interrupt();
    assertThat(ended.await(5, TimeUnit.MINUTES)).as("the caller goes on").isTrue();
    assertThat(interrupted).isTrue();
  }

  @Test
  void closingDoesNotWaitForAThreadThatHangsInTheKernel() {
    assertThatThrownBy(() -> calls.call("reading", SHORT, this::hang))
        .isInstanceOf(TimeLimitException.class);
    calls.close();
    assertThat(calls.stuck()).as("threads that still hang").isEqualTo(1);
  }
}
