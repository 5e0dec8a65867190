package io.strata.kafka.migration;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.strata.kafka.migration.MigrationStats.RoundCost;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * When rounds are made: in an interval, and sooner on demand, but not so often that planning takes
 * more than a tenth of a processor. A round that takes longer than a ninth of the interval is
 * followed by the next one after the interval all the same.
 *
 * <p>Thread safety: {@link #run} is for one thread; all else is safe for use by any number.
 */
final class PlanningLoop implements Runnable {

  private static final long LEAST_PAUSE_NANOS = MILLISECONDS.toNanos(10);

  /** The pause after a round, in the time that the round took. */
  private static final long PAUSE_FACTOR = 9;

  private final LongSupplier nanoTime;
  private final EngineEvents events;
  private final Runnable round;
  private final Supplier<Duration> interval;

  /** One permit when something has happened since the last round was begun, none otherwise. */
  private final Semaphore demand = new Semaphore(0);

  private final CountDownLatch stopped = new CountDownLatch(1);

  /** Counts rounds, and how long they took. */
  final LatencyWindow latencies;

  volatile RoundCost counts;

  PlanningLoop(
      LongSupplier nanoTime,
      EngineEvents events,
      Runnable round,
      Supplier<Duration> interval,
      long failed) {
    this.nanoTime = nanoTime;
    this.events = events;
    this.round = round;
    this.interval = interval;
    this.latencies = new LatencyWindow(nanoTime);
    this.counts = new RoundCost(failed, 0, 0);
  }

  /** Something happened that planning should not wait for. Nearly free when it is known already. */
  void wake() {
    if (demand.availablePermits() == 0) {
      demand.release();
    }
  }

  void stop() {
    stopped.countDown();
    demand.release();
  }

  @Override
  public void run() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    boolean cpuTime = threads.isCurrentThreadCpuTimeSupported();
    while (stopped.getCount() > 0) {
      try {
        roundAndPause(threads, cpuTime);
      } catch (RuntimeException | Error expected) {
        // Not even the report of a failure has found memory. There may be some the next time.
      }
    }
  }

  private void roundAndPause(ThreadMXBean threads, boolean cpuTime) {
    int unused = demand.drainPermits();
    long began = nanoTime.getAsLong();
    long cpuBegan = cpuTime ? threads.getCurrentThreadCpuTime() : 0;
    RoundCost before = counts;
    long failedInARow = 0;
    try {
      round.run();
    } catch (RuntimeException | Error e) {
      // Also Error: a plugin's policy may be linked against what is not there.
      failedInARow = before.failedInARow() + 1;
      report(() -> events.roundFailed(e, before.failedInARow() + 1));
    }
    if (failedInARow == 0 && before.failedInARow() > 0) {
      report(() -> events.roundsSucceedAgain(before.failedInARow()));
    }
    long nanos = nanoTime.getAsLong() - began;
    long cpuNanos = cpuTime ? threads.getCurrentThreadCpuTime() - cpuBegan : 0;
    long failed = before.failed() + (failedInARow > 0 ? 1 : 0);
    counts = new RoundCost(failed, failedInARow, Math.max(0, cpuNanos));
    latencies.record(nanos);
    pause(nanos);
  }

  /** Sends a message to a receiver that may throw. */
  static void report(Runnable message) {
    try {
      message.run();
    } catch (RuntimeException | Error expected) {
      // The receiver of the message has failed; planning must go on, and a move that has been made
      // must count.
    }
  }

  private void pause(long roundNanos) {
    long full = interval.get().toNanos();
    long least = Math.min(full, Math.max(LEAST_PAUSE_NANOS, PAUSE_FACTOR * roundNanos));
    try {
      boolean unused =
          stopped.await(least, NANOSECONDS) || demand.tryAcquire(full - least, NANOSECONDS);
    } catch (InterruptedException expected) {
      // No stop interrupts it; at worst the next round is early.
    }
  }
}
