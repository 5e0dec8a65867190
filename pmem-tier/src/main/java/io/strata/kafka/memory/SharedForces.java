package io.strata.kafka.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Forces of a whole file that threads share (group commit). A force covers what was stored before
 * it begins: while one is under way, the threads that come wait for the next one, which is one for
 * all of them. None begins before the one under way has ended.
 *
 * <p>A thread whose force has ended may come back soon, with the next append of a produce request.
 * After a force that was not short the next one waits a little for these threads: otherwise each of
 * them would find a force under way that began without it, and would wait for two.
 *
 * <p>Thread safety: {@link #force} may be called by any number of threads.
 */
final class SharedForces {
  /** The system call that makes the file durable. */
  @FunctionalInterface
  interface Call {
    void force() throws IOException;
  }

  /** A force waits for threads for at most the last force's duration divided by this. */
  private static final int PATIENCE_DIVISOR = 8;

  /**
   * A shorter wait is useless: threads take about this long to come back. So no thread is awaited
   * after a force of less than 2 ms.
   */
  private static final long LEAST_PATIENCE_NANOS = TimeUnit.MICROSECONDS.toNanos(250);

  /** After a device that stood still threads may not come back at all. */
  private static final long MOST_PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Threads that share a force, which the first of them makes. */
  private static final class Group {
    /** Completes with the failure of the force, or with null. */
    final CompletableFuture<@Nullable Throwable> end = new CompletableFuture<>();

    /** The number of threads; guarded by the lock of the class around it. */
    int threads;
  }

  private final LongUnaryOperator patience;

  /** Held from when a leader begins to gather threads until its force has ended. */
  private final Lock underWay = new ReentrantLock();

  private final Lock lock = new ReentrantLock();

  /** Signalled when as many threads wait for the next force as are expected. */
  private final Condition gathered = lock.newCondition();

  /** The threads that wait for the next force, which has not begun; null if no thread does. */
  @GuardedBy("lock")
  private @Nullable Group next;

  /**
   * The number of threads that the next force waits for: those of the last one, and those that were
   * waiting when it ended.
   */
  @GuardedBy("lock")
  private int expected;

  @GuardedBy("lock")
  private long patientUntilNanos = System.nanoTime();

  SharedForces() {
    this(SharedForces::patience);
  }

  /** With another patience, for tests: how long to wait after a force that took so long, in ns. */
  SharedForces(LongUnaryOperator patience) {
    this.patience = patience;
  }

  /** Returns how long to wait, in nanoseconds, after a force that took {@code nanos}. */
  static long patience(long nanos) {
    long patience = nanos / PATIENCE_DIVISOR;
    return patience < LEAST_PATIENCE_NANOS ? 0 : Math.min(patience, MOST_PATIENCE_NANOS);
  }

  /**
   * Forces all that was stored before this call, or waits for another thread's force of it. An
   * interrupt stays pending and ends neither.
   *
   * @throws IOException if that force fails
   */
  void force(Call call) throws IOException {
    Group group;
    boolean isFirst;
    lock.lock();
    try {
      isFirst = next == null;
      group = next == null ? new Group() : next;
      next = group;
      group.threads++;
      if (group.threads >= expected) {
        gathered.signal();
      }
    } finally {
      lock.unlock();
    }
    if (isFirst) {
      lead(group, call);
    } else {
      Throwable shared = group.end.join();
      if (shared != null) {
        throw new IOException("A force that this one waited for has failed: " + shared, shared);
      }
    }
  }

  private void lead(Group group, Call call) throws IOException {
    Throwable failure = null;
    try {
      underWay.lock();
      try {
        gather(group);
        long began = System.nanoTime();
        try {
          call.force();
        } finally {
          ended(group, began);
        }
      } finally {
        underWay.unlock();
      }
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
      throw e;
    } finally {
      try {
        close(group); // If locking failed above.
      } finally {
        boolean unused = group.end.complete(failure);
      }
    }
  }

  /** Waits for the last force's threads, and closes the group: no thread joins it any more. */
  private void gather(Group group) {
    lock.lock();
    try {
      long left = patientUntilNanos - System.nanoTime();
      while (group.threads < expected && left > 0) {
        left = gathered.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close(group);
      lock.unlock();
    }
  }

  private void close(Group group) {
    lock.lock();
    try {
      if (next == group) {
        next = null;
      }
    } finally {
      lock.unlock();
    }
  }

  private void ended(Group group, long began) {
    lock.lock();
    try {
      long now = System.nanoTime();
      patientUntilNanos = now + patience.applyAsLong(now - began);
      expected = group.threads + (next == null ? 0 : next.threads);
    } finally {
      lock.unlock();
    }
  }
}
