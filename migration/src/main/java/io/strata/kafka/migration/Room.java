package io.strata.kafka.migration;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import java.util.List;

/**
 * What is left of the tiers' room while a plan is made: free bytes, and those of clean segments
 * that may be evicted, less what is on its way already.
 *
 * <p>Thread safety: used by one thread.
 */
final class Room {

  /** A pool's smallest extent: no copy takes less, and none takes a part of one. */
  private static final long EXTENT_BYTES = 64 << 10;

  private final long[] bytes;
  private final long[] slots;

  Room(List<TierUsage> tiers) {
    bytes = new long[tiers.size()];
    slots = new long[tiers.size()];
    for (TierUsage tier : tiers) {
      bytes[tier.tier()] = tier.freeBytes();
      slots[tier.tier()] = tier.freeSlots();
    }
  }

  /** What a copy of a segment takes of a tier. */
  static long needed(SegmentView segment, int tier) {
    long whole = Math.max(1, (segment.bytes() + EXTENT_BYTES - 1) / EXTENT_BYTES) * EXTENT_BYTES;
    return segment.tier() == tier ? Math.max(0, whole - segment.poolBytes()) : whole;
  }

  /** A clean segment that may be evicted. */
  void addEvictable(SegmentView segment) {
    bytes[segment.tier()] += segment.poolBytes();
    slots[segment.tier()]++;
  }

  /** Something is on its way there. */
  void reserve(int tier, long needed) {
    bytes[tier] -= needed;
    slots[tier]--;
  }

  boolean fits(int tier, long needed) {
    return bytes[tier] >= needed && slots[tier] >= 1;
  }

  long bytes(int tier) {
    return Math.max(0, bytes[tier]);
  }
}
