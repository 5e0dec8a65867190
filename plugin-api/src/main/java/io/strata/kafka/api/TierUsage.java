package io.strata.kafka.api;

import static java.util.Objects.requireNonNull;

/**
 * How full one pool is, at one moment.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param pool the pool's file name
 * @param sizeBytes bytes that segments can use at most
 * @param usedBytes bytes that belong to segments, in whole extents
 * @param segments segments with a slot in the pool
 */
public record TierUsage(String pool, long sizeBytes, long usedBytes, int segments) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a count is negative or more is used than there is
   */
  public TierUsage {
    requireNonNull(pool);
    if (usedBytes < 0 || usedBytes > sizeBytes || segments < 0) {
      throw new IllegalArgumentException(
          pool + ": size " + sizeBytes + ", used " + usedBytes + ", segments " + segments);
    }
  }

  /** Bytes that no segment has. */
  public long freeBytes() {
    return sizeBytes - usedBytes;
  }

  /** The used share, from 0 to 1; 1 for a pool without room. */
  public double usedShare() {
    return sizeBytes == 0 ? 1 : (double) usedBytes / sizeBytes;
  }
}
