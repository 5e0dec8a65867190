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
 * The next force waits for these threads for a small part of the time that a force takes: otherwise
 * each of them would find a force under way that began without it, and would wait for two.
 *
 * <p>Thread safety: {@link #force} may be called by any number of threads.
 */
final class SharedForces {
  /** The system call that makes the file durable. */
  @FunctionalInterface
  interface Call {
    void force() throws IOException;
  }

  /** The part of a force's time that the next one waits at most for the threads of the last one. */
  private static final int PATIENCE_PART = 8;

  /**
   * Threads need longer than this to come back: after a force of less than 2 ms none is awaited.
   */
  private static final long LEAST_PATIENCE_NANOS = TimeUnit.MICROSECONDS.toNanos(250);

  /** Threads that share a force, which the first of them makes. */
  private static final class Group {
    /** Completes with the failure of the force, or with null. */
    final CompletableFuture<@Nullable Throwable> end = new CompletableFuture<>();

    /** How many there are; guarded by the lock of the class around it. */
    int threads;
  }

  private final LongUnaryOperator patience;

  /** Held while a force is under way. */
  private final Lock underWay = new ReentrantLock();

  private final Lock lock = new ReentrantLock();

  /** Signalled when as many threads wait for the next force as are expected. */
  private final Condition gathered = lock.newCondition();

  /** Those that wait for the next force, which has not begun; null if no thread does. */
  @GuardedBy("lock")
  private @Nullable Group next;

  /** How many threads had a force under way, or waited for one, when the last one ended. */
  @GuardedBy("lock")
  private int expected;

  @GuardedBy("lock")
  private long patientUntilNanos = System.nanoTime();

  SharedForces() {
    this(nanos -> nanos / PATIENCE_PART < LEAST_PATIENCE_NANOS ? 0 : nanos / PATIENCE_PART);
  }

  /**
   * As the other constructor, for tests.
   *
   * @param patience how long after a force the next one waits for threads, by how long it took
   */
  SharedForces(LongUnaryOperator patience) {
    this.patience = patience;
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
      close(group); // If a lock was not to be had.
      boolean unused = group.end.complete(failure);
    }
  }

  /** Waits for the threads of the last force, and closes the group: it has no more from now on. */
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
      lock.unlock();
      close(group);
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
