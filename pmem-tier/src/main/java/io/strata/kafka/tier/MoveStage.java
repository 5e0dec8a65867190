package io.strata.kafka.tier;

/** Where a move can be stopped by a test: each is a point after which something is durable. */
public enum MoveStage {
  /** A destage begins. */
  DESTAGE_STARTED,
  /** The bytes are written below. */
  DESTAGE_COPIED,
  /** They are durable there. */
  DESTAGE_FORCED,
  /** They have been read back. */
  DESTAGE_VERIFIED,
  /** Home names the copy in the lower pool. */
  DESTAGE_LINKED,
  /** The segment is flagged clean. */
  DESTAGE_CLEAN,
  /** An eviction begins. */
  EVICT_STARTED,
  /** The slot is free; home's tag still names it. */
  EVICT_FREED,
  /** Home's tag has been removed, or names the lower copy. */
  EVICT_UNTAGGED,
  /** A promotion begins. */
  PROMOTE_STARTED,
  /** The bytes are written above. */
  PROMOTE_COPIED,
  /** They are committed, durable and compared. */
  PROMOTE_COMMITTED,
  /** Home's tag names the copy above. */
  PROMOTE_TAGGED,
  /** Readers see it. */
  PROMOTE_DONE,
  /** A spilled segment's tail is written behind its head. */
  MEND_COPIED,
  /** It has been compared. */
  MEND_COMMITTED,
  /** The segment is whole in its pool. */
  MEND_DONE;

  /** Is told of stages; for tests. */
  @FunctionalInterface
  public interface Hook {
    /** Does nothing. */
    Hook NONE = stage -> {};

    /** A move has reached the stage. */
    void reached(MoveStage stage);
  }
}
