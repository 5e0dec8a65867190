package io.strata.kafka.bench.load;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The start of a phase, and what ends it early; shared by the clients of a group. */
final class Stops {
  /** Longer waits are interrupted by this, to notice a stop. */
  private static final long LONGEST_PARK = TimeUnit.MILLISECONDS.toNanos(50);

  private final CountDownLatch started = new CountDownLatch(1);
  private volatile long startNanos;
  private volatile boolean stopped;
  private volatile boolean producersEnded;

  /** Lets the clients go at a time by nanoTime. */
  void startAt(long nanos) {
    startNanos = nanos;
    started.countDown();
  }

  void stop() {
    stopped = true;
    started.countDown();
  }

  boolean isStopped() {
    return stopped;
  }

  /** Says to consumers that the end of the log does not move any more. */
  void producersEnded() {
    producersEnded = true;
  }

  boolean haveProducersEnded() {
    return producersEnded;
  }

  /** Waits for the start of a group, so long after the phase's; returns its time by nanoTime. */
  long awaitStart(double seconds) throws InterruptedException {
    started.await();
    long start = startNanos + Math.round(seconds * TimeUnit.SECONDS.toNanos(1));
    await(start);
    return start;
  }

  /** Waits for a time by nanoTime, or a stop. */
  void await(long nanos) {
    long left = nanos - System.nanoTime();
    while (left > 0 && !stopped) {
      LockSupport.parkNanos(Math.min(left, LONGEST_PARK));
      left = nanos - System.nanoTime();
    }
  }
}
