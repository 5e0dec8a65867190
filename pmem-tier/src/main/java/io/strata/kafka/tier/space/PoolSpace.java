package io.strata.kafka.tier.space;

import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.SpaceMaker;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.LogDirectories.SegmentPlace;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.PoolSet.PoolTier;
import io.strata.kafka.tier.durable.SlotRelease;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.TierCounts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Finds space in pools: free space first, then that of bytes that the log file has too: all of a
 * clean segment, and of any other, or of one that Kafka appends to, the extents that are clean.
 * Nothing is copied.
 *
 * <p>Thread safety: all methods may be called by any thread, also under a segment's writer lock: of
 * another segment's lock none is waited for.
 */
public final class PoolSpace implements SpaceMaker {

  /**
   * The part of a pool's space that is kept free where freeing costs I/O, and at most so many
   * bytes.
   */
  private static final int RESERVE_SHARE = 20;

  private static final long LARGEST_RESERVE = 256 << 20;

  /** How much more than an append wants is evicted at most, to get it in one piece. */
  private static final int MOST_FREED = 4;

  /** How many entries are looked at for one append: most are evicted, some may be stale. */
  private static final int ATTEMPTS = 256;

  private final CleanSegments clean = new CleanSegments();
  private final Scarcity scarcity;
  private final SlotRelease release;
  private final TierCounts counts;
  private volatile Runnable onDemand = () -> {};

  /**
   * The space of some pools.
   *
   * @param thresholds as {@link Scarcity} has them
   */
  public PoolSpace(PoolSet pools, List<Double> thresholds, SlotRelease release, TierCounts counts) {
    this.scarcity = new Scarcity(thresholds, tier -> dirtyShare(pools.tiers().get(tier)));
    this.release = release;
    this.counts = counts;
  }

  /** How scarce the space is in each tier. */
  public Scarcity scarcity() {
    return scarcity;
  }

  /** Has {@code wake} run when space runs short. */
  public void onDemand(Runnable wake) {
    onDemand = wake;
  }

  /** A segment was sealed, or found no space: there may be something to plan. */
  public void wake() {
    onDemand.run();
  }

  /** Notes a segment that may be evicted, if it may. */
  public void becameClean(TieredSegment segment) {
    if (Evictions.evictableBytes(segment) > 0) {
      clean.add(segment);
    }
  }

  /** Replaces the order in which segments are evicted. */
  public void order(List<TieredSegment> segments) {
    clean.replace(segments);
  }

  @Override
  public void makeSpace(Pool pool, long wanted) {
    long freed = 0;
    // A reader may keep what was evicted for a while, and pieces may not lie together.
    while (pool.largestFreeExtent() < wanted && freed < MOST_FREED * wanted) {
      long now = evict(pool, wanted);
      if (now == 0) {
        onDemand.run();
        break;
      }
      freed += now;
    }
  }

  /** Returns whether the pool has so much free. */
  static boolean hasFree(Pool pool, long bytes) {
    return pool.usage().freeBytes() >= bytes;
  }

  /**
   * Frees space for a copy in the background.
   *
   * @return whether the pool has at least {@code bytes} free now
   */
  boolean reserve(Pool pool, long bytes) {
    if (hasFree(pool, bytes)) {
      return true;
    }
    for (int i = 0; i < ATTEMPTS; i++) {
      long missing = bytes - pool.usage().freeBytes();
      if (missing <= 0) {
        return true;
      }
      if (evict(pool, missing) == 0) {
        return false;
      }
    }
    return pool.usage().freeBytes() >= bytes;
  }

  /**
   * Keeps some space free in pools that need a force: there what is freed is made zeros first,
   * durably, which an append should not have to wait for.
   */
  public void keepReserve(List<Pool> forced) {
    for (Pool pool : forced) {
      long capacity = pool.usage().capacityBytes();
      long wanted = Math.min(capacity / RESERVE_SHARE, LARGEST_RESERVE);
      if (!hasFree(pool, wanted)) {
        long unused = evict(pool, wanted - pool.usage().freeBytes());
      }
    }
  }

  /**
   * Returns whether a spilled segment finds more space in its pool than its own, clean ones'
   * included.
   */
  public boolean hasSpaceToGoOn(Residence in) {
    Pool pool = in.pool();
    long others = pool.usage().freeBytes() + clean.bytes(pool);
    return others >= pool.usage().capacityBytes() / RESERVE_SHARE;
  }

  /** A tier's share of space that is neither free nor had by evictions, from 0 to 1. */
  private double dirtyShare(PoolTier tier) {
    long capacity = 0;
    long dirty = 0;
    for (Pool pool : tier.pools()) {
      PoolUsage usage = pool.usage();
      long taken = usage.capacityBytes() - usage.freeBytes();
      capacity += usage.capacityBytes();
      dirty += Math.max(0, taken - clean.bytes(pool));
    }
    return (double) dirty / capacity;
  }

