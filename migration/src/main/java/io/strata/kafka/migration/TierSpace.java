package io.strata.kafka.migration;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import java.util.List;

/**
 * The space that is left in the tiers while a plan is made: free bytes, and those of clean segments
 * that may be evicted, less what is on its way already. A copy down evicts what it needs; a copy up
 * takes free space alone.
 *
 * <p>Thread safety: used by one thread.
 */
final class TierSpace {

  /** A pool's smallest extent: no copy takes less, and none takes a part of one. */
  static final long EXTENT_BYTES = 64 << 10;

  /** Below 0: what copies down will evict. What is evicted earlier, they take first. */
  private final long[] freeBytes;

  private final long[] evictableBytes;
  private final long[] freeSlots;
  private final long[] evictableSlots;

  TierSpace(List<TierUsage> tiers) {
    freeBytes = new long[tiers.size()];
    evictableBytes = new long[tiers.size()];
    freeSlots = new long[tiers.size()];
    evictableSlots = new long[tiers.size()];
    for (TierUsage tier : tiers) {
      freeBytes[tier.tier()] = tier.freeBytes();
      freeSlots[tier.tier()] = tier.freeSlots();
    }
  }

  /** Returns the bytes that a copy of a segment takes. */
  static long needed(SegmentView segment) {
    return Math.max(1, (segment.bytes() + EXTENT_BYTES - 1) / EXTENT_BYTES) * EXTENT_BYTES;
  }

  /** A segment of which all or a part may be evicted. */
  void addEvictable(SegmentView segment) {
    evictableBytes[segment.tier()] += segment.cleanBytes();
    evictableSlots[segment.tier()] += slots(segment);
  }

  /** How many slots an eviction frees. */
  private static int slots(SegmentView segment) {
    return segment.leavesWhole() ? 1 : 0;
  }

  /** One of those is going to be evicted. */
  void evict(SegmentView segment) {
    keep(segment);
    freeBytes[segment.tier()] += segment.cleanBytes();
    freeSlots[segment.tier()] += slots(segment);
  }

  /** One of those is going to be copied up: it is no longer there to be evicted. */
  void keep(SegmentView segment) {
    evictableBytes[segment.tier()] -= segment.cleanBytes();
    evictableSlots[segment.tier()] -= slots(segment);
  }

  /** Bytes are about to be appended there. */
  void take(int tier, long bytes) {
    freeBytes[tier] -= bytes;
  }

  /** Something is on its way there. */
  void reserve(int tier, long needed) {
    freeBytes[tier] -= needed;
    freeSlots[tier]--;
  }

  /** Whether there is space, clean segments evicted. */
  boolean fits(int tier, long needed) {
    return freeBytes[tier] + evictableBytes[tier] >= needed
        && freeSlots[tier] + evictableSlots[tier] >= 1;
  }

  /** The segments to evict for it. */
  long missing(int tier, long needed) {
    return Math.max(0, needed - freeBytes[tier]);
  }

  /** How many segments are to be evicted for a slot. */
  long missingSlots(int tier) {
    return Math.max(0, 1 - freeSlots[tier]);
  }

  /** Space, clean segments evicted. */
  long bytes(int tier) {
    return Math.max(0, freeBytes[tier] + evictableBytes[tier]);
  }
}
