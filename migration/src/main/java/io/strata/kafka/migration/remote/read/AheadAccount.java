package io.strata.kafka.migration.remote.read;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * What was read ahead and what came of it: how much of it was in vain lately says how far reading
 * ahead goes.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class AheadAccount {

  /** The newest chunk's weight in the share of those in vain. */
  private static final double WEIGHT = 1.0 / 16;

  /** The shares from which reading ahead goes half as far, a quarter as far and so on. */
  private static final double[] STEPS = {0.25, 0.5, 0.7, 0.8, 0.9};

  @GuardedBy("this")
  private long bytes;

  @GuardedBy("this")
  private long usedBytes;

  @GuardedBy("this")
  private long wastedBytes;

  @GuardedBy("this")
  private double inVain;

  synchronized void read(long more) {
    bytes += more;
  }

  synchronized void used(long more) {
    usedBytes += more;
    inVain -= inVain * WEIGHT;
  }

  /**
   * Left the cache unused.
   *
   * @param known whether it was reported to {@link #stale} before
   */
  synchronized void wasted(long more, boolean known) {
    wastedBytes += more;
    if (!known) {
      stale();
    }
  }

  /** Waits for its reader so long that it will hardly come. */
  synchronized void stale() {
    inVain += (1 - inVain) * WEIGHT;
  }

  /** How often the distance is to be halved: 0 while what is read ahead is used. */
  synchronized int halvings() {
    int halvings = 0;
    for (double step : STEPS) {
      halvings += inVain >= step ? 1 : 0;
    }
    return halvings;
  }

  synchronized ReadAheadStats stats() {
    return new ReadAheadStats(bytes, usedBytes, wastedBytes);
  }
}
