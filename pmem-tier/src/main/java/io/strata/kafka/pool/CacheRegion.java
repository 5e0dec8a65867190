package io.strata.kafka.pool;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A piece of a pool's spare room that is lent to a cache: one extent, in a slot of its own state.
 *
 * <p>Nothing depends on its being there after a crash, or on what it then holds. To everything but
 * its cache it is free room.
 *
 * <p>Thread safety: all methods may be called by any thread. Whoever gives the region back sees to
 * it that nobody stores into it any more.
 */
public final class CacheRegion {
  private final Pool pool;
  private final int index;
  private final long generation;
  private final Extent extent;
  private final AtomicBoolean givenBack = new AtomicBoolean();

  CacheRegion(Pool pool, int index, long generation, Extent extent) {
    this.pool = pool;
    this.index = index;
    this.generation = generation;
    this.extent = extent;
  }

  /** The pool that it lies in. */
  public Pool pool() {
    return pool;
  }

  /** Tells this use of the slot from all others. */
  public long generation() {
    return generation;
  }

  /** Where it lies in the pool's memory, in bytes. */
  public long position() {
    return extent.position();
  }

  /** How many bytes it has. */
  public long length() {
    return extent.length();
  }

  int index() {
    return index;
  }

  Extent extent() {
    return extent;
  }

  /**
   * Gives the room back to the pool: metadata only, save on a pool whose free blocks must be zeros
   * ({@link Pool#release}). Without effect the second time.
   *
   * @throws IOException if the pool fails; the room is out of use until the pool is opened again
   */
  public void giveBack() throws IOException {
    if (givenBack.compareAndSet(false, true)) {
      pool.takeBack(this);
    }
  }

  /** For messages: {@code cache region in slot 3 generation 7}. */
  @Override
  public String toString() {
    return "cache region in slot " + index + " generation " + generation;
  }
}
