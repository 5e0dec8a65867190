package io.strata.kafka.migration;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.MigrationSettings.Mode;

/**
 * A tier and its marks, in bytes: above the high one segments begin to leave, at the low one they
 * cease.
 *
 * <p>In eager mode it is the dirty bytes that count, in threshold mode the used ones. What is not
 * worth a copy of active segments stays; no demand is ever made of it.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param usage the tier
 * @param measured those of its bytes that count
 * @param never whether nothing ever leaves for want of space
 * @param high above it a round begins
 * @param low at it a round ends
 * @param fill up to it promotion fills the tier
 */
record Marks(TierUsage usage, long measured, boolean never, long high, long low, long fill) {

  /** Promotion leaves this much free, so that an append's first extents need no eviction. */
  private static final double FILL_SHARE = 0.9;

  private static final double LEAST_DISTANCE = 0.05;

  static Marks of(MigrationSettings settings, Mode mode, TierUsage tier) {
    double threshold = settings.thresholds().get(tier.tier());
    long capacity = tier.capacityBytes();
    boolean never = threshold < 0;
    long high = never ? capacity : (long) (threshold * capacity);
    long low =
        never ? capacity : (long) (Math.max(0, threshold - settings.hysteresis()) * capacity);
    long fill = (long) (FILL_SHARE * capacity);
    if (mode == Mode.THRESHOLD && !never) {
      // Below the low mark by as much again: what has just left for it must not come back at once.
      double distance = Math.max(LEAST_DISTANCE, settings.hysteresis());
      fill = Math.min(fill, Math.max(0, low - (long) (distance * capacity)));
    }
    long measured = mode == Mode.THRESHOLD ? tier.usedBytes() : tier.dirtyBytes();
    return new Marks(tier, measured, never, high, low, settings.promote() ? fill : 0);
  }

  /**
   * Whether the tier is on its way down.
   *
   * @param before whether it was in the last round
   * @param canLeave whether it has anything that could leave
   */
  boolean draining(boolean before, boolean canLeave) {
    return !never && canLeave && measured > (before ? low : high);
  }

  /** Whether a segment has enough for a copy down: of one that grows, not each record is copied. */
  static boolean worthACopy(SegmentView segment, TierUsage tier) {
    return segment.active() ? segment.dirtyBytes() >= tier.leastCopyBytes() : !segment.clean();
  }

  /** Returns the bytes above the low mark that are not active. */
  long above() {
    return Math.max(0, measured - Math.max(low, usage.activeBytes()));
  }

  /** Returns the bytes that promotion may fill, with so many on their way there. */
  long spare(long arriving) {
    return Math.max(0, fill - usage.usedBytes() - arriving);
  }
}
