package io.strata.kafka.tier.directory;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.tier.spec.TestHook;
import java.io.File;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/** The name of a Kafka segment: 20 digits, {@code .log}, and the suffix of a file in transit. */
public final class SegmentNames {

  private static final int DIGITS = 20;
  private static final String LARGEST =
      String.format(Locale.ROOT, "%0" + DIGITS + "d", Long.MAX_VALUE);
  private static final String EXTENSION = ".log";
  private static final String DELETED = ".deleted";
  private static final int NAME_LENGTH = DIGITS + EXTENSION.length();

  /** A test may place files of any name in the pool: then no name rules a file out. */
  private static final boolean ANY_NAME = TestHook.placement().isPresent();

  private static final String SOME_SEGMENT = "00000000000000000000.log";

  private SegmentNames() {}

  /** Returns what the names of a file and of its directory say; empty when they are not Kafka's. */
  public static Optional<SegmentName> of(Path logFile) {
    Path partition = logFile.getParent();
    Path name = logFile.getFileName();
    if (partition == null || name == null || partition.getFileName() == null) {
      return Optional.empty();
    }
    return SegmentName.parse(String.valueOf(partition.getFileName()), name.toString());
  }

  /** Returns whether a segment's file is one of a log's, by the end of its name. */
  public static boolean isLive(String path) {
    return path.endsWith(EXTENSION);
  }

  /** Returns what Kafka calls the segment that begins with an offset. */
  public static String fileName(long baseOffset) {
    return String.format(Locale.ROOT, "%0" + DIGITS + "d", baseOffset) + EXTENSION;
  }

  /** Returns the name by which Kafka deletes a segment's log file when it starts. */
  public static Path deleted(Path logFile) {
    String name = String.valueOf(logFile.getFileName()).substring(0, NAME_LENGTH);
    return logFile.resolveSibling(name + DELETED);
  }

  /** The offset that the name of a segment's file, its indexes' or a snapshot's begins with. */
  public static OptionalLong offsetOf(Path file) {
    return offsetOf(String.valueOf(file.getFileName()));
  }

  /** As {@link #offsetOf(Path)}, of the last name alone. */
  public static OptionalLong offsetOf(String name) {
    boolean hasOffset =
        name.length() > DIGITS
            && name.charAt(DIGITS) == '.'
            && name.chars().limit(DIGITS).allMatch(c -> c >= '0' && c <= '9');
    // Twenty digits may be more than any offset: such a file is none of Kafka's.
    return hasOffset && name.substring(0, DIGITS).compareTo(LARGEST) <= 0
        ? OptionalLong.of(Long.parseLong(name.substring(0, DIGITS)))
        : OptionalLong.empty();
  }

  /** Returns whether a directory may be a partition's, whatever Kafka calls it at the moment. */
  static boolean maybePartition(Path directory) {
    return ANY_NAME || inPartition(directory).isPresent();
  }

  /** Returns what a segment in a directory would be called; empty if it is no partition's. */
  public static Optional<SegmentName> inPartition(Path directory) {
    return SegmentName.parse(String.valueOf(directory.getFileName()), SOME_SEGMENT);
  }

  /** Returns whether a directory is a partition's, and its replica is of a kind. */
  public static boolean isReplica(Path directory, SegmentName.Replica kind) {
    return inPartition(directory).filter(name -> name.replica() == kind).isPresent();
  }

  /** Returns whether Kafka keeps the segment when it starts; it deletes the others. */
  public static boolean isKept(SegmentName name) {
    return name.replica() != SegmentName.Replica.DELETED
        && (name.stage() == SegmentName.Stage.LIVE || name.stage() == SegmentName.Stage.SWAP);
  }

  static boolean maybeSegment(String path) {
    return ANY_NAME || isSegmentName(path);
  }

  /** Looks at the last name of {@code path} alone, and creates nothing. */
  public static boolean isSegmentName(String path) {
    int length = path.length();
    int name = path.lastIndexOf(File.separatorChar) + 1;
    if (length - name < NAME_LENGTH || !path.startsWith(EXTENSION, name + DIGITS)) {
      return false;
    }
    for (int i = name; i < name + DIGITS; i++) {
      char c = path.charAt(i);
      if (c < '0' || c > '9') {
        return false;
      }
    }
    int suffix = name + NAME_LENGTH;
    return suffix == length
        || hasSuffix(path, suffix, DELETED)
        || hasSuffix(path, suffix, ".cleaned")
        || hasSuffix(path, suffix, ".swap");
  }

  private static boolean hasSuffix(String path, int position, String suffix) {
    return path.length() - position == suffix.length() && path.startsWith(suffix, position);
  }
}
