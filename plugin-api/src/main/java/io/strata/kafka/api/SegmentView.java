package io.strata.kafka.api;

import static java.util.Objects.requireNonNull;

/**
 * One segment as it was at one moment: what lives where.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param name the segment, by its file's and its directory's names
 * @param tier the pool that holds its head, by the pool's file name; {@code home} if none does
 * @param state the state of its bytes
 * @param bytesInPool bytes whose valid copy is in the pool: those below the seam
 * @param bytesAtHome bytes whose valid copy is in the segment's own file
 */
public record SegmentView(
    SegmentName name, String tier, State state, long bytesInPool, long bytesAtHome) {

  /** The name of the last tier: the segment's own file in Kafka's log directory. */
  public static final String HOME = "home";

  /** The state of a segment's bytes. */
  public enum State {
    /** All in the pool. */
    HOT,
    /** The head in the pool, the tail at home. */
    SPILLED,
    /** All at home, in an ordinary file. */
    HOME
  }

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a count is negative
   */
  public SegmentView {
    requireNonNull(name);
    requireNonNull(tier);
    requireNonNull(state);
    if (bytesInPool < 0 || bytesAtHome < 0) {
      throw new IllegalArgumentException(
          name.id() + ": bytes in pool " + bytesInPool + ", at home " + bytesAtHome);
    }
  }

  /** The segment's length in bytes. */
  public long bytes() {
    return bytesInPool + bytesAtHome;
  }
}
