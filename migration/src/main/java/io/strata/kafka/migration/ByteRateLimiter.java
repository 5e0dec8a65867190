package io.strata.kafka.migration;

import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Lets so many bytes pass in a second, all threads together. The rate can be changed while threads
 * wait.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
public final class ByteRateLimiter {

  /** Bucket4j refills one token in a nanosecond at most; above 1 GB/s a token is a KiB. */
  private static final long FINEST_RATE = TimeUnit.SECONDS.toNanos(1);

  private static final long COARSE_UNIT = 1024;

  /** The bytes that may pass at once: a tenth of a second's, so that a pause is not made up for. */
  private static final int BURSTS_PER_SECOND = 10;

  private static final long SMALLEST_BURST_BYTES = 64 << 10;

  /** A wait looks so often whether it was cancelled, however low the rate. */
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** A bucket, and how many bytes a token is. */
  private record Limit(Bucket bucket, long unit, long capacity) {}

  private final LongSupplier nanoTime;
  private volatile Optional<Limit> limit = Optional.empty();

  /** Without a limit. */
  public ByteRateLimiter(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Sets the rate; 0 for no limit. */
  public void setRate(long bytesPerSecond) {
    limit = bytesPerSecond == 0 ? Optional.empty() : Optional.of(limit(bytesPerSecond));
    wakeAll();
  }

  private Limit limit(long bytesPerSecond) {
    long unit = bytesPerSecond > FINEST_RATE ? COARSE_UNIT : 1;
    long tokens = Math.min(FINEST_RATE, bytesPerSecond / unit);
    long capacity = Math.max(SMALLEST_BURST_BYTES / unit, tokens / BURSTS_PER_SECOND);
    Bucket bucket =
        Bucket.builder()
            .addLimit(
                bandwidth ->
                    bandwidth.capacity(capacity).refillGreedy(tokens, Duration.ofSeconds(1)))
            .withCustomTimePrecision(
                new TimeMeter() {
                  @Override
                  public long currentTimeNanos() {
                    return nanoTime.getAsLong();
                  }

                  @Override
                  public boolean isWallClockBased() {
                    return false;
                  }
                })
            .build();
    return new Limit(bucket, unit, capacity);
  }

  /** Has all waiting threads look again, at the rate and at whether they are still to wait. */
  public synchronized void wakeAll() {
    notifyAll();
  }

  /**
   * Waits until {@code bytes} may pass.
   *
   * @param cancelled ends the wait; at once if {@link #wakeAll} follows, otherwise soon
   */
  public void acquire(long bytes, BooleanSupplier cancelled) throws InterruptedException {
    long left = bytes;
    while (left > 0 && !cancelled.getAsBoolean()) {
      Optional<Limit> current = limit;
      if (current.isEmpty()) {
        return;
      }
      Limit now = current.get();
      long piece = Math.min(left, now.capacity() * now.unit());
      ConsumptionProbe probe =
          now.bucket().tryConsumeAndReturnRemaining((piece + now.unit() - 1) / now.unit());
      if (probe.isConsumed()) {
        left -= piece;
      } else {
        await(current, probe.getNanosToWaitForRefill(), cancelled);
      }
    }
  }

  private synchronized void await(Optional<Limit> waitedFor, long nanos, BooleanSupplier cancelled)
      throws InterruptedException {
    long end = System.nanoTime() + Math.min(nanos, LONGEST_WAIT_NANOS);
    long left = end - System.nanoTime();
    while (left > 0 && waitedFor.equals(limit) && !cancelled.getAsBoolean()) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = end - System.nanoTime();
    }
  }
}
