package io.strata.kafka.tier.directory;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.segment.ValidRecords;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/**
 * Makes durable what a process that was killed may have written in the log file and not forced: the
 * last append, or truncation, of a partition, and the name of a file that it made. It is there
 * after the start, Kafka believes it, and may acknowledge it without writing anything: to a
 * producer that sends its batch again.
 *
 * <p>Thread safety: may be called by any thread.
 */
public final class NewestLogFiles {

  /** Kafka writes it when it has forced everything and stops (CleanShutdownFileHandler). */
  public static final String CLEAN_SHUTDOWN = ".kafka_cleanshutdown";

  /** A name that comes after those of all log files. */
  private static final String AFTER_ALL = "~";

  private NewestLogFiles() {}

  /** Forces them in the log directories, and skips those that cannot be read. */
  public static void forceIn(LogDirectories logDirectories) {
    for (LogDirectory directory : List.copyOf(logDirectories.all())) {
      if (Files.exists(directory.path().resolve(CLEAN_SHUTDOWN))) {
        continue;
      }
      try {
        force(directory.path());
      } catch (IOException e) {
        logDirectories.skip(directory, "it cannot be read: " + FailureText.of(e));
      }
    }
  }

  /** Forces them in one log directory. */
  public static void force(Path logDirectory) throws IOException {
    for (Path partition : partitions(logDirectory)) {
      forceNewest(partition);
    }
    Directories.force(logDirectory);
  }

  /** Returns what may be partitions in a log directory. */
  public static List<Path> partitions(Path logDirectory) throws IOException {
    List<Path> partitions = new ArrayList<>();
    for (Path path : Directories.list(logDirectory)) {
      if (SegmentNames.maybePartition(path) && FileStatus.isDirectory(path)) {
        partitions.add(path);
      }
    }
    return partitions;
  }

  private static void forceNewest(Path partition) throws IOException {
    List<Path> newestFirst;
    try {
      newestFirst = all(partition);
    } catch (NoSuchFileException e) {
      return; // Deleted just now, on a running broker.
    }
    if (!newestFirst.isEmpty()) {
      forceWithEntry(newestFirst.get(0));
    }
  }

  /** Returns the log files of a partition before a segment, there or not; the newest first. */
  public static List<Path> before(Path partition, Path segment) throws IOException {
    String end = String.valueOf(segment.getFileName());
    return Directories.list(partition).stream()
        .filter(SegmentFiles::maybeSegment)
        .filter(file -> file.toString().endsWith(".log"))
        .filter(file -> String.valueOf(file.getFileName()).compareTo(end) < 0)
        .sorted(Comparator.comparing((Path file) -> String.valueOf(file.getFileName())).reversed())
        .toList();
  }

  /**
   * Returns whether a log file's valid records end where another log file of its directory begins:
   * it lacks none. If they do not, that proves nothing: compaction leaves gaps there.
   */
  public static boolean reachesNext(Path logFile) throws IOException {
    OptionalLong base = SegmentNames.offsetOf(logFile);
    if (base.isEmpty()) {
      return false;
    }
    long next = ValidRecords.nextOffset(logFile, base.getAsLong());
    return next > base.getAsLong()
        && FileStatus.of(logFile.resolveSibling(SegmentNames.fileName(next))).isPresent();
  }

  /** Returns the log files of a partition, the newest first. */
  static List<Path> all(Path partition) throws IOException {
    return before(partition, partition.resolve(AFTER_ALL));
  }

  /** Forces a log file and its directory, if they are there. */
  public static void forceWithEntry(Path logFile) throws IOException {
    // It may be a symbolic link that leads nowhere: Kafka will say so.
    Directories.forceIfThere(logFile);
    Directories.forceIfThere(Directories.of(logFile));
  }
}
