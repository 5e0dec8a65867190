package io.strata.kafka.tier.spec;

/** Where a move can be stopped by a test: each is a point after which something is durable. */
public enum MoveStage {
  /** A destage begins. */
  DESTAGE_STARTED,
  /** The bytes are written to the log file. */
  DESTAGE_COPIED,
  /** They are durable there. */
  DESTAGE_FORCED,
  /** They have been read back. */
  DESTAGE_VERIFIED,
  /** The segment is flagged clean. */
  DESTAGE_CLEAN,
  /** An eviction begins. */
  EVICT_STARTED,
  /** The slot is free; the log file's tag still names it. */
  EVICT_FREED,
  /** The log file's tag has been removed. */
  EVICT_UNTAGGED,
  /** The clean extents of a segment that stays are free. */
  EVICT_PART_FREED,
  /** An active segment that has spilled is in its pool with a slot. */
  UNSPILL_STARTED,
  /** The log file's tag names a slot that has no bytes of it yet. */
  UNSPILL_TAGGED,
  /** New bytes go to the pool. */
  UNSPILL_DONE,
  /** A segment is to move into another tier's pool. */
  RELOCATE_STARTED,
  /** The bytes are written there. */
  RELOCATE_COPIED,
  /** They are committed, durable and compared. */
  RELOCATE_COMMITTED,
  /** The log file's tag names the new slot. */
  RELOCATE_TAGGED,
  /** Readers see it, and the old slot is free. */
  RELOCATE_DONE;

  /** Is notified of stages; for tests. */
  @FunctionalInterface
  public interface Hook {
    /** Does nothing. */
    Hook NONE = stage -> {};

    /** A move has reached the stage. */
    void reached(MoveStage stage);
  }
}
