package io.strata.kafka.migration;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.Plan.TierPlan;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Whether a round plans. A plan looks at each segment and sorts them; while nothing presses, that
 * is done in proportion to their number, and a round costs what has changed since the last.
 *
 * <p>Thread safety: used by one thread.
 */
final class PlanTrigger {

  /** After a plan without moves: 0.3 s with a thousand segments, half a minute with 100,000. */
  static final long PAUSE_NANOS_PER_SEGMENT = TimeUnit.MICROSECONDS.toNanos(300);

  /**
   * The last plan.
   *
   * @param by the settings it was made by
   * @param nanos when, by the clock for intervals
   * @param state what it was made from
   * @param tiers how the tiers were found
   * @param moves how many moves it had
   */
  record Planned(
      MigrationSettings by,
      long nanos,
      TieredSegments.State state,
      List<TierPlan> tiers,
      int moves) {}

  private Optional<Planned> last = Optional.empty();

  void planned(Planned plan) {
    last = Optional.of(plan);
  }

  /**
   * Whether a plan made now may have moves that the last one had not.
   *
   * @param certainly whether it may for a reason that only the caller knows: moves under way, or
   *     new settings
   */
  boolean isDue(boolean certainly, TieredSegments segments, BackOffs backOffs, long nanos) {
    if (certainly || last.isEmpty()) {
      return true;
    }
    Planned before = last.get();
    return before.moves() > 0
        || nanos - before.nanos() >= PAUSE_NANOS_PER_SEGMENT * before.state().segments().size()
        || backOffs.endedSince(before.nanos())
        || presses(before, segments.usages());
  }

  /** Whether a tier is above a mark, and not just as the last plan has found it. */
  private static boolean presses(Planned before, List<TierUsage> usages) {
    for (TierUsage usage : usages) {
      int tier = usage.tier();
      if (!usage.equals(before.state().tiers().get(tier))) {
        MigrationSettings.Mode mode = before.by().modeOf(tier, before.state().relocates());
        Marks marks = Marks.of(before.by(), mode, usage);
        long measured = Marks.measured(mode, usage);
        if (marks.draining(before.tiers().get(tier).draining(), measured, true)
            && marks.above(measured, usage.activeBytes()) > 0) {
          return true;
        }
      }
    }
    return false;
  }
}
