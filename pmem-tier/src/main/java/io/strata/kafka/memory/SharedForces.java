package io.strata.kafka.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Forces of a whole file that threads share (group commit). A force covers what was stored before
 * it begins: while one is under way, the threads that come wait for the next one, which is one for
 * all of them.
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

  /** The next force, which has not begun and which a thread waits to begin; empty if none does. */
  @GuardedBy("this")
  private Optional<CompletableFuture<Boolean>> next = Optional.empty();

  /**
   * Forces all that was stored before this call, or waits for another thread's force of it. An
   * interrupt stays pending and ends neither.
   *
   * @throws IOException if that force fails
   */
  void force(Call call) throws IOException {
    CompletableFuture<Boolean> own = new CompletableFuture<>();
    Optional<CompletableFuture<Boolean>> shared = join(own);
    if (shared.isPresent()) {
      await(shared.get());
      return;
    }
    underWay.lock();
    try {
      begin();
      call.force();
    } catch (IOException | RuntimeException | Error e) {
      boolean unused = own.completeExceptionally(e);
      throw e;
    } finally {
      underWay.unlock();
    }
    boolean unused = own.complete(true);
  }

  /** Returns the force that waits to begin; if there is none, {@code own} is that from now on. */
  private synchronized Optional<CompletableFuture<Boolean>> join(CompletableFuture<Boolean> own) {
    Optional<CompletableFuture<Boolean>> waiting = next;
    if (waiting.isEmpty()) {
      next = Optional.of(own);
    }
    return waiting;
  }

  /** Begins the next force, which does not cover what is stored from now on. */
  private synchronized void begin() {
    next = Optional.empty();
  }

  private static void await(CompletableFuture<Boolean> force) throws IOException {
    try {
      boolean unused = force.join();
    } catch (CompletionException e) {
      throw new IOException("The force that this one shares has failed: " + e.getCause(), e);
    }
  }
}
