package io.strata.kafka.api;

import static java.util.Objects.requireNonNull;

/**
 * How full one tier is, at one moment: the sum over its pools. There is one for each tier that has
 * pools: the log directories have none.
 *
 * <p>{@code usedBytes} is {@code dirtyBytes} and {@code cleanBytes} and what belongs to no segment
 * any more and is about to be free. Bytes are counted in whole extents.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param tier its number, from 0, the fastest
 * @param name its name in {@code strata.tiers}
 * @param capacityBytes bytes that segments can use at most
 * @param usedBytes bytes that are not free
 * @param dirtyBytes bytes that are neither free nor clean
 * @param cleanBytes bytes whose content a lower tier has too: free without I/O when needed
 * @param activeBytes of {@code dirtyBytes}, those of segments that Kafka appends to that stay: the
 *     last extents, and all of a segment with less than {@link #leastCopyBytes}
 * @param segments segments with bytes or a place here
 * @param freeSlots segments that can be added while there is space for their bytes
 * @param excessBytes dirty bytes that are to be copied down now: 0 while the dirty share is between
 *     its marks, otherwise what lies above the low mark (see {@code strata.migration.threshold})
 * @param spareBytes space that may be filled by promotion now; 0 when promotion is off
 */
public record TierUsage(
    int tier,
    String name,
    long capacityBytes,
    long usedBytes,
    long dirtyBytes,
    long cleanBytes,
    long activeBytes,
    int segments,
    int freeSlots,
    long excessBytes,
    long spareBytes) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a count is negative or more is used than there is
   */
  public TierUsage {
    requireNonNull(name);
    if (tier < 0
        || dirtyBytes < 0
        || cleanBytes < 0
        || activeBytes < 0
        || usedBytes < 0
        || usedBytes > capacityBytes
        || segments < 0
        || freeSlots < 0
        || excessBytes < 0
        || spareBytes < 0) {
      throw new IllegalArgumentException(
          """
          %s: capacity %s, used %s, dirty %s, clean %s, active %s, segments %s, free slots %s, \
          excess %s, spare %s: expected numbers from 0, and not more used than there is\
          """
              .formatted(
                  name,
                  capacityBytes,
                  usedBytes,
                  dirtyBytes,
                  cleanBytes,
                  activeBytes,
                  segments,
                  freeSlots,
                  excessBytes,
                  spareBytes));
    }
  }

  /**
   * So many bytes of a segment that Kafka appends to are worth a copy, which costs a force of the
   * log file: 1 MiB, or less where many segments share a small tier.
   */
  public long leastCopyBytes() {
    return leastCopyBytes(capacityBytes, segments);
  }

  /** As {@link #leastCopyBytes()}, of a tier with that capacity and so many segments. */
  public static long leastCopyBytes(long capacityBytes, int segments) {
    // The part of all segments that stays is at most a quarter of the tier.
    return Math.min(1 << 20, capacityBytes / 4 / Math.max(1, segments));
  }

  /** Bytes that nothing uses. */
  public long freeBytes() {
    return capacityBytes - usedBytes;
  }

  /**
   * Bytes that a burst finds without waiting for a copy: the free and the clean ones. None where a
   * new segment finds no slot, and nothing clean gives way with its own.
   */
  public long reserveBytes() {
    return freeSlots == 0 && cleanBytes == 0
        ? 0
        : Math.min(capacityBytes, freeBytes() + cleanBytes);
  }

  /** The dirty share of the capacity, from 0 to 1; 1 for a tier without space. */
  public double dirtyShare() {
    return capacityBytes == 0 ? 1 : Math.min(1, (double) dirtyBytes / capacityBytes);
  }

  /** This usage with what the engine asks of policies. */
  public TierUsage withDemand(long excess, long spare) {
    return new TierUsage(
        tier,
        name,
        capacityBytes,
        usedBytes,
        dirtyBytes,
        cleanBytes,
        activeBytes,
        segments,
        freeSlots,
        excess,
        spare);
  }
}
