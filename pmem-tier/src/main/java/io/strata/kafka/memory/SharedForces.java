package io.strata.kafka.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Forces of a whole file that threads share (group commit). A force covers what was stored before
 * it begins: while one is under way, the threads that come wait for the next one, which is one for
 * all of them. None begins before the one under way has ended.
 *
 * <p>Thread safety: {@link #force} may be called by any number of threads.
 */
final class SharedForces {
  /** The system call that makes the file durable. */
  @FunctionalInterface
  interface Call {
    void force() throws IOException;
  }

  /** Held while a force is under way. */
  private final Lock underWay = new ReentrantLock();

  /**
   * The next force, which has not begun and which a thread waits to begin; null if none does. It
   * completes with its failure, or with null.
   */
  @GuardedBy("this")
  private @Nullable CompletableFuture<@Nullable Throwable> next;

  /**
   * Forces all that was stored before this call, or waits for another thread's force of it. An
   * interrupt stays pending and ends neither.
   *
   * @throws IOException if that force fails
   */
  void force(Call call) throws IOException {
    CompletableFuture<@Nullable Throwable> own = new CompletableFuture<>();
    CompletableFuture<@Nullable Throwable> joined = join(own);
    if (joined == own) {
      lead(own, call);
    } else {
      Throwable shared = joined.join();
      if (shared != null) {
        throw failed(shared);
      }
    }
  }

  private void lead(CompletableFuture<@Nullable Throwable> own, Call call) throws IOException {
    Throwable end = null;
    try {
      underWay.lock();
      try {
        begin(own);
        call.force();
      } finally {
        underWay.unlock();
      }
    } catch (IOException | RuntimeException | Error e) {
      end = e;
      throw e;
    } finally {
      begin(own); // If the lock was not to be had.
      boolean unused = own.complete(end);
    }
  }

  /** Returns the force that waits to begin: {@code own}, if there was none. */
  private synchronized CompletableFuture<@Nullable Throwable> join(
      CompletableFuture<@Nullable Throwable> own) {
    CompletableFuture<@Nullable Throwable> waiting = next == null ? own : next;
    next = waiting;
    return waiting;
  }

  /** Begins a force, which does not cover what is stored from now on. */
  private synchronized void begin(CompletableFuture<@Nullable Throwable> force) {
    if (next == force) {
      next = null;
    }
  }

  private static IOException failed(Throwable failure) {
    return new IOException("A force that this one waited for has failed: " + failure, failure);
  }
}
