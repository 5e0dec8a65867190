package io.strata.kafka.tier.moves;

import io.strata.kafka.api.TierUsage;
import java.util.List;
import java.util.OptionalLong;

/**
 * The sums of all segments at one moment.
 *
 * @param tiers one for each tier with pools, fastest first
 * @param hot segments that have a slot in a pool, spilled ones included
 * @param spilled of those, the ones whose tail is in the log file
 * @param spilling of those, the ones that Kafka appends to
 * @param refused segments that Kafka appends to and that are in their log files because they got no
 *     place in a pool
 */
public record TierFigures(List<OfTier> tiers, long hot, long spilled, long spilling, long refused) {

  /** Copies the list. */
  public TierFigures {
    tiers = List.copyOf(tiers);
  }

  /**
   * One tier.
   *
   * @param usage how full it is
   * @param oldestDirtyMillis how long ago the dirty segment was changed last that has been sealed
   *     for longest; empty if no sealed segment is dirty
   */
  public record OfTier(TierUsage usage, OptionalLong oldestDirtyMillis) {}
}
