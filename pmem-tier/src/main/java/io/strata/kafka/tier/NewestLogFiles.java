package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;

/**
 * Makes durable what a process that was killed may have written in the log file and not forced: the
 * last append, or truncation, of a partition, and the name of a file that it made. It is there
 * after the start, Kafka believes it, and may acknowledge it without writing anything: to a
 * producer that sends its batch again.
 *
 * <p>Thread safety: may be called by any thread.
 */
final class NewestLogFiles {

  /** Kafka writes it when it has forced everything and stops (CleanShutdownFileHandler). */
  private static final String CLEAN_SHUTDOWN = ".kafka_cleanshutdown";

  /** Is told of a log directory that cannot be read. */
  @FunctionalInterface
  interface Unreadable {
    void notice(LogDirectory directory, IOException cause) throws IOException;
  }

  private final LogDirectories logDirectories;

  NewestLogFiles(LogDirectories logDirectories) {
    this.logDirectories = logDirectories;
  }

  /** Forces them in those of the log directories that can be read. */
  void force(Unreadable unreadable) throws IOException {
    for (LogDirectory directory : List.copyOf(logDirectories.all())) {
      if (Files.exists(directory.path().resolve(CLEAN_SHUTDOWN))) {
        continue;
      }
      try {
        force(directory.path());
      } catch (IOException e) {
        unreadable.notice(directory, e);
      }
    }
  }

  /** Forces them in one log directory. */
  static void force(Path logDirectory) throws IOException {
    for (Path partition : partitions(logDirectory)) {
      forceNewest(partition);
    }
    Directories.force(logDirectory);
  }

  /** What may be partitions in a log directory. */
  static List<Path> partitions(Path logDirectory) throws IOException {
    return list(logDirectory).stream()
        .filter(path -> SegmentNames.maybePartition(path) && Files.isDirectory(path))
        .toList();
  }

  private static void forceNewest(Path partition) throws IOException {
    List<Path> files;
    try {
      files = list(partition);
    } catch (NoSuchFileException e) {
      return; // Deleted just now, on a running broker.
    }
    Optional<Path> newest =
        files.stream()
            .filter(SegmentFiles::maybeSegment)
            .filter(file -> file.toString().endsWith(".log"))
            .max(Comparator.comparing(file -> String.valueOf(file.getFileName())));
    if (newest.isPresent()) {
      // It may be a symbolic link that leads nowhere: Kafka will say so.
      Directories.forceIfThere(newest.get());
      Directories.forceIfThere(partition);
    }
  }

  private static List<Path> list(Path directory) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      return StreamSupport.stream(entries.spliterator(), false).toList();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }
}
