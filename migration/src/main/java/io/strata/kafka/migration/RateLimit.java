package io.strata.kafka.migration;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * One line a minute; counts what was held back.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
public final class RateLimit {
  private static final long MINUTE = 60_000_000_000L;

  private final LongSupplier nanoTime;
  private final AtomicLong next;
  private final AtomicLong heldBack = new AtomicLong();

  public RateLimit(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.next = new AtomicLong(nanoTime.getAsLong());
  }

  /** Writes a line if it is due, with how many were held back since the last; or holds it back. */
  public void ifDue(LongConsumer line) {
    long now = nanoTime.getAsLong();
    long due = next.get();
    if (now - due >= 0 && next.compareAndSet(due, now + MINUTE)) {
      line.accept(heldBack.getAndSet(0));
    } else {
      heldBack.incrementAndGet();
    }
  }
}
