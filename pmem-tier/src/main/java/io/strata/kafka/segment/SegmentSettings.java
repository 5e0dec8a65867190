package io.strata.kafka.segment;

import java.time.InstantSource;
import java.util.function.BooleanSupplier;

/**
 * What all segments of one pool have in common.
 *
 * <p>Immutable; safe for use by any thread if the clock is.
 *
 * @param spillForce asked at each append: whether each append that reaches home, or a pool that
 *     needs a force, is forced there before it returns, so that an acknowledged record in a pool
 *     that survives a power cut does so in its spilled tail and in a lower tier, too
 * @param roomMaker asked when the pool is full, before an append goes home
 * @param clock tells the time of an append, from which home's modification time is kept right
 */
public record SegmentSettings(
    BooleanSupplier spillForce, InstantSource clock, RoomMaker roomMaker) {

  /** Without anybody who makes room in a full pool. */
  public SegmentSettings(boolean spillForce, InstantSource clock) {
    this(() -> spillForce, clock, RoomMaker.NONE);
  }

  /** The settings of a pool that does not survive a power cut: no force, the system's clock. */
  public static SegmentSettings defaults() {
    return new SegmentSettings(false, InstantSource.system());
  }
}
