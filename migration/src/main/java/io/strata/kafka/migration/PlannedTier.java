package io.strata.kafka.migration;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.MigrationSettings.Mode;
import io.strata.kafka.migration.Plan.TierPlan;
import java.util.ArrayList;
import java.util.List;

/**
 * A tier while a plan is made: what is to leave it, and the space that is left in it: free bytes,
 * and those of clean segments that may be evicted, less what is on its way already. A copy down
 * evicts what it needs; a copy up takes free space alone.
 *
 * <p>Thread safety: used by one thread.
 */
final class PlannedTier {

  /** A pool's smallest extent: no copy takes less, and none takes a part of one. */
  static final long EXTENT_BYTES = 64 << 10;

  final Mode mode;
  final Marks marks;

  /** Clean segments that promotions may evict, the first one first; those before are chosen. */
  final List<SegmentView> victims = new ArrayList<>();

  int nextVictim;

  /** Whether it has anything that could leave. */
  boolean canLeave;

  /** Bytes that moves under way are about to take off the measured ones. */
  long leaving;

  /** Bytes that moves under way are about to add. */
  long arriving;

  /** Bytes that promotions out of it leave here as the only copy below. */
  long lowerCopies;

  /** Bytes that are chosen to come up for being pinned. */
  long pinnedBytes;

  /** Bytes that are to leave, and that no move takes off yet. */
  long excess;

  TierPlan found = TierPlan.IDLE;

  /** Below 0: what copies down will evict. What is evicted earlier, they take first. */
  private long freeBytes;

  private long evictableBytes;
  private long freeSlots;
  private long evictableSlots;

  PlannedTier(Mode mode, Marks marks) {
    this.mode = mode;
    this.marks = marks;
    freeBytes = marks.usage().freeBytes();
    freeSlots = marks.usage().freeSlots();
  }

  /** Returns the bytes that a copy of a segment takes. */
  static long needed(SegmentView segment) {
    return Math.max(1, (segment.bytes() + EXTENT_BYTES - 1) / EXTENT_BYTES) * EXTENT_BYTES;
  }

  /** Finds out whether the tier drains, and how much that asks for. */
  void measure(boolean drainedBefore) {
    boolean draining = marks.draining(drainedBefore, canLeave);
    found = new TierPlan(draining, draining ? marks.above() : 0);
    excess = Math.max(0, found.backlogBytes() - leaving);
  }

  /** A move takes bytes off. */
  void cover(long bytes) {
    excess = Math.max(0, excess - bytes);
  }

  /** A segment of which all or a part may be evicted. */
  void addEvictable(SegmentView segment) {
    evictableBytes += segment.cleanBytes();
    evictableSlots += slots(segment);
  }

  /** How many slots an eviction frees. */
  static int slots(SegmentView segment) {
    return segment.leavesWhole() ? 1 : 0;
  }

  /** One of those is going to be evicted. */
  void evict(SegmentView segment) {
    keep(segment);
    freeBytes += segment.cleanBytes();
    freeSlots += slots(segment);
  }

  /** One of those is going to be copied up: it is no longer there to be evicted. */
  void keep(SegmentView segment) {
    evictableBytes -= segment.cleanBytes();
    evictableSlots -= slots(segment);
  }

  /** Bytes are about to be appended here. */
  void take(long bytes) {
    freeBytes -= bytes;
  }

  /** Something is on its way here. */
  void reserve(long needed) {
    freeBytes -= needed;
    freeSlots--;
  }

  /** Whether there is space, clean segments evicted. */
  boolean fits(long needed) {
    return freeBytes + evictableBytes >= needed && freeSlots + evictableSlots >= 1;
  }

  /** The bytes to evict for it. */
  long missing(long needed) {
    return Math.max(0, needed - freeBytes);
  }

  /** How many segments are to be evicted for a slot. */
  long missingSlots() {
    return Math.max(0, 1 - freeSlots);
  }

  /** Space, clean segments evicted. */
  long bytes() {
    return Math.max(0, freeBytes + evictableBytes);
  }

  /** So much of the capacity, in bytes. */
  double share(double share) {
    return share * marks.usage().capacityBytes();
  }
}
