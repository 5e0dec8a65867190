package io.strata.kafka.pool;

/**
 * How full a pool is at a moment. What is lent to a cache is room to be had, at once and without
 * I/O beyond what freeing costs: it is in none of the other numbers.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param usedBytes bytes in extents that are neither free nor lent: those of segments, and those
 *     dropped and not yet released
 * @param freeBytes bytes that can be allocated
 * @param cacheBytes bytes that are lent to a cache
 * @param liveSlots slots with a segment
 * @param freeSlots slots that can be allocated
 * @param cacheSlots slots of what is lent to a cache
 * @param largestFreeExtent length of the largest extent that can be allocated, or 0
 */
public record PoolUsage(
    long usedBytes,
    long freeBytes,
    long cacheBytes,
    int liveSlots,
    int freeSlots,
    int cacheSlots,
    long largestFreeExtent) {

  /** Bytes that can be had: free now, or when the cache has given them back. */
  public long roomBytes() {
    return freeBytes + cacheBytes;
  }

  /** Slots that can be had, in the same way. */
  public int roomSlots() {
    return freeSlots + cacheSlots;
  }

  /** All bytes for extents. */
  public long capacityBytes() {
    return usedBytes + roomBytes();
  }
}
