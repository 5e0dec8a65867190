package io.strata.kafka.api;

import static java.util.Objects.requireNonNull;

import java.util.OptionalInt;

/**
 * One segment as it was at one moment: where its bytes are, and what is known of their use.
 *
 * <p>Tiers are numbered from 0, the fastest; the last number is that of {@value #LOG_DIRS}, Kafka's
 * log directories, where the segment has its log file. Times are in milliseconds since the epoch by
 * the broker's clock.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param id the segment's number in this process: the same in all snapshots, never given twice
 * @param name the segment, by its file's and its directory's names
 * @param logDirectory the log directory that the segment's log file is in, as a path
 * @param tier the tier that its bytes are read from
 * @param cleanTier a tier below {@code tier} that has a whole, durable copy, so that the copy in
 *     {@code tier} may be evicted without I/O; empty if there is none (the segment is dirty), and
 *     in the log directories
 * @param active whether Kafka may still append to it; such a segment is never moved
 * @param spilled whether its tail is in the log file because the pool had no space
 * @param bytes the segment's length
 * @param poolBytes the space that it takes in {@code tier}, in whole extents: evicting it frees as
 *     much; 0 in the log directories
 * @param createdMillis when the segment became known to Strata: its creation, or for a file that
 *     was there before, its modification time
 * @param changedMillis when its bytes last changed, or {@code createdMillis}
 * @param readMillis when a consumer, a follower or Kafka itself last read from it; {@code
 *     createdMillis} if nobody has since the broker started
 * @param recentReadBytes bytes read from it, each counting half after ten minutes, a quarter after
 *     twenty, and so on
 * @param found whether it is in a log directory because its file was there when this broker opened
 *     it, and not because it left a pool or found no space in one. Strata's own policies have such
 *     a segment come up only if it is read
 */
public record SegmentView(
    long id,
    SegmentName name,
    String logDirectory,
    int tier,
    OptionalInt cleanTier,
    boolean active,
    boolean spilled,
    long bytes,
    long poolBytes,
    long createdMillis,
    long changedMillis,
    long readMillis,
    double recentReadBytes,
    boolean found) {

  /**
   * The name of the last tier: Kafka's own log directories, where each segment has its log file.
   */
  public static final String LOG_DIRS = "logdirs";

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a tier or a count is negative, or the clean copy is not
   *     below the tier
   */
  public SegmentView {
    requireNonNull(name);
    requireNonNull(logDirectory);
    requireNonNull(cleanTier);
    if (tier < 0 || bytes < 0 || poolBytes < 0 || !(recentReadBytes >= 0)) {
      throw new IllegalArgumentException(
          "%s: tier %s, bytes %s, in the pool %s, read recently %s: expected numbers from 0"
              .formatted(name.id(), tier, bytes, poolBytes, recentReadBytes));
    }
    if (cleanTier.isPresent() && cleanTier.getAsInt() <= tier) {
      throw new IllegalArgumentException(
          name.id() + ": clean in tier " + cleanTier.getAsInt() + ", expected one below " + tier);
    }
  }

  /** Whether a lower tier has a whole, durable copy. */
  public boolean clean() {
    return cleanTier.isPresent();
  }
}
