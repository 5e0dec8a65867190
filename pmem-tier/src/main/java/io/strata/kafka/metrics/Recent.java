package io.strata.kafka.metrics;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One value, kept for a moment: a hundred metrics of one scrape are of the same moment and cost one
 * sample. It is kept for 200 ms at least, and for twenty times as long as it took to take: however
 * many segments a sample counts and however many readers there are, they use at most a twentieth of
 * one processor. A failure is kept in the same way.
 *
 * <p>Thread safety: safe for use by any number of threads; they wait for one another.
 */
final class Recent<T> implements Supplier<T> {

  private static final long KEPT_NANOS = Duration.ofMillis(200).toNanos();
  private static final long KEPT_FACTOR = 20;

  private final Supplier<T> source;
  private final LongSupplier nanoTime;

  @GuardedBy("this")
  private @Nullable Supplier<T> outcome;

  @GuardedBy("this")
  private long expires;

  Recent(Supplier<T> source, LongSupplier nanoTime) {
    this.source = source;
    this.nanoTime = nanoTime;
  }

  /** The value; throws IllegalStateException if it could not be taken. */
  @Override
  public T get() {
    return outcome().get();
  }

  private synchronized Supplier<T> outcome() {
    long began = nanoTime.getAsLong();
    Supplier<T> kept = outcome;
    if (kept == null || began - expires >= 0) {
      kept = take();
      outcome = kept;
      long now = nanoTime.getAsLong();
      expires = now + Math.max(KEPT_NANOS, KEPT_FACTOR * (now - began));
    }
    return kept;
  }

  private Supplier<T> take() {
    try {
      T taken = source.get();
      return () -> taken;
    } catch (RuntimeException | LinkageError e) {
      return () -> {
        throw new IllegalStateException("no sample could be taken", e);
      };
    }
  }
}
