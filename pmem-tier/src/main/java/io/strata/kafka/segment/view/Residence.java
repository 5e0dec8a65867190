package io.strata.kafka.segment.view;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentBytes;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.SlotState;
import java.io.IOException;
import java.util.List;

/**
 * Where in a pool a copy of a segment is. A segment that is wholly in its log file has none.
 *
 * <p>Thread safety: all methods may be called by any thread, the slot as that says.
 */
public final class Residence {

  private final Slot slot;
  private final Pool pool;

  @GuardedBy("this")
  private boolean claimed;

  @GuardedBy("this")
  private boolean taken;

  /** The copy in a slot. */
  public Residence(Slot slot, Pool pool) {
    this.slot = slot;
    this.pool = pool;
  }

  /** The slot, to be looked at. */
  public Slot slot() {
    return slot;
  }

  /** The slot's pool. */
  public Pool pool() {
    return pool;
  }

  /** Returns what ties the log file to this copy. */
  public SegmentTag tag() {
    return new SegmentTag(pool.info().id(), slot.index(), slot.generation());
  }

  /** Returns whether the log file has all bytes of the pool, durably. */
  public boolean isClean() {
    return slot.cleanLength() == slot.committedLength();
  }

  /** The space that the segment takes in the pool, in bytes. */
  public long spaceBytes() {
    return slot.extents().length();
  }

  /** The part of that space which appends go on in: the last extent, unless it is full. */
  public long lastExtentBytes() {
    ExtentList extents = slot.extents();
    return extents.length() - extents.lengthBelow(slot.committedLength());
  }

  /**
   * The space that an eviction frees now, in bytes.
   *
   * @param whole whether it may take all of a clean segment, and not only the extents that are full
   */
  public long evictableBytes(boolean whole) {
    return whole && isClean() ? spaceBytes() : slot.extents().lengthBelow(slot.cleanLength());
  }

  /**
   * Takes the extents of a slot that is DELETING.
   *
   * @return the extents, to be released when they are no longer read; none if the slot is in
   *     another state, or they have been taken
   */
  public List<Extent> takeExtents() {
    return slot.state() == SlotState.DELETING ? extentsOnce() : List.of();
  }

  private synchronized List<Extent> extentsOnce() {
    if (taken) {
      return List.of();
    }
    taken = true;
    return slot.extents().toList();
  }

  /**
   * Frees the slot, durably, unless another thread has done so or is about to.
   *
   * @return the extents, to be released when they are no longer read; none if they have been taken,
   *     or there is nothing to do
   * @throws IOException when the pool fails: the slot is free or not, and may be freed again
   */
  public List<Extent> free() throws IOException {
    if (!claim(true)) {
      return List.of();
    }
    boolean done = false;
    try {
      if (slot.state() != SlotState.FREE) {
        slot.free();
      }
      done = true;
      return extentsOnce();
    } finally {
      if (!done) {
        boolean unused = claim(false);
      }
    }
  }

  /** Claims the right to free the slot, or gives it up; false if that is so already. */
  private synchronized boolean claim(boolean now) {
    boolean changed = claimed != now;
    claimed = now;
    return changed;
  }

  public ExtentBytes bytes() {
    return pool.bytes();
  }

  /** Returns whether what is persisted has survived a power cut already. */
  public boolean durableOnPersist() {
    return pool.memory().durability().durableOnPersist();
  }

  /** For messages: the slot, the path that it was created with, and the pool. */
  @Override
  public String toString() {
    return slot + " of pool " + pool.info().path();
  }
}
