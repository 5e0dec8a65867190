package io.strata.kafka.migration.plan;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.Plan.TierPlan;
import java.util.ArrayList;
import java.util.List;

/**
 * A tier while a plan is made: its marks, what is to leave it, and the space that is left in it.
 *
 * <p>Above the high mark segments begin to leave, at the low one they cease. In eager mode it is
 * the dirty bytes that count, in threshold mode the used ones. The part of active segments that is
 * not worth a copy stays; no demand is ever made of it.
 *
 * <p>Space is free bytes and those of clean segments that may be evicted, less what is on its way
 * already. A copy down evicts what it needs; a copy up takes free space alone.
 */
final class PlannedTier {

  /** A pool's smallest extent: no copy takes less, and none takes a part of one. */
  static final long EXTENT_BYTES = 64 << 10;

  /** Promotion leaves this much free, so that an append's first extents need no eviction. */
  private static final double FILL_SHARE = 0.9;

  private static final double LEAST_DISTANCE = 0.05;

  final TierUsage usage;
  final Mode mode;

  final long measured;

  /** Whether nothing ever leaves to make space. */
  final boolean never;

  final long high;

  final long low;

  /** Up to it promotion fills the tier. */
  private final long fill;

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

  /** Below 0: the bytes that copies down will evict. They take first what is evicted earlier. */
  private long freeBytes;

  private long evictableBytes;
  private long freeSlots;
  private long evictableSlots;

  PlannedTier(MigrationSettings settings, boolean relocates, TierUsage usage) {
    this.usage = usage;
    mode = settings.modeOf(usage.tier(), relocates);
    measured = mode == Mode.THRESHOLD ? usage.usedBytes() : usage.dirtyBytes();
    double threshold = settings.thresholds().get(usage.tier());
    long capacity = usage.capacityBytes();
    never = threshold < 0;
    high = never ? capacity : (long) (threshold * capacity);
    low = never ? capacity : (long) (Math.max(0, threshold - settings.hysteresis()) * capacity);
    long most = settings.promote() ? (long) (FILL_SHARE * capacity) : 0;
    if (mode == Mode.THRESHOLD && !never) {
      // Below the low mark by as much again: what has just left for it must not come back at once.
      double distance = Math.max(LEAST_DISTANCE, settings.hysteresis());
      most = Math.min(most, Math.max(0, low - (long) (distance * capacity)));
    }
    fill = most;
    freeBytes = usage.freeBytes();
    freeSlots = usage.freeSlots();
  }

  /**
   * Returns whether a segment has enough for a copy down: of one that grows, not each record is
   * copied.
   */
  static boolean worthACopy(SegmentView segment, TierUsage tier) {
    return segment.active() ? segment.dirtyBytes() >= tier.leastCopyBytes() : !segment.clean();
  }

  /** Returns the bytes that a copy of a segment takes. */
  static long needed(SegmentView segment) {
    return Math.max(1, (segment.bytes() + EXTENT_BYTES - 1) / EXTENT_BYTES) * EXTENT_BYTES;
  }

  /**
   * Returns whether the tier is on its way down, and the bytes above the low mark that are not
   * active.
   */
  TierPlan measure(boolean drainedBefore, boolean mayLeave) {
    boolean draining = !never && mayLeave && measured > (drainedBefore ? low : high);
    long above = Math.max(0, measured - Math.max(low, usage.activeBytes()));
    return new TierPlan(draining, draining ? above : 0);
  }

  void cover(long bytes) {
    excess = Math.max(0, excess - bytes);
  }

  /** The tier as a policy sees it. */
  TierUsage demand() {
    long used = usage.usedBytes() + arriving + pinnedBytes;
    return usage.withDemand(excess, Math.max(0, fill - used));
  }

  /** A segment of which all or a part may be evicted. */
  void addEvictable(SegmentView segment) {
    evictableBytes += segment.cleanBytes();
    evictableSlots += slots(segment);
  }

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

  /** Bytes are on their way here; with them a segment, if slots are. */
  void reserve(long bytes, int slots) {
    freeBytes -= bytes;
    freeSlots -= slots;
  }

  /** Returns whether there is space, clean segments evicted. */
  boolean fits(long needed) {
    return freeBytes + evictableBytes >= needed && freeSlots + evictableSlots >= 1;
  }

  long missing(long needed) {
    return Math.max(0, needed - freeBytes);
  }

  /** Returns how many segments are to be evicted for a slot. */
  long missingSlots() {
    return Math.max(0, 1 - freeSlots);
  }

  long bytes() {
    return Math.max(0, freeBytes + evictableBytes);
  }
}
