package io.strata.kafka.tier;

import io.strata.kafka.pool.CacheRegion;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolUsage;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * What the first tier's pools lend to the chunk cache of the remote tier. It is lent only while
 * there is plenty, and taken back before anything else gives way: an append, a new segment and a
 * promotion find as much room as if there were no cache.
 *
 * <p>Thread safety: all methods may be called by any thread, those that take room back also under a
 * segment's writer lock: nothing is waited for.
 */
final class SpareRoom {

  /** Of what could be had, this part stays free. */
  private static final int FREE_SHARE = 4;

  /** The background takes room back when less than this part of it is free. */
  private static final int LEAST_FREE_SHARE = 8;

  /** Of the whole pool, this part stays free, too. */
  private static final int CAPACITY_SHARE = 10;

  /** Of the slots, this part stays free. */
  private static final int SLOT_SHARE = 8;

  private final List<Pool> pools;
  private final TierCounts counts;
  private final List<LentRegion> regions = new CopyOnWriteArrayList<>();
  private final AtomicBoolean inUse = new AtomicBoolean();

  /** Takes over what earlier processes have left. */
  SpareRoom(PoolSet all, TierCounts counts) {
    this.pools = all.tiers().get(0).pools();
    this.counts = counts;
    for (Pool pool : all.all()) {
      for (CacheRegion region : pool.regions()) {
        LentRegion lent = new LentRegion(region, System.nanoTime());
        regions.add(lent);
        if (!pools.contains(pool)) {
          // It has come to be of a lower tier.
          boolean unused = giveBack(lent);
        }
      }
    }
  }

  /** The pools that lend. */
  List<Pool> pools() {
    return pools;
  }

  /** Makes the caller the one who uses the regions; false if somebody does. */
  boolean use() {
    return inUse.compareAndSet(false, true);
  }

  /** Ends {@link #use}. */
  void unuse() {
    inUse.set(false);
  }

  /** What is lent now. */
  List<LentRegion> regions() {
    return regions;
  }

  /** Bytes that are lent now. */
  long bytes() {
    long bytes = 0;
    for (LentRegion region : regions) {
      bytes += region.length();
    }
    return bytes;
  }

  /**
   * Borrows a region, from the pool with the most free room.
   *
   * @return empty if no pool has so much to spare
   */
  synchronized Optional<LentRegion> borrow(long length, long limitBytes) {
    if (bytes() + length > limitBytes) {
      return Optional.empty();
    }
    Optional<Pool> most =
        pools.stream()
            .filter(pool -> canSpare(pool, length))
            .max(Comparator.comparingLong(pool -> pool.usage().freeBytes()));
    if (most.isEmpty()) {
      return Optional.empty();
    }
    try {
      Optional<LentRegion> lent =
          most.get().lend(length).map(region -> new LentRegion(region, System.nanoTime()));
      lent.ifPresent(regions::add);
      return lent;
    } catch (IOException e) {
      counts.failed("borrow room for the chunk cache in pool " + most.get().info().path(), e);
      return Optional.empty();
    }
  }

  private static boolean canSpare(Pool pool, long length) {
    PoolUsage usage = pool.usage();
    long keep = Math.max(usage.roomBytes() / FREE_SHARE, usage.capacityBytes() / CAPACITY_SHARE);
    int slots = pool.info().slotCount();
    return usage.freeBytes() - length >= keep && usage.freeSlots() - 1 >= slots / SLOT_SHARE;
  }

  /**
   * Takes room back until there is enough, or nothing is lent any more.
   *
   * @param mostBytes that are taken back
   */
  void takeBack(Pool pool, long mostBytes, BooleanSupplier enough) {
    long given = 0;
    while (given < mostBytes && !enough.getAsBoolean()) {
      Optional<LentRegion> next = longestUnused(pool);
      if (next.isEmpty()) {
        return;
      }
      given += giveBack(next.get()) ? next.get().length() : 0;
    }
  }

  /** One that is being stored into, and so is given back a moment later, is not among them. */
  private Optional<LentRegion> longestUnused(Pool pool) {
    LentRegion found = null;
    long now = System.nanoTime();
    for (LentRegion region : regions) {
      if (region.pool() == pool
          && (found == null || now - region.usedAtNanos() > now - found.usedAtNanos())) {
        found = region;
      }
    }
    return Optional.ofNullable(found);
  }

  /** Gives a region back; from now on it is none of the cache's. */
  boolean giveBack(LentRegion region) {
    if (!regions.remove(region)) {
      return false;
    }
    try {
      return region.giveBack();
    } catch (IOException e) {
      counts.failed("take back " + region, e);
      return false;
    }
  }

  /** In the background: keeps some room free that an append need not ask for. */
  void trim() {
    for (Pool pool : pools) {
      PoolUsage usage = pool.usage();
      if (usage.cacheBytes() > 0 && usage.freeBytes() < usage.roomBytes() / LEAST_FREE_SHARE) {
        takeBack(
            pool,
            Long.MAX_VALUE,
            () -> pool.usage().freeBytes() >= pool.usage().roomBytes() / FREE_SHARE);
      }
    }
  }

  /** A store that had to give a region back failed in that. */
  void failed(LentRegion region, IOException cause) {
    counts.failed("take back " + region, cause);
  }
}
