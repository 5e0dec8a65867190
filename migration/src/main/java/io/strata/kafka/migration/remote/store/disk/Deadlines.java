package io.strata.kafka.migration.remote.store.disk;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes calls that end in their time, whatever the file system does. The work runs on a thread of
 * this object's; when the time is over, or the caller is interrupted, the caller goes on and the
 * work is asked to stop; what it gives all the same is undone. A thread that hangs in the kernel
 * stays until the kernel lets it go; there are never more of them than the bound, and calls that
 * find all of them hanging fail in their time.
 *
 * <p>A thread that interrupts another one in a file channel waits until that one has left the
 * kernel: the JDK closes the channel before. So only a thread that has nothing else to do
 * interrupts a work's thread. An interrupt of the caller never reaches the files that the work has
 * open through another caller's call.
 */
public final class Deadlines implements AutoCloseable {

  /** No limit. */
  public static final Duration FOREVER = Duration.ofDays(3650);

  private static final long IDLE_SECONDS = 30;

  private final String name;
  private final int threads;
  private final ThreadFactory factory;
  private final Semaphore free;
  private final ThreadPoolExecutor executor;
  private final AtomicInteger stuck = new AtomicInteger();
  private final AtomicLong ended = new AtomicLong();

  /** The control that a piece of work asks between its steps. */
  @FunctionalInterface
  public interface Control {

    /** Has no deadline. */
    Control PATIENT = () -> false;

    /**
     * Returns whether the caller no longer waits for the result: the work is to stop and to clean
     * up.
     */
    boolean isCancelled();
  }

  /** Work that no control stops. */
  @FunctionalInterface
  public interface Plain<T> {
    T run() throws IOException, InterruptedException;
  }

  /** The work of one call. */
  @FunctionalInterface
  public interface Work<T> {
    /** Does it; the control says when the caller no longer waits. */
    T run(Control control) throws IOException, InterruptedException;

    /**
     * Undoes what was done, since the caller went on without the result. Each result goes one way:
     * a caller takes it, or this gets it, on a thread that no caller interrupts.
     */
    default void undo(T result) {}

    /**
     * Returns whether the work is interrupted when its caller goes on. Work that looks at its
     * control often enough does without: then nothing interrupts what it does to clean up.
     */
    default boolean isInterruptible() {
      return true;
    }
  }

  /** Work that no caller interrupts. */
  @FunctionalInterface
  public interface Uninterrupted<T> extends Work<T> {
    @Override
    default boolean isInterruptible() {
      return false;
    }
  }

