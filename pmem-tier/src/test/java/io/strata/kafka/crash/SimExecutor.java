package io.strata.kafka.crash;

import io.strata.kafka.turns.Turns;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Background work that is done when the simulation says so, in its own thread. What is to be
 * repeated is done once each time that it is asked for.
 *
 * <p>Thread safety: none; a simulation has one thread.
 */
public final class SimExecutor extends AbstractExecutorService implements ScheduledExecutorService {

  private final Deque<Runnable> work = new ArrayDeque<>();
  private final List<Runnable> repeated = new ArrayList<>();
  private boolean shutdown;

  /** Does the oldest piece of work, if there is one. */
  public boolean runOne() {
    Runnable next = work.poll();
    if (next != null) {
      Turns.acquire(this);
      next.run();
    }
    return next != null;
  }

  /** Does all there is to do, and what comes of it. */
  public void runAll() {
    for (int i = 0; i < 1000 && runOne(); i++) {
      // Each may add more; one that fails again and again ends too.
    }
  }

  /** Does what is repeated, once. */
  public void runRepeated() {
    repeated.forEach(Runnable::run);
  }

  /** Does everything, what is repeated once, and what that has asked for. */
  public void settle() {
    runAll();
    runRepeated();
    runAll();
  }

  /** Forgets what has not been done, as a shutdown does that takes too long. */
  void forget() {
    work.clear();
  }

  @Override
  public void execute(Runnable command) {
    if (shutdown) {
      throw new RejectedExecutionException();
    }
    Turns.release(this);
    work.add(command);
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    execute(command);
    return new Never();
  }

  @Override
  public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable command, long initialDelay, long period, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable command, long initialDelay, long delay, TimeUnit unit) {
    repeated.add(command);
    return new Never();
  }

  @Override
  public void shutdown() {
    runAll();
    repeated.clear();
    shutdown = true;
  }

  @Override
  public List<Runnable> shutdownNow() {
    shutdown = true;
    work.clear();
    return List.of();
  }

  @Override
  public boolean isShutdown() {
    return shutdown;
  }

  @Override
  public boolean isTerminated() {
    return shutdown;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return shutdown;
  }

  /** What nobody asks for. */
  private static final class Never extends CompletableFuture<Void>
      implements ScheduledFuture<Void> {
    @Override
    public long getDelay(TimeUnit unit) {
      return 0;
    }

    @Override
    public int compareTo(Delayed other) {
      return 0;
    }
  }
}
