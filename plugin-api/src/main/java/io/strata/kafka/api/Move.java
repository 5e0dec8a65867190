package io.strata.kafka.api;

import static java.util.Objects.requireNonNull;

/**
 * One step of one segment, as a policy asks for it.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param kind what to do
 * @param segment the segment, as the snapshot showed it
 * @param toTier the tier that gets a copy; for {@link Kind#EVICT} the tier that has it
 */
public record Move(Kind kind, SegmentView segment, int toTier) {

  /** The kinds of moves. */
  public enum Kind {
    /**
     * Copy the segment to a lower tier and make it durable there. It is clean then; from one tier
     * of local pools to another it moves, and is as clean as it was. An active segment is copied to
     * the log directories alone.
     */
    DESTAGE,
    /**
     * Discard the copy of a clean segment in its tier, without I/O; of any other segment the part
     * that the log file has too.
     */
    EVICT,
    /** Copy the segment up: it is read from there, and clean if the lower tier keeps its copy. */
    PROMOTE
  }

  /**
   * Checks that the direction fits the kind.
   *
   * @throws IllegalArgumentException if it does not
   */
  public Move {
    requireNonNull(kind);
    requireNonNull(segment);
    boolean down = toTier > segment.tier();
    boolean wholeAgain = kind == Kind.PROMOTE && segment.spilled() && toTier == segment.tier();
    if (toTier < 0
        || (kind == Kind.PROMOTE && toTier >= segment.tier() && !wholeAgain)
        || (kind == Kind.DESTAGE && !down)
        || (kind == Kind.EVICT && !segment.evictable())) {
      throw new IllegalArgumentException(
          "%s of %s from tier %s%s to tier %s"
              .formatted(
                  kind,
                  segment.name().id(),
                  segment.tier(),
                  segment.clean() ? " (clean)" : " (dirty)",
                  toTier));
    }
  }

  /** Copies down to {@code toTier}. */
  public static Move destage(SegmentView segment, int toTier) {
    return new Move(Kind.DESTAGE, segment, toTier);
  }

  /**
   * Discards the copy of a clean segment, or what is clean of it.
   *
   * @throws IllegalArgumentException if no part of the segment is clean
   */
  public static Move evict(SegmentView segment) {
    return new Move(Kind.EVICT, segment, segment.cleanTier().orElse(segment.tier()));
  }

  /**
   * Copies up to {@code toTier}. A spilled segment goes to its own tier, which then has all of it;
   * it cannot go higher before, unless it is clean.
   */
  public static Move promote(SegmentView segment, int toTier) {
    return new Move(Kind.PROMOTE, segment, toTier);
  }

  /** For messages: {@code DESTAGE orders-3@4711 from tier 0 to tier 1}. */
  @Override
  public String toString() {
    return kind + " " + segment.name().id() + " from tier " + segment.tier() + " to tier " + toTier;
  }
}
