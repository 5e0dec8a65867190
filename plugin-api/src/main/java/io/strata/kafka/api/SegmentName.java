package io.strata.kafka.api;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The content of the names of a segment's file and its partition's directory, in Kafka's own
 * scheme: {@code orders-3/00000000000000004711.log}, {@code orders-3.<unique>-future/...}, {@code
 * ....log.cleaned}.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param id the segment; in a directory of a replica that is not {@link Replica#CURRENT} Kafka may
 *     have truncated a very long topic's name
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

  private static final Pattern FILE = Pattern.compile("([0-9]{20})\\.log(\\.[a-z]+)?");

  /** A topic's name may have dashes; the partition follows the last one. */
  private static final Pattern DIRECTORY =
      Pattern.compile("(.+)-([0-9]+)(?:\\.[^.]*(-[a-z]+))?", Pattern.DOTALL);

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
    Matcher fileName = FILE.matcher(file);
    Matcher directoryName = DIRECTORY.matcher(directory);
    if (!fileName.matches() || !directoryName.matches()) {
      return Optional.empty();
    }
    try {
      SegmentId id =
          new SegmentId(
              directoryName.group(1),
              Integer.parseInt(directoryName.group(2)),
              Long.parseLong(fileName.group(1)));
      return withSuffix(Replica.values(), replica -> replica.suffix, directoryName.group(3))
          .flatMap(
              replica ->
                  withSuffix(Stage.values(), stage -> stage.suffix, fileName.group(2))
                      .map(stage -> new SegmentName(id, replica, stage)));
    } catch (NumberFormatException e) {
      return Optional.empty(); // More than an int or a long holds.
    }
  }

  private static <T> Optional<T> withSuffix(
      T[] all, Function<T, String> suffixOf, @Nullable String suffix) {
    String wanted = requireNonNullElse(suffix, "");
    return Stream.of(all).filter(each -> suffixOf.apply(each).equals(wanted)).findFirst();
  }
}
