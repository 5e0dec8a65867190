package io.strata.kafka.api;

/**
 * Decides which new segments may be placed in a pool.
 *
 * <p>A policy is a pure function of its argument and of what its constructor was given: the same
 * segment always gets the same answer, without I/O, without locks and without a clock. It is asked
 * once, when Kafka creates the segment's file, on the thread that appends; a segment that is in a
 * pool stays there whatever a later policy says. The answer {@code true} is a permission: when no
 * pool has space the segment still goes to the log directory.
 *
 * <p>Thread safety: implementations must be safe for use by any number of threads; immutable ones
 * are.
 */
@FunctionalInterface
public interface PlacementPolicy {

  /**
   * Returns whether the segment may be placed in a pool.
   *
   * @param segment the names of the file that Kafka creates and of its partition's directory
   * @return {@code false} if it must go to the log directory; must not throw
   */
  boolean mayBeHot(SegmentName segment);
}