  /**
   * A LIVE slot for a new segment, in the first tier that has space for one. Where space is scarce
   * a tier passes some segments on, but none to a log directory that is full.
   */
  public Optional<Residence> place(PoolSet pools, SegmentPlace place) throws IOException {
    List<PoolTier> passing = new ArrayList<>();
    for (int t = 0; t < pools.tiers().size(); t++) {
      PoolTier tier = pools.tiers().get(t);
      if (scarcity.passesOn(t)) {
        passing.add(tier);
        continue;
      }
      Optional<Residence> placed = placeIn(tier, place);
      if (placed.isPresent()) {
        return placed;
      }
    }
    if (!passing.isEmpty() && !LogDiskReserve.isLeft(Directories.of(place.file()))) {
      for (PoolTier tier : passing) {
        Optional<Residence> placed = placeIn(tier, place);
        if (placed.isPresent()) {
          return placed;
        }
      }
    }
    return Optional.empty();
  }

  private Optional<Residence> placeIn(PoolTier tier, SegmentPlace place) throws IOException {
    for (Pool pool : bySpace(tier)) {
      if (hasSpace(pool)) {
        Optional<Slot> slot = pool.allocateSlot(place.directoryId(), place.relativePath());
        if (slot.isPresent()) {
          return Optional.of(new Residence(slot.get(), pool));
        }
      }
    }
    return Optional.empty();
  }

  /**
   * A tier's pools, the one first that has most space to give, clean segments' included. Chosen by
   * free space alone, all would go to the pool that something has just been evicted from, and the
   * others would keep what is oldest.
   */
  List<Pool> bySpace(PoolTier tier) {
    List<Pool> bySpace = new ArrayList<>(tier.pools());
    bySpace.sort(
        Comparator.comparingLong((Pool pool) -> pool.usage().freeBytes() + clean.bytes(pool))
            .reversed());
    return bySpace;
  }

  /**
   * Returns whether a new segment finds a slot and a first extent, at the cost of a clean one
   * perhaps.
   */
  private boolean hasSpace(Pool pool) {
    for (int i = 0; i < ATTEMPTS && !hasSlotAndBlock(pool); i++) {
      // A part of a segment frees no slot.
      boolean whole = pool.usage().freeSlots() == 0;
      if (evict(pool, SuperblockLayout.SMALLEST_EXTENT, whole) == 0) {
        onDemand.run();
        break;
      }
    }
    return hasSlotAndBlock(pool);
  }

  /** Returns whether {@link #place} may find space, without taking any. */
  public boolean mayPlace(PoolSet pools) {
    return pools.tiers().stream()
        .flatMap(tier -> tier.pools().stream())
        .anyMatch(pool -> hasSlotAndBlock(pool) || clean.bytes(pool) > 0);
  }

  private static boolean hasSlotAndBlock(Pool pool) {
    PoolUsage usage = pool.usage();
    return usage.freeSlots() > 0 && usage.freeBytes() > 0;
  }

  private long evict(Pool pool, long wanted) {
    return evict(pool, wanted, false);
  }

  private long evict(Pool pool, long wanted, boolean whole) {
    long freed = 0;
    for (int i = 0; i < ATTEMPTS && freed < wanted; i++) {
      Optional<TieredSegment> next = clean.take(pool);
      if (next.isEmpty()) {
        break;
      }
      freed += evict(next.get(), pool, whole);
    }
    return freed;
  }

  private static boolean leavesWhole(TieredSegment segment) {
    return !segment.active() && Evictions.isClean(segment);
  }

  private long evict(TieredSegment segment, Pool pool, boolean whole) {
    Optional<Residence> in = segment.residence();
    if (in.isEmpty() || in.get().pool() != pool || segment.segment().size() == 0) {
      return 0;
    }
    long bytes = in.get().spaceBytes();
    try {
      Optional<Residence> left =
          leavesWhole(segment) ? Evictions.run(segment, false) : Optional.empty();
      if (left.isEmpty()) {
        // It is active, its end is not forced yet, or another thread is changing it. A part of it
        // frees no slot.
        long part = whole ? 0 : evictPart(segment, false);
        if (part == 0) {
          becameClean(segment);
        }
        return part;
      }
      counts.evicted(left.get(), bytes, true);
      release.untagLater(segment, left.get());
      return bytes;
    } catch (IOException e) {
      counts.failed("evict " + segment.logFile(), e);
      return 0;
    }
  }

  /**
   * Evicts the clean extents of a segment that stays, in the background.
   *
   * @return the bytes freed; 0 when there are none
   */
  public long evictPartNow(TieredSegment segment) throws IOException {
    return evictPart(segment, true);
  }

  /** Evicts clean extents: in the background, where it waits for a change under way, or not. */
  private static long evictPart(TieredSegment segment, boolean wait) throws IOException {
    try {
      return segment.segment().evictPart(wait);
    } finally {
      // Also after a failure, when the extents are gone too.
      segment.changed();
    }
  }

  /**
   * Evicts one segment, in the background.
   *
   * @return the bytes freed; empty when it is not clean
   */
  public Optional<Long> evictNow(TieredSegment segment) throws IOException {
    long bytes = segment.residence().map(Residence::spaceBytes).orElse(0L);
    Optional<Residence> left = Evictions.run(segment, true);
    if (left.isEmpty()) {
      return Optional.empty();
    }
    counts.evicted(left.get(), bytes, false);
    return Optional.of(bytes);
  }
}
