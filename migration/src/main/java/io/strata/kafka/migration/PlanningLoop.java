package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * When rounds are made: in an interval, and sooner on demand, but never so often that planning
 * takes more than a tenth of a processor.
 *
 * <p>Thread safety: {@link #run} is for one thread; all else is safe for use by any number.
 */
final class PlanningLoop implements Runnable {

  private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** The pause after a round, in the time that the round took. */
  private static final long PAUSE_FACTOR = 9;

  /**
   * The cost of the rounds.
   *
   * <p>Immutable and safe for use by any thread.
   */
  record Counts(long failed, long failedInARow, long lastCpuNanos) {}

  private final LongSupplier nanoTime;
  private final EngineEvents events;
  private final Runnable round;
  private final Supplier<Duration> interval;

  private final AtomicBoolean demand = new AtomicBoolean();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private boolean stopped;

  private final LatencyWindow latencies;
  private volatile Counts counts = new Counts(0, 0, 0);
  private volatile List<Plan.TierPlan> tiers = List.of();

  /** With what it calls. */
  PlanningLoop(
      LongSupplier nanoTime, EngineEvents events, Runnable round, Supplier<Duration> interval) {
    this.nanoTime = nanoTime;
    this.events = events;
    this.round = round;
    this.interval = interval;
    this.latencies = new LatencyWindow(nanoTime);
  }

  /** Something happened that planning should not wait for. Nearly free when it is known already. */
  void wake() {
    if (!demand.get() && demand.compareAndSet(false, true)) {
      signal();
    }
  }

  void stop() {
    lock.lock();
    try {
      stopped = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void signal() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void run() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    boolean cpuTime = threads.isCurrentThreadCpuTimeSupported();
    while (!isStopped()) {
      demand.set(false);
      long began = nanoTime.getAsLong();
      long cpuBegan = cpuTime ? threads.getCurrentThreadCpuTime() : 0;
      boolean failed = false;
      long failedBefore = counts.failedInARow();
      try {
        round.run();
      } catch (RuntimeException | Error e) {
        // Also Error: a plugin's policy may be linked against what is not there.
        failed = true;
        report(() -> events.roundFailed(e, failedBefore + 1));
      }
      if (!failed && failedBefore > 0) {
        report(() -> events.roundsSucceedAgain(failedBefore));
      }
      long nanos = nanoTime.getAsLong() - began;
      count(failed, cpuTime ? threads.getCurrentThreadCpuTime() - cpuBegan : 0);
      latencies.record(nanos);
      pause(nanos);
    }
  }

  private static void report(Runnable message) {
    try {
      message.run();
    } catch (RuntimeException expected) {
      // There is nobody left to notify, and planning must go on.
    }
  }

  private void count(boolean failed, long cpuNanos) {
    Counts before = counts;
    counts =
        new Counts(
            before.failed() + (failed ? 1 : 0),
            failed ? before.failedInARow() + 1 : 0,
            Math.max(0, cpuNanos));
  }

  private void pause(long roundNanos) {
    long full = interval.get().toNanos();
    long least = Math.min(full, Math.max(LEAST_PAUSE_NANOS, PAUSE_FACTOR * roundNanos));
    lock.lock();
    try {
      long left = least;
      while (left > 0 && !stopped) {
        left = changed.awaitNanos(left);
      }
      left = full - least;
      while (left > 0 && !stopped && !demand.get()) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      // Nobody interrupts it to stop it; the next round is early, and that is all.
      demand.set(true);
    } finally {
      lock.unlock();
    }
  }

  private boolean isStopped() {
    lock.lock();
    try {
      return stopped;
    } finally {
      lock.unlock();
    }
  }

  Counts counts() {
    return counts;
  }

  /** How many rounds there were, and how long they took. */
  MigrationStats.Latency latency() {
    return latencies.latency();
  }

  /** The tiers as the last round saw them. */
  List<Plan.TierPlan> tiers() {
    return tiers;
  }

  void tiers(List<Plan.TierPlan> seen) {
    tiers = List.copyOf(seen);
  }
}
