package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.remote.calls.TimeLimitException;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The time that one fetch may take: all of its reads together, and not what Kafka does between
 * them.
 *
 * <p>Thread safety: begun and ended by one thread; others may ask what is left.
 */
final class FetchTime {

  private final Duration whole;
  private final LongSupplier nanoTime;
  private volatile long end;
  private long left;

  FetchTime(Duration whole, LongSupplier nanoTime) {
    this.whole = whole;
    this.nanoTime = nanoTime;
    left = whole.toNanos();
  }

  /** A read begins. */
  void begin() {
    end = nanoTime.getAsLong() + left;
  }

  /** The read has ended. */
  void end() {
    left = end - nanoTime.getAsLong();
  }

  boolean isOver() {
    return end - nanoTime.getAsLong() <= 0;
  }

  /**
   * Returns what is left, more than nothing.
   *
   * @param place what is read, for the message
   * @throws TimeLimitException if it is over
   */
  Duration left(Located place) throws TimeLimitException {
    long now = end - nanoTime.getAsLong();
    if (now <= 0) {
      throw late(place);
    }
    return Duration.ofNanos(now);
  }

  TimeLimitException late(Located place) {
    return new TimeLimitException(
        """
        %s: not read within %d ms; it can be tried again. If the store is slower than that, raise \
        rsm.config.fetch.timeout.ms or look at its file system\
        """
            .formatted(StoreReads.describe(place), whole.toMillis()));
  }
}
