package io.strata.kafka.cli;

import static java.util.Comparator.comparing;

import io.strata.kafka.api.SegmentName;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/**
 * One segment's file in a log directory, and where its bytes are.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param name what its file's and directory's names say
 * @param file its log file
 * @param state where its bytes are
 * @param pool the pool that holds its head, if one does
 * @param bytesInPool bytes in the pool
 * @param bytesInLogFile bytes in the file that count; some of them are in the pool, too
 * @param bytesOnlyInPool bytes in the pool that the file has not got yet
 */
record SegmentEntry(
    SegmentName name,
    Path file,
    State state,
    Optional<Path> pool,
    long bytesInPool,
    long bytesInLogFile,
    long bytesOnlyInPool)
    implements Comparable<SegmentEntry> {

  /** Where a segment's bytes are. */
  enum State {
    /** All in the pool. */
    HOT,
    /** The head in the pool, the tail in the log file. */
    SPILLED,
    /** All in its log file. */
    LOGDIRS,
    /** Tagged, and its pool or its slot cannot be read: how much is where is not known. */
    UNREACHABLE;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final Comparator<SegmentEntry> ORDER =
      comparing((SegmentEntry entry) -> entry.name().id()).thenComparing(SegmentEntry::file);

  @Override
  public int compareTo(SegmentEntry other) {
    return ORDER.compare(this, other);
  }

  /** Whether the log file of a segment in a pool has all of it, too. */
  boolean clean() {
    return pool.isPresent()
        && state != State.UNREACHABLE
        && bytesInPool > 0
        && bytesOnlyInPool == 0;
  }

  /** The partition, and what its directory holds if it is not the served replica. */
  String partition() {
    String partition = name.id().topic() + "-" + name.id().partition();
    return name.replica() == SegmentName.Replica.CURRENT
        ? partition
        : partition + " (" + name.replica().name().toLowerCase(Locale.ROOT) + ")";
  }

  /** The state, and the file's stage if it is not an ordinary segment. */
  String describeState() {
    return name.stage() == SegmentName.Stage.LIVE
        ? state.label()
        : state.label() + " (" + name.stage().name().toLowerCase(Locale.ROOT) + ")";
  }
}
