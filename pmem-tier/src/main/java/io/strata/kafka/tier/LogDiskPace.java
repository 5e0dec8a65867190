package io.strata.kafka.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;

/**
 * Shares the disk of one log directory between appends and copies, by what both of them measure:
 * nothing is known of the device.
 *
 * <p>Appends that <em>spill</em> come first. The time that they take is how many of them are under
 * way on average; copies get what is missing to one. When there is always one the disk has no time
 * left: a copy would only take it from an append, and what is never copied is deleted from the pool
 * in the end without having been written at all.
 *
 * <p>Appends to the pool <em>press</em> while they bring more than all copies together take. Then
 * copies wait until space becomes scarce, and catch up when appends are slower again.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class LogDiskPace {

  /** The time over which rates are averaged, and the longest rest. */
  private static final long AVERAGED_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** The working time over which the speed of copies is averaged: several of them. */
  private static final long COPIED_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** A shorter rest is put off. */
  private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** What a copy takes at once while it shares the disk: the force at its end is short. */
  private static final long SHORT_PIECE_BYTES = 4 << 20;

  /** A clock, and a way to wait by it. */
  interface Time {
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

  @GuardedBy("this")
  private long sampledNanos;

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

  /** Copies that are under way and do not rest. */
  @GuardedBy("this")
  private int working;

  /** Until when {@link #workedNanos} counts. */
  @GuardedBy("this")
  private long workedUntil;

  /** For how long at least one copy has worked since the last one ended. */
  @GuardedBy("this")
  private long workedNanos;

  /** Bytes of the last copies that ended. */
  @GuardedBy("this")
  private double copiedBytes;

  /** For how long at least one of them worked. */
  @GuardedBy("this")
  private double copiedNanos;

  LogDiskPace(Time time) {
    this.time = time;
    this.sampledNanos = time.nanos();
  }

  /** The time by which copies rest. */
  long nanos() {
    return time.nanos();
  }

  /**
   * An append has ended.
   *
   * @param nanos how long it took
   * @param spilled whether it went to the log directory
   */
  void appended(long bytes, long nanos, boolean spilled) {
    if (spilled) {
      spillNanos.add(nanos);
    } else {
      pooledBytes.add(bytes);
    }
  }

  /**
   * The part of its time that a copy may use, from 0 to 1.
   *
   * @param scarcity of the space for appends: 0 when there is enough, 1 when there is none; asked
   *     only while appends press
   */
  double share(DoubleSupplier scarcity) {
    double left;
    boolean presses;
    synchronized (this) {
      sample();
      left = Math.max(0, 1 - spilling);
      double second = TimeUnit.SECONDS.toNanos(1);
      presses = copiedNanos > 0 && pooled * copiedNanos > copiedBytes * second;
    }
    return presses ? Math.min(left, scarcity.getAsDouble()) : left;
  }

  @GuardedBy("this")
  private void sample() {
    long now = time.nanos();
    long elapsed = now - sampledNanos;
    if (elapsed < SAMPLE_NANOS) {
      return;
    }
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

  /** A copy begins to work, or goes on after a rest. */
  synchronized void works() {
    countWork();
    working++;
  }

  /** A copy rests, waits for something else than the disk, or has ended. */
  synchronized void rests() {
    countWork();
    working--;
  }

  @GuardedBy("this")
  private void countWork() {
    long now = time.nanos();
    if (working > 0) {
      workedNanos += now - workedUntil;
    }
    workedUntil = now;
  }

  /** A copy that still works has so many bytes in the log file, durably. */
  synchronized void copied(long bytes) {
    countWork();
    double kept = 1 - Math.min(1, (double) workedNanos / COPIED_NANOS);
    copiedBytes = kept * copiedBytes + bytes;
    copiedNanos = kept * copiedNanos + workedNanos;
    workedNanos = 0;
  }

  /** How much a copy should take at once, of so many bytes that it may. */
  long pieceBytes(long most, DoubleSupplier scarcity) {
    return share(scarcity) < 1 ? Math.min(most, SHORT_PIECE_BYTES) : most;
  }

  /**
   * Waits until a copy that has worked for a time may go on; for a second at most, so that it comes
   * to its end.
   *
   * @param stopped ends the wait soon
   * @return how long it waited, in nanoseconds
   */
  long rest(long worked, DoubleSupplier scarcity, BooleanSupplier stopped)
      throws InterruptedException {
    long began = time.nanos();
    long rested = 0;
    while (rested < AVERAGED_NANOS && !stopped.getAsBoolean()) {
      double share = share(scarcity);
      double left = worked * (1 - share) - rested * share;
      if (left <= LEAST_NANOS * share) {
        break;
      }
      double needed = Math.max((double) LEAST_NANOS, left / share);
      rests();
      try {
        time.sleep((long) Math.min((double) STEP_NANOS, needed));
      } finally {
        works();
      }
      rested = time.nanos() - began;
    }
    return rested;
  }
}
