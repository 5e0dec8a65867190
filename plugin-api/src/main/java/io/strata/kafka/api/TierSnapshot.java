package io.strata.kafka.api;

import java.util.List;

/**
 * All tiers and segments at one moment: what a {@link MigrationPolicy} decides by.
 *
 * <p>Only segments are listed that may be in a pool at all (by {@code strata.topics.include} and
 * {@code .exclude}), that are neither pinned nor excluded from migration, and that can be moved
 * now: no move of them is under way, and they do not wait after a failed one. The usages count all.
 * They were taken first and the segments one after another, while the broker was running: sums may
 * differ by what happened meanwhile.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param nowMillis the time of the snapshot, in milliseconds since the epoch
 * @param tiers the tiers that have pools, fastest first; {@code tiers.get(i).tier()} is {@code i}
 * @param segments the segments, in no particular order
 */
public record TierSnapshot(long nowMillis, List<TierUsage> tiers, List<SegmentView> segments) {

  /**
   * Copies the lists.
   *
   * @throws IllegalArgumentException if the tiers are not numbered by their order
   */
  public TierSnapshot {
    tiers = List.copyOf(tiers);
    segments = List.copyOf(segments);
    for (int i = 0; i < tiers.size(); i++) {
      if (tiers.get(i).tier() != i) {
        throw new IllegalArgumentException(
            "tier " + tiers.get(i).name() + ": number " + tiers.get(i).tier() + ", expected " + i);
      }
    }
  }

  /** The number of the tier {@code logdirs}: one more than that of the last tier with a pool. */
  public int logDirs() {
    return tiers.size();
  }
}
