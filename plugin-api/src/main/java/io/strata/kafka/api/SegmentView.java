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
 * @param active whether Kafka may still append to it; such a segment is copied into its log file
 *     and evicted, as far as it goes, and not moved otherwise
 * @param spilled whether its tail is in the log file because the pool had no space
 * @param bytes the segment's length
 * @param poolBytes the space that it takes in {@code tier}, in whole extents; 0 in the log
 *     directories
 * @param dirtyBytes how many of its bytes {@code tier} alone has: what a copy down writes
 * @param cleanBytes the part of {@code poolBytes} that an eviction frees now: all of it if the
 *     segment is clean and not active, otherwise the extents whose bytes are all in the log file
 * @param createdMillis when the segment became known to Strata: its creation, or for a file that
 *     was there before, its modification time
 * @param changedMillis when its bytes last changed, or {@code createdMillis}
 * @param readMillis when a consumer, a follower or Kafka itself last read from it; {@code
 *     createdMillis} if it has not been read since the broker started
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
    long dirtyBytes,
    long cleanBytes,
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
    if (tier < 0
        || bytes < 0
        || dirtyBytes < 0
        || cleanBytes < 0
        || cleanBytes > poolBytes
        || !(recentReadBytes >= 0)) {
      throw new IllegalArgumentException(
          """
          %s: tier %s, bytes %s, in the pool %s, dirty %s, clean %s, read recently %s: expected \
          numbers from 0, and not more clean than there is\
          """
              .formatted(
                  name.id(), tier, bytes, poolBytes, dirtyBytes, cleanBytes, recentReadBytes));
    }
    if (cleanTier.isPresent() && cleanTier.getAsInt() <= tier) {
      throw new IllegalArgumentException(
          name.id() + ": clean in tier " + cleanTier.getAsInt() + ", expected one below " + tier);
    }
  }

  /** Returns whether a lower tier has a whole, durable copy. */
  public boolean clean() {
    return cleanTier.isPresent();
  }

  /** Returns whether an eviction frees anything now. */
  public boolean evictable() {
    return cleanBytes > 0 || leavesWhole();
  }

  /** Returns whether an eviction frees all that the segment takes, its slot included. */
  public boolean leavesWhole() {
    return clean() && !active;
  }

  /** This segment after all of its bytes have been copied to a lower tier. */
  public SegmentView copiedTo(int lowerTier) {
    return new SegmentView(
        id,
        name,
        logDirectory,
        tier,
        OptionalInt.of(lowerTier),
        active,
        spilled,
        bytes,
        poolBytes,
        0,
        poolBytes,
        createdMillis,
        changedMillis,
        readMillis,
        recentReadBytes,
        found);
  }
}
