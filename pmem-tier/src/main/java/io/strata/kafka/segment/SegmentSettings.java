package io.strata.kafka.segment;

import java.time.InstantSource;
import java.util.function.BooleanSupplier;

/**
 * The settings that all segments of one pool share.
 *
 * <p>Immutable; safe for use by any thread if the clock is.
 *
 * @param forcesAppends asked at each append: whether each append that reaches the log file, or a
 *     pool that needs a force, is forced there before it returns, so that an acknowledged record in
 *     a pool that survives a power cut does so in its spilled tail and in a lower tier too
 * @param spaceMaker asked when the pool has no free extent of the length that is wanted next,
 *     before an append goes to the log file
 * @param clock has the time of an append, from which the log file's modification time is kept right
 */
public record SegmentSettings(
    BooleanSupplier forcesAppends, InstantSource clock, SpaceMaker spaceMaker) {

  /** With nothing that frees space in a full pool. */
  public SegmentSettings(boolean forcesAppends, InstantSource clock) {
    this(() -> forcesAppends, clock, SpaceMaker.NONE);
  }

  /** The settings of a pool that does not survive a power cut: no force, the system's clock. */
  public static SegmentSettings defaults() {
    return new SegmentSettings(false, InstantSource.system());
  }
}
