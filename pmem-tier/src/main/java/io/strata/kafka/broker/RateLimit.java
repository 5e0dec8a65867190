package io.strata.kafka.broker;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * One line a minute; counts what was held back.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class RateLimit {
  private static final long MINUTE = 60_000_000_000L;

  private final LongSupplier nanoTime;
  private final AtomicLong next;
  private final AtomicLong heldBack = new AtomicLong();

  RateLimit(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.next = new AtomicLong(nanoTime.getAsLong());
  }

  /** How many were held back since the last line; -1 when this one is held back, too. */
  long take() {
    long now = nanoTime.getAsLong();
    long due = next.get();
    if (now - due >= 0 && next.compareAndSet(due, now + MINUTE)) {
      return heldBack.getAndSet(0);
    }
    heldBack.incrementAndGet();
    return -1;
  }
}
