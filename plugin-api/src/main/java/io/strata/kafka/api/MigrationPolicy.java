package io.strata.kafka.api;

import java.util.Comparator;
import java.util.List;

/**
 * Decides which segments move: a pure function of a snapshot.
 *
 * <p>The engine calls {@link #plan} about once a second, sooner when space runs short, and more
 * seldom where there are many segments and nothing has moved: 1 ms for each. It carries out what is
 * returned, in the order of the list, as far as limits allow. Moves that are left over are
 * forgotten: the next round begins with a new snapshot. A policy therefore needs no memory, no
 * clock and no thread, and must have none: the same snapshot always gives the same moves.
 *
 * <p>The engine sees to everything that keeps data safe and the broker undisturbed: it refuses a
 * move of an active segment into another pool, to a tier without space, or of a segment that
 * already moves; it limits threads and bytes per second, applies the marks (the high one begins,
 * the low one ends; see {@link TierUsage#excessBytes}), shares threads between log directories,
 * verifies copies and tries failed ones again. Pinned topics never reach a policy as candidates to
 * leave, nor excluded ones to come. The worst that a policy can do is to move too much or too
 * little.
 *
 * <p>Eviction to make space happens on the path of an append and asks no policy; it follows {@link
 * #evictionOrder}.
 *
 * <p>To add one: implement {@link MigrationPolicyProvider}, name it in {@code
 * META-INF/services/io.strata.kafka.api.MigrationPolicyProvider} of a jar, put the jar on the
 * broker's class path, and set {@code strata.migration.policy} to its name.
 *
 * <p>Thread safety: called by one thread at a time, not always the same; immutable implementations
 * are best.
 */
public interface MigrationPolicy {

  /**
   * The moves that are to be made now.
   *
   * @param snapshot all tiers and the segments that may move
   * @return moves, the most urgent first; at most one for each segment; empty when nothing is to be
   *     done. A move that is not allowed is dropped and counted. If this throws, nothing moves in
   *     this round, and the log says so.
   */
  List<Move> plan(TierSnapshot snapshot);

  /**
   * Orders the clean segments to evict when an append needs their space: the least is first. A
   * promotion for which there is no free space has those evicted that come before the promoted
   * segment, and no other. Must be a total order that looks at the segments alone; by default those
   * go first that were changed longest ago.
   */
  default Comparator<SegmentView> evictionOrder() {
    return Comparator.comparingLong(SegmentView::changedMillis)
        .thenComparingLong(SegmentView::createdMillis)
        .thenComparingLong(SegmentView::id);
  }
}
