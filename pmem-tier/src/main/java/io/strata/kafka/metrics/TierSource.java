package io.strata.kafka.metrics;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.migration.MigrationStats;
import java.util.List;
import java.util.Optional;

/**
 * What {@link StrataMetrics} asks of the hot tier, each time that a metric is read.
 *
 * <p>Thread safety: implementations must be safe for use by any number of threads. No method may
 * block on an append, do I/O or throw.
 */
public interface TierSource {

  /** The pools, in the order of {@code strata.pools}; always the same ones. */
  List<PoolSample> pools();

  /**
   * The tiers but home, fastest first; always the same ones. May cost time in proportion to the
   * number of segments.
   */
  List<TierSample> tiers();

  /** Home, the last tier. */
  HomeSample home();

  /** What the migration engine has done and is doing; empty if there is none. */
  Optional<MigrationStats> migration();

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
   * One tier at one moment, and what has happened to it since the broker's start.
   *
   * @param name its name in {@code strata.tiers}
   * @param usage how full it is
   * @param evictedBytes given up here, since a lower tier has them
   * @param evictedSegments given up here, since a lower tier has them
   * @param pressureBytes of {@code evictedBytes}, what gave way at once to an append, or to another
   *     copy
   * @param spilledBytes appended to segments of this tier, and gone home for want of room
   * @param spilledSegments segments of this tier that had to go on at home
   * @param readBytes read from this tier's copies
   * @param reads reads that found their bytes here
   */
  record TierSample(
      String name,
      TierUsage usage,
      long evictedBytes,
      long evictedSegments,
      long pressureBytes,
      long spilledBytes,
      long spilledSegments,
      long readBytes,
      long reads) {

    /** Checks that nothing is null. */
    public TierSample {
      requireNonNull(name);
      requireNonNull(usage);
    }
  }

  /**
   * What was read from home since the broker's start, of segments that Strata knows.
   *
   * @param readBytes read from home
   * @param reads reads that found their bytes at home; 0 if they are not counted
   */
  record HomeSample(long readBytes, long reads) {}

  /**
   * One pool at one moment.
   *
   * @param pool the pool's file, absolute: a path, since two pools may have the same last name
   * @param sizeBytes bytes that segments can use at most
   * @param usedBytes bytes in extents of segments
   * @param freeBytes bytes in no segment's extent
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
