package io.strata.kafka.migration.plan;

import io.strata.kafka.api.Move;
import java.util.Optional;

/**
 * A move that the planner lets through.
 *
 * @param move what is done
 * @param target where it goes to
 * @param spaceBytes what it takes of a target tier's space; 0 for the log directories and for
 *     evictions
 * @param evictAfter whether the upper copy is evicted as soon as the lower one is durable
 * @param copiedBytes what has been copied of it, piece by piece
 */
public record PlannedMove(
    Move move, Target target, long spaceBytes, boolean evictAfter, long copiedBytes) {

  /**
   * Where copies go, as far as failures are kept apart: one log directory, or a tier, on the way
   * down or up. A full disk holds up what goes to it and nothing else.
   *
   * @param up whether it is for promotions
   * @param tier its number
   * @param logDirectory the log directory where the target is one; otherwise empty
   */
  public record Target(boolean up, int tier, String logDirectory) {

    public static Target of(Move move, int logDirs) {
      return move.kind() == Move.Kind.PROMOTE
          ? new Target(true, move.toTier(), "")
          : down(move.toTier(), logDirs, move.segment().logDirectory());
    }

    static Target down(int tier, int logDirs, String logDirectory) {
      return new Target(false, tier, tier == logDirs ? logDirectory : "");
    }
  }

  /** A move of which nothing has been copied. */
  public PlannedMove(Move move, Target target, long spaceBytes, boolean evictAfter) {
    this(move, target, spaceBytes, evictAfter, 0);
  }

  /**
   * Returns what is left of a copy down after a piece of it, or of one with which an active segment
   * goes on in a pool; empty if that was the last one.
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
