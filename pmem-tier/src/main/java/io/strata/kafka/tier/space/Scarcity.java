package io.strata.kafka.tier.space;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/**
 * How scarce the space for appends is in each tier, and which new segments are passed on by a tier
 * for it.
 *
 * <p>When more is appended for long than the log disks take, a pool that took every new segment
 * would be full within seconds. All appends would then wait for the log disk, until retention frees
 * the pool. So the log disk gets its part early: the scarcer the space, the more of the segments. A
 * segment that stays in the pool until retention deletes it is never written to the log disk, and
 * with a retention of k pools appends go on at about 1 / (1 - 1/k) of the log disk's speed, evenly.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class Scarcity {

  /**
   * Below this dirty share of a tier its space is not scarce. The larger it is, the more of the
   * pool a lasting overload uses, and the less even is its flow.
   */
  private static final double SCARCE_SHARE = 0.8;

  private final IntToDoubleFunction dirtyShare;
  private volatile List<Double> thresholds;

  /** For each tier, which part of a segment it has taken more than its share; below 1. */
  @GuardedBy("this")
  private final double[] ahead;

  /**
   * That of some tiers.
   *
   * @param thresholds as {@code strata.migration.threshold}, one for each tier
   * @param dirtyShare of a tier's space, from 0 to 1
   */
  Scarcity(List<Double> thresholds, IntToDoubleFunction dirtyShare) {
    this.dirtyShare = dirtyShare;
    this.thresholds = List.copyOf(thresholds);
    this.ahead = new double[thresholds.size()];
  }

  /** Works by other thresholds from now on. */
  public void thresholds(List<Double> now) {
    thresholds = List.copyOf(now);
  }

  /**
   * The scarcity of a tier's space: 0 until four fifths of the tier are dirty, or half of what is
   * above its threshold; 1 when all of it is. A threshold of 1 is none, as -1 is.
   */
  public double of(int tier) {
    double threshold = thresholds.get(tier);
    double begin = threshold >= 1 ? SCARCE_SHARE : Math.max(SCARCE_SHARE, (1 + threshold) / 2);
    return Math.max(0, (dirtyShare.applyAsDouble(tier) - begin) / (1 - begin));
  }

  /** Returns whether a tier passes on the next new segment: one of {@code 1 / scarcity} of them. */
  boolean passesOn(int tier) {
    double now = of(tier);
    synchronized (this) {
      ahead[tier] += now;
      boolean passes = ahead[tier] >= 1;
      ahead[tier] -= passes ? 1 : 0;
      return passes;
    }
  }
}
