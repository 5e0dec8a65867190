package io.strata.kafka.metrics;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One value, kept for a moment: a hundred metrics of one JMX scrape come from the same moment and
 * cost one question.
 *
 * <p>Thread safety: safe for use by any number of threads; they wait for one another.
 */
final class Recent<T> implements Supplier<T> {

  private static final Duration KEPT = Duration.ofMillis(200);

  private final Supplier<T> source;
  private final LongSupplier nanoTime;

  @GuardedBy("this")
  private @Nullable T value;

  @GuardedBy("this")
  private long takenAt;

  Recent(Supplier<T> source, LongSupplier nanoTime) {
    this.source = source;
    this.nanoTime = nanoTime;
  }

  @Override
  public synchronized T get() {
    long now = nanoTime.getAsLong();
    T kept = value;
    if (kept == null || now - takenAt >= KEPT.toNanos()) {
      kept = source.get();
      value = kept;
      takenAt = now;
    }
    return kept;
  }
}
