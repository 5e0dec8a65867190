package io.strata.kafka.migration.plan;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.TierUsage;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

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

  /**
   * The last plan, by which the next round plans or does not. A plan looks at each segment and
   * sorts them; while nothing presses, that is done in proportion to their number, and a round
   * costs what has changed since the last.
   *
   * @param nanos when, by the clock for intervals
   */
  public record LastPlan(
      MigrationSettings by,
      long nanos,
      TieredSegments.State state,
      List<TierPlan> tiers,
      int moves) {

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

  /**
   * A move that the planner lets through.
   *
   * @param spaceBytes what it takes of a target tier's space; 0 for the log directories and for
   *     evictions
   * @param evictAfter whether the upper copy is evicted as soon as the lower one is durable
   * @param copiedBytes what has been copied of it, piece by piece
   */
  public record PlannedMove(
      Move move, Target target, long spaceBytes, boolean evictAfter, long copiedBytes) {

    /**
     * Where copies go, as far as failures are kept apart: one log directory, or a tier, on the way
     * down or up. A full disk holds up what goes to it, or comes from it, and nothing else.
     *
     * @param up whether it is for promotions
     * @param logDirectory the log directory that is the target, or that a promotion's segment is
     *     of; empty for a copy down to a tier
     */
    public record Target(boolean up, int tier, String logDirectory) {

      public static Target of(Move move, int logDirs) {
        return move.kind() == Move.Kind.PROMOTE
            ? new Target(true, move.toTier(), move.segment().logDirectory())
            : down(move.toTier(), logDirs, move.segment().logDirectory());
      }

      static Target down(int tier, int logDirs, String logDirectory) {
        return new Target(false, tier, tier == logDirs ? logDirectory : "");
      }
    }

    public PlannedMove(Move move, Target target, long spaceBytes, boolean evictAfter) {
      this(move, target, spaceBytes, evictAfter, 0);
    }

    /**
     * Returns what is left of a copy down after a piece of it, or of one with which an active
     * segment goes on in a pool; empty if that was the last one.
     */
    public Optional<PlannedMove> after(long pieceBytes) {
      long copied = copiedBytes + pieceBytes;
      boolean inPieces =
          move.kind() == Move.Kind.DESTAGE
              || (move.kind() == Move.Kind.PROMOTE && move.segment().active());
      return inPieces && pieceBytes > 0 && copied < move.segment().dirtyBytes()
          ? Optional.of(new PlannedMove(move, target, spaceBytes, evictAfter, copied))
          : Optional.empty();
    }

    public Move.Kind kind() {
      return move.kind();
    }

    public long id() {
      return move.segment().id();
    }
  }
}
