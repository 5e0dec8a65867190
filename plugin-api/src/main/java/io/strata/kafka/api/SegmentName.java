package io.strata.kafka.api;

import static java.util.Objects.requireNonNull;

import java.util.Optional;

/**
 * The content of the names of a segment's file and its partition's directory, in Kafka's own
 * scheme: {@code orders-3/00000000000000004711.log}, {@code orders-3.<unique>-future/...}, {@code
 * ....log.cleaned}.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param id the segment; in a directory of a replica that is not {@link Replica#CURRENT} Kafka may
 *     have cut the end of a very long topic's name
 * @param replica what the partition's directory holds
 * @param stage where in its life the file is
 */
public record SegmentName(SegmentId id, Replica replica, Stage stage) {

  /** The kind of replica that the directory of a partition holds. */
  public enum Replica {
    /** The replica that the broker serves. */
    CURRENT(""),
    /** A copy that will replace the replica when it has caught up: a move between directories. */
    FUTURE("-future"),
    /** A replica whose deletion has been decided. */
    DELETED("-delete"),
    /** A replica that the cluster does not know; set aside by Kafka. */
    STRAY("-stray");

    private final String suffix;

    Replica(String suffix) {
      this.suffix = suffix;
    }
  }

  /** Where in its life a segment's file is. */
  public enum Stage {
    /** The segment itself. */
    LIVE(""),
    /** Deletion has been decided; readers may still be at it. */
    DELETED(".deleted"),
    /** Being written by the log cleaner, from older segments. */
    CLEANED(".cleaned"),
    /** Written by the log cleaner, about to take the place of older segments. */
    SWAP(".swap");

    private final String suffix;

    Stage(String suffix) {
      this.suffix = suffix;
    }
  }

  private static final String LOG_SUFFIX = ".log";
  private static final int OFFSET_DIGITS = 20;

  /** Checks that nothing is null. */
  public SegmentName {
    requireNonNull(id);
    requireNonNull(replica);
    requireNonNull(stage);
  }

  /**
   * Reads the names.
   *
   * @param directory the last name of the partition's directory
   * @param file the last name of the file
   * @return empty if this is no segment of a partition
   */
  public static Optional<SegmentName> parse(String directory, String file) {
    Optional<Stage> stage = stageOf(file);
    if (stage.isEmpty()) {
      return Optional.empty();
    }
    Replica replica = Replica.CURRENT;
    String partitionName = directory;
    for (Replica other : Replica.values()) {
      if (other != Replica.CURRENT && directory.endsWith(other.suffix)) {
        int dot = directory.lastIndexOf('.');
        if (dot < 0) {
          return Optional.empty();
        }
        replica = other;
        partitionName = directory.substring(0, dot);
        break;
      }
    }
    // A topic's name may have dashes; the partition follows the last one.
    int dash = partitionName.lastIndexOf('-');
    if (dash < 1) {
      return Optional.empty();
    }
    try {
      String digits = partitionName.substring(dash + 1);
      if (!isNumber(digits)) {
        return Optional.empty();
      }
      SegmentId id =
          new SegmentId(
              partitionName.substring(0, dash),
              Integer.parseInt(digits),
              Long.parseLong(file, 0, OFFSET_DIGITS, 10));
      return Optional.of(new SegmentName(id, replica, stage.get()));
    } catch (NumberFormatException e) {
      return Optional.empty(); // More than an int or a long holds.
    }
  }

  private static Optional<Stage> stageOf(String file) {
    if (file.length() < OFFSET_DIGITS
        || !isNumber(file.substring(0, OFFSET_DIGITS))
        || !file.startsWith(LOG_SUFFIX, OFFSET_DIGITS)) {
      return Optional.empty();
    }
    String suffix = file.substring(OFFSET_DIGITS + LOG_SUFFIX.length());
    for (Stage stage : Stage.values()) {
      if (stage.suffix.equals(suffix)) {
        return Optional.of(stage);
      }
    }
    return Optional.empty();
  }

  private static boolean isNumber(String text) {
    if (text.isEmpty()) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }
}
