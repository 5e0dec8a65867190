package io.strata.kafka.tier.spec;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;

/**
 * Shares the time of one log directory's disk, not its space, between appends and copies, by what
 * both of them measure: nothing is known of the device.
 *
 * <p>Appends that <em>spill</em> come first. The time that they take is how many of them are under
 * way on average; copies get what is missing to one. When there is always one the disk has no time
 * left: a copy would only take it from an append, and what is never copied is deleted from the pool
 * in the end without having been written at all.
 *
 * <p>Appends to the pool <em>press</em> while they bring more than copies take. Then copies wait
 * until space becomes scarce, and catch up when appends are slower again.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class LogDiskPace {

  /** The time over which rates are averaged, and the longest rest. */
  private static final long AVERAGED_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final double WEIGHT_OF_EARLIER = 0.875;

  /** A shorter rest is put off. */
  private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /**
   * The bytes that a copy takes at once while it shares the disk: the force at its end is short.
   */
  private static final long SHORT_PIECE_BYTES = 4 << 20;

  /** A clock, and a way to wait by it. */
  public interface Time {
    /** The system's. */
    Time SYSTEM =
        new Time() {
          @Override
          public long nanos() {
            return System.nanoTime();
          }

          @Override
          public void sleep(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
          }
        };

    long nanos();

    void sleep(long nanos) throws InterruptedException;
  }

  private final Time time;
  private final LongAdder spillNanos = new LongAdder();
  private final LongAdder pooledBytes = new LongAdder();

  /** When the rates were last averaged; written under the lock. */
  private volatile long sampledNanos;

  @GuardedBy("this")
  private long seenSpillNanos;

  @GuardedBy("this")
  private long seenPooledBytes;

  /** Spilling appends that are under way, on average. */
  @GuardedBy("this")
  private double spilling;

  /** Bytes per second that are appended to the pools. */
  @GuardedBy("this")
  private double pooled;

  /** Bytes of the last copies, each with less weight than the next. */
  @GuardedBy("this")
  private double copiedBytes;

  /** The time in which one or more of these copies worked, by the same weights. */
  @GuardedBy("this")
  private double copyingNanos;

  /** When the last copy ended. */
  @GuardedBy("this")
  private long copyEnded;

  public LogDiskPace(Time time) {
    this.time = time;
    this.sampledNanos = time.nanos();
    this.copyEnded = sampledNanos;
  }

  /** The time by which copies rest. */
  public long nanos() {
    return time.nanos();
  }

  /**
   * An append has ended.
   *
   * @param nanos how long it took
   * @param ended when, by the clock
   * @param spilled whether it went to the log directory
   */
  public void appended(long bytes, long nanos, long ended, boolean spilled) {
    if (spilled) {
      spillNanos.add(nanos);
    } else {
      pooledBytes.add(bytes);
    }
    // So that the first copy of a burst finds what presses.
    if (isSampleDue(ended)) {
      synchronized (this) {
        sample();
      }
    }
  }

  private boolean isSampleDue(long now) {
    return now - sampledNanos >= SAMPLE_NANOS;
  }

  /**
   * The part of its time that a copy may use, from 0 to 1.
   *
   * @param scarcity of the space for appends: 0 when there is enough, 1 when there is none
   */
  synchronized double share(double scarcity) {
    sample();
    double left = Math.max(0, 1 - spilling);
    boolean presses =
        copyingNanos > 0 && pooled > copiedBytes * TimeUnit.SECONDS.toNanos(1) / copyingNanos;
    return presses ? Math.min(left, scarcity) : left;
  }

  @GuardedBy("this")
  private void sample() {
    long now = time.nanos();
    if (!isSampleDue(now)) {
      return;
    }
    long elapsed = now - sampledNanos;
    double weight = Math.min(1, (double) elapsed / AVERAGED_NANOS);
    long spills = spillNanos.sum();
    long bytes = pooledBytes.sum();
    double perSecond = (double) TimeUnit.SECONDS.toNanos(1) / elapsed;
    spilling += weight * ((double) (spills - seenSpillNanos) / elapsed - spilling);
    pooled += weight * ((bytes - seenPooledBytes) * perSecond - pooled);
    sampledNanos = now;
    seenSpillNanos = spills;
    seenPooledBytes = bytes;
  }

  /**
   * A copy has come to its end in so much time, without its rests. Several share the disk: what
   * counts is their bytes together, in the time since the one before has ended.
   */
  public synchronized void copied(long bytes, long nanos) {
    long now = time.nanos();
    if (bytes > 0 && nanos > 0) {
      copiedBytes = copiedBytes * WEIGHT_OF_EARLIER + bytes;
      copyingNanos = copyingNanos * WEIGHT_OF_EARLIER + Math.min(nanos, now - copyEnded);
      copyEnded = now;
    }
  }

  /** Returns how much a copy should take at once, of so many bytes that it may. */
  public long pieceBytes(long most, double scarcity) {
    return share(scarcity) < 1 ? Math.min(most, SHORT_PIECE_BYTES) : most;
  }

  /**
   * Waits until a copy that has worked for a time may go on; for a second at most, so that it comes
   * to its end.
   *
   * @param stopped ends the wait soon
   * @return how long it waited, in nanoseconds
   */
  public long rest(long workedNanos, DoubleSupplier scarcity, BooleanSupplier stopped)
      throws InterruptedException {
    long began = time.nanos();
    long rested = 0;
    while (rested < AVERAGED_NANOS && !stopped.getAsBoolean()) {
      double share = share(scarcity.getAsDouble());
      double left = workedNanos * (1 - share) - rested * share;
      if (left < LEAST_NANOS * share) {
        break;
      }
      double needed = Math.max((double) LEAST_NANOS, left / share);
      time.sleep((long) Math.min((double) STEP_NANOS, needed));
      rested = time.nanos() - began;
    }
    return rested;
  }
}
