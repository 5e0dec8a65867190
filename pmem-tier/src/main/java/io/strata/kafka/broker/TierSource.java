package io.strata.kafka.broker;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.memory.Durability;
import java.util.List;

/**
 * What {@link StrataMetrics} asks of the hot tier, each time that a metric is read.
 *
 * <p>Thread safety: implementations must be safe for use by any number of threads. No method may
 * block on an append, do I/O or throw.
 */
public interface TierSource {

  /** The pools, in the order of {@code strata.pools}; always the same ones. */
  List<PoolSample> pools();

  /** Segments that have a slot in a pool now, spilled ones included. */
  long hotSegments();

  /** Segments that have a head in a pool and a tail at home now. */
  long spilledSegments();

  /** New segments that could have been placed in a pool and went home for want of room. */
  long placementsRefused();

  /** Failed operations on the home files of hot segments. */
  long homeFailures();

  /** How often home's modification time has been brought up to date. */
  long mtimeRefreshes();

  /**
   * One pool at one moment.
   *
   * @param pool the pool's file, absolute: a path, since two pools may have the same last name
   * @param sizeBytes bytes that segments can use at most
   * @param usedBytes bytes in extents of segments
   * @param freeBytes bytes in no extent
   * @param freeSlots segments that can still be placed, if there is room for their bytes
   * @param durability what the pool survives
   */
  record PoolSample(
      String pool,
      long sizeBytes,
      long usedBytes,
      long freeBytes,
      long freeSlots,
      Durability durability) {

    /** Checks that nothing is null. */
    public PoolSample {
      requireNonNull(pool);
      requireNonNull(durability);
    }
  }
}
