package io.strata.kafka.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Forces a medium as a whole, once for all who ask at the same time: a group commit. One thread
 * forces; whoever comes meanwhile waits, and the next force serves all who waited. A force that had
 * begun before somebody asked does not serve that one: it may have passed by what was stored just
 * before.
 *
 * <p>A failed force fails all later ones, too: the kernel reports a failure once.
 *
 * <p>Thread safety: all methods may be called by any number of threads. An interrupt does not end a
 * wait, and stays pending.
 *
 * @param <M> what is forced
 */
final class SharedForce<M> implements WriteBack.Force<M> {

  /** The system call that makes all of a medium durable. */
  @FunctionalInterface
  interface WholeForce<M> {
    void force(M medium) throws IOException;
  }

  private final WholeForce<M> force;

  /** How many have asked. */
  private final AtomicLong asked = new AtomicLong();

  private final ReentrantLock forcing = new ReentrantLock();

  /** So many of those who asked have been served. */
  @GuardedBy("forcing")
  private long served;

  @GuardedBy("forcing")
  private Optional<IOException> failure = Optional.empty();

  SharedForce(WholeForce<M> force) {
    this.force = force;
  }

  /** {@inheritDoc} The range does not matter. */
  @Override
  public void force(M medium, long position, long length) throws IOException {
    long mine = asked.incrementAndGet();
    forcing.lock();
    try {
      if (served < mine) {
        forceForAll(medium);
      }
    } finally {
      forcing.unlock();
    }
  }

  @GuardedBy("forcing")
  private void forceForAll(M medium) throws IOException {
    if (failure.isPresent()) {
      throw new IOException("an earlier force failed: " + failure.get(), failure.get());
    }
    long all = asked.get();
    try {
      force.force(medium);
    } catch (IOException e) {
      failure = Optional.of(e);
      throw e;
    }
    served = all;
  }
}
