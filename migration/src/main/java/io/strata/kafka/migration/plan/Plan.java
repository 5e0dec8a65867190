package io.strata.kafka.migration.plan;

import io.strata.kafka.api.Move;
import java.util.List;

/**
 * The result of one planning round.
 *
 * @param moves evictions, then copies down, then copies up; fairly shared
 * @param evictionOrder the clean segments that appends may evict, the first one first
 * @param tiers one for each tier with pools
 * @param directories how many log directories the segments are in, 1 at least
 * @param refused the policy's moves that were not allowed
 */
public record Plan(
    List<PlannedMove> moves,
    List<Long> evictionOrder,
    List<TierPlan> tiers,
    int directories,
    List<Refusal> refused) {

  /** Copies the lists. */
  public Plan {
    moves = List.copyOf(moves);
    evictionOrder = List.copyOf(evictionOrder);
    tiers = List.copyOf(tiers);
    refused = List.copyOf(refused);
  }

  /**
   * One tier's state.
   *
   * @param draining whether it is on its way down to its low mark
   * @param backlogBytes what is above that mark, moves under way included; 0 if not draining
   */
  public record TierPlan(boolean draining, long backlogBytes) {
    public static final TierPlan IDLE = new TierPlan(false, 0);
  }

  /** A move that is not allowed, and why. */
  public record Refusal(Move move, String reason) {}
}
