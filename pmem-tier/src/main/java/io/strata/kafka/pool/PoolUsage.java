package io.strata.kafka.pool;

/**
 * How full a pool is at a moment.
 *
 * @param usedBytes bytes in extents that are not free: those of segments, and those dropped and not
 *     yet released
 * @param freeBytes bytes that can be allocated
 * @param liveSlots slots with a segment
 * @param freeSlots slots that can be allocated
 */
public record PoolUsage(long usedBytes, long freeBytes, int liveSlots, int freeSlots) {

  /** All bytes for extents. */
  public long capacityBytes() {
    return usedBytes + freeBytes;
  }
}