  /**
   * With a bound.
   *
   * @param name begins the threads' names
   * @param threads how many calls may run at once, from 1
   */
  public Deadlines(String name, int threads, ThreadFactory factory) {
    this.name = name;
    this.threads = threads;
    this.factory = factory;
    free = new Semaphore(threads, true);
    AtomicInteger number = new AtomicInteger();
    executor =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE, // The semaphore is the bound; a thread may outlive its permit.
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> {
              Thread thread = factory.newThread(task);
              thread.setName(name + "-" + number.getAndIncrement());
              return thread;
            });
  }

  /** Calls that ran out of their time and have not come back. */
  public int stuck() {
    return stuck.get();
  }

  /**
   * Makes a call.
   *
   * @param what names it in messages: "copying orders-3@4711 to /ssd/a"
   * @param limit the longest it may take, waiting for a thread included
   * @throws TimeLimitException if it did not end in its time
   * @throws InterruptedException if the caller was interrupted, or the work was
   * @throws IOException what the work threw
   */
  public <T> T call(String what, Duration limit, Work<T> work)
      throws IOException, InterruptedException {
    long begun = System.nanoTime();
    Check tooLate =
        left -> {
          throw notBegun(what, limit);
        };
    acquire(what, limit, FOREVER, begun, false, tooLate);
    return await(what, limit, limit, begun, left -> {}, new Call<>(work));
  }

  /**
   * As {@link #call}, with a limit for the work alone: the wait for a thread does not count, while
   * the work of others comes back.
   *
   * @throws TimeLimitException if it did not end in its time, or none of the others did
   */
  public <T> T callInTurn(String what, Duration limit, Work<T> work)
      throws IOException, InterruptedException {
    acquire(what, limit, FOREVER, System.nanoTime(), true, left -> {});
    return await(what, limit, limit, System.nanoTime(), left -> {}, new Call<>(work));
  }

  /** Asks whether it is worth waiting on; throws if it is not, and the caller goes on with this. */
  @FunctionalInterface
  public interface Check {
    void run(Duration left) throws IOException, InterruptedException;
  }

  /**
   * Makes a call that may take its time while a check allows it.
   *
   * @param what names it in messages
   * @param patience the check is run each time that the work has not come back for so long
   * @param limit the longest that the caller waits; {@link #FOREVER} for no limit
   * @param isShort whether, while all threads are taken, it waits only while one of them comes back
   *     within that patience
   * @throws TimeLimitException if it has waited so long
   * @throws InterruptedException if the caller was interrupted, or the work was
   */
  public <T> T watch(
      String what, Duration patience, Duration limit, boolean isShort, Check check, Work<T> work)
      throws IOException, InterruptedException {
    long begun = System.nanoTime();
    acquire(what, patience, limit, begun, isShort, check);
    return await(what, patience, limit, begun, check, new Call<>(work));
  }

  /** Waits for a permit; if {@code inTurn}, only while the work of others comes back in time. */
  private void acquire(
      String what, Duration patience, Duration limit, long begun, boolean inTurn, Check check)
      throws IOException, InterruptedException {
    long before = ended.get();
    while (!free.tryAcquire(next(patience, limit, begun), TimeUnit.NANOSECONDS)) {
      check.run(left(what, limit, begun)); // A directory that is suspended is reported as such.
      long now = ended.get();
      if (inTurn && now == before) {
        throw notBegun(what, patience);
      }
      before = now;
    }
  }

  private TimeLimitException notBegun(String what, Duration patience) {
    return new TimeLimitException(
        """
        %s: not begun within %s ms: %s operations run, %s of them beyond their time; expected a \
        store that answers: look at its disks and mounts\
        """
            .formatted(what, patience.toMillis(), threads, stuck.get()));
  }

  /** Starts a call that has its permit, and waits for it. */
  private <T> T await(
      String what, Duration patience, Duration limit, long begun, Check check, Call<T> call)
      throws IOException, InterruptedException {
    start(call);
    boolean over = false;
    try {
      while (true) {
        try {
          T result = call.task.get(next(patience, limit, begun), TimeUnit.NANOSECONDS);
          over = true;
          return result;
        } catch (TimeoutException e) {
          check.run(left(what, limit, begun));
        }
      }
    } catch (ExecutionException e) {
      over = true;
      throw rethrown(what, e);
    } finally {
      if (!over) {
        call.cancel();
      }
    }
  }

  private static long next(Duration patience, Duration limit, long begun) {
    long left = limit.toNanos() - (System.nanoTime() - begun);
    return Math.max(1, Math.min(patience.toNanos(), left));
  }

  private static Duration left(String what, Duration limit, long begun) throws TimeLimitException {
    long left = limit.toNanos() - (System.nanoTime() - begun);
    if (left <= 0) {
      throw new TimeLimitException(
          """
          %s: not done within %d ms; it was asked to stop and can be tried again. If the store is \
          slower than that, raise the timeout (rsm.config.*.timeout.ms) or look at its file system\
          """
              .formatted(what, limit.toMillis()));
    }
    return Duration.ofNanos(left);
  }

  /**
   * Starts work without waiting for it, unless all threads are taken or none can be started. Drops
   * what the work throws.
   *
   * @return whether it was started
   */
  public boolean tryStart(Runnable work) {
    if (!free.tryAcquire()) {
      return false;
    }
    try {
      start(
          new Call<>(
              control -> {
                work.run();
                return true;
              }));
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      return false; // It is closed, or the JVM gets no thread.
    }
  }

  private void start(Call<?> call) {
    try {
      executor.execute(call);
    } catch (RuntimeException | Error e) {
      free.release();
      throw e;
    }
  }

  private static IOException rethrown(String what, ExecutionException e)
      throws InterruptedException {
    Throwable cause = e.getCause();
    if (cause instanceof InterruptedException interrupted) {
      throw interrupted;
    }
    if (cause instanceof UncheckedIOException unchecked) {
      return requireNonNull(unchecked.getCause());
    }
    if (cause instanceof IOException io) {
      return io;
    }
    if (cause instanceof RuntimeException runtime) {
      throw runtime;
    }
    if (cause instanceof VirtualMachineError error) {
      throw error;
    }
    return new IOException(what + ": " + cause, cause);
  }

  /** Begins no call any more; those under way are asked to stop, and not waited for. */
  @Override
  public void close() {
    executor.shutdown();
    Thread interrupting =
        factory.newThread(
            () -> {
              var unused = executor.shutdownNow();
            });
    interrupting.setName(name + "-close");
    interrupting.start();
  }

  /** One call. Its permit is given back when its work has ended, however late. */
  private final class Call<T> implements Runnable {
    private final Work<T> work;
    private final FutureTask<T> task;
    private volatile boolean cancelled;

    /** The work's result, until a caller takes it. */
    @GuardedBy("this")
    private Optional<T> result = Optional.empty();

    @GuardedBy("this")
    private boolean hasEnded;

    Call(Work<T> work) {
      this.work = work;
      task = new FutureTask<>(this::work);
    }

    private T work() throws IOException, InterruptedException {
      T made = work.run(() -> cancelled);
      synchronized (this) {
        result = Optional.of(made);
      }
      return made;
    }

    @Override
    public void run() {
      try {
        task.run();
      } finally {
        Optional<T> untaken = end();
        // An interrupt that came too late for this work is not the next one's.
        boolean unused = Thread.interrupted();
        try {
          untaken.ifPresent(work::undo);
        } finally {
          boolean unusedToo = Thread.interrupted();
          long unusedCount = ended.incrementAndGet();
          free.release();
        }
      }
    }

    private synchronized Optional<T> end() {
      hasEnded = true;
      if (!cancelled) {
        return Optional.empty();
      }
      stuck.decrementAndGet();
      return result;
    }

    /** Returns what nobody takes, if the work has ended. */
    private synchronized Optional<T> count() {
      cancelled = true;
      if (hasEnded) {
        return result;
      }
      stuck.incrementAndGet();
      return Optional.empty();
    }

    void cancel() {
      Optional<T> untaken = count();
      try {
        if (untaken.isPresent()) {
          executor.execute(() -> work.undo(untaken.get()));
        } else if (work.isInterruptible()) {
          executor.execute(
              () -> {
                boolean unused = task.cancel(true);
              });
        }
      } catch (RejectedExecutionException e) {
        // Closed: all that run are interrupted.
      }
    }
  }

  /** A call did not end in its time. It may be made again. */
  public static final class TimeLimitException extends IOException {
    private static final long serialVersionUID = 1L;

    public TimeLimitException(String message) {
      super(message);
    }
  }
}
