package io.strata.kafka.migration.plan;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.plan.Plan.TierPlan;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The last plan, by which the next round plans or does not. A plan looks at each segment and sorts
 * them; while nothing presses, that is done in proportion to their number, and a round costs what
 * has changed since the last.
 *
 * @param by the settings it was made by
 * @param nanos when, by the clock for intervals
 * @param moves how many it had
 */
public record LastPlan(
    MigrationSettings by, long nanos, TieredSegments.State state, List<TierPlan> tiers, int moves) {

  /** After a plan without moves: a second with a thousand segments, 100 s with 100,000. */
  static final long PAUSE_NANOS_PER_SEGMENT = TimeUnit.MILLISECONDS.toNanos(1);

  /** Returns whether a plan made now may have moves that this one had not. */
  public boolean isOutdated(TieredSegments segments, BackOffs backOffs, long now) {
    return moves > 0
        || now - nanos >= PAUSE_NANOS_PER_SEGMENT * state.segments().size()
        || backOffs.endedSince(nanos)
        || segments.usages().stream().anyMatch(this::presses);
  }

  /** Returns whether a tier is above a mark, and not just as this plan has found it. */
  private boolean presses(TierUsage usage) {
    TierPlan before = tiers.get(usage.tier());
    PlannedTier tier = new PlannedTier(by, state.relocates(), usage);
    return !usage.equals(state.tiers().get(usage.tier()))
        && tier.measure(before.draining(), true).backlogBytes() > 0;
  }
}
