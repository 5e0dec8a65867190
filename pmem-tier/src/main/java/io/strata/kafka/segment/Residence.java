package io.strata.kafka.segment;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;

/**
 * Where in a pool a copy of a segment is. A segment that is wholly at home has none.
 *
 * <p>Immutable; safe for use by any thread, the slot as that says.
 */
public final class Residence {

  private final Slot slot;
  private final Pool pool;
  private final ExtentBytes bytes;

  /**
   * The copy in a slot.
   *
   * @param slot live
   * @param pool the slot's pool, open for writing
   */
  public Residence(Slot slot, Pool pool) {
    this.slot = requireNonNull(slot);
    this.pool = requireNonNull(pool);
    this.bytes = new ExtentBytes(pool.memory());
  }

  /** The slot, to be looked at. */
  public Slot slot() {
    return slot;
  }

  /** The slot's pool. */
  public Pool pool() {
    return pool;
  }

  /** What ties home to this copy. */
  public SegmentTag tag() {
    return new SegmentTag(pool.info().id(), slot.index(), slot.generation());
  }

  /** The room that the copy takes, in bytes. */
  public long roomBytes() {
    return slot.extents().capacity();
  }

  ExtentBytes bytes() {
    return bytes;
  }

  /** Whether what is persisted has survived a power cut already. */
  boolean survivesPowerCut() {
    return pool.memory().durability() == Durability.POWER;
  }

  /** For messages: the slot, the path that it was created with, and the pool. */
  @Override
  public String toString() {
    return slot + " of pool " + pool.info().path();
  }
}
