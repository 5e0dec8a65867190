package io.strata.kafka.migration.remote;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Lets reads fail late: a consumer repeats a failed fetch at once, and Kafka logs each failure with
 * its stack trace. The wait is on the thread of Kafka's that reads, of which it has ten by default
 * and other reads need some: so only a few calls wait at once, and others fail at once.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class LateFailures implements AutoCloseable {

  /** As many as wait at once. */
  static final int MOST = 4;

  /** After so long Kafka answers the consumer by itself (remote.fetch.max.wait.ms). */
  private static final Duration WAIT = Duration.ofMillis(500);

  private final Semaphore places = new Semaphore(MOST);
  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * Waits until a call that has failed has taken its time. An interrupt ends the wait, and the
   * thread stays interrupted.
   *
   * @param tookNanos how long the call has taken
   * @param limit of the call: the wait ends before half of it
   */
  void await(long tookNanos, Duration limit) {
    long left = Math.min(WAIT.toNanos(), limit.toNanos() / 2) - tookNanos;
    if (left <= 0 || !places.tryAcquire()) {
      return;
    }
    try {
      boolean unused = closed.await(left, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      places.release();
    }
  }

  /** Ends all waits. */
  @Override
  public void close() {
    closed.countDown();
  }
}
