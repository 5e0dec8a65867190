package io.strata.kafka.it.harness;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.List;
import java.util.stream.Stream;

/** Segments as they lie in the log directories, seen past the provider: the test's JVM has none. */
public final class LogFiles {

  private static final String TAG = "strata.segment";
  private static final int STAT_BLOCK = 512;

  private LogFiles() {}

  /** The folder of a partition, in whichever log directory it is. */
  public static Path partition(StockBroker broker, String topic, int partition) {
    String name = topic + "-" + partition;
    return broker.logDirectories().stream()
        .map(dir -> dir.resolve(name))
        .filter(Files::isDirectory)
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " is in none of " + broker.logDirectories()));
  }

  /** The first log directory that has no such partition. */
  public static Path elsewhere(StockBroker broker, String topic, int partition) {
    Path from = partition(broker, topic, partition);
    return broker.logDirectories().stream()
        .filter(directory -> !from.startsWith(directory))
        .findFirst()
        .orElseThrow();
  }

  /** The folders of a topic's partitions in one log directory. */
  public static List<Path> partitions(Path logDirectory, String topic) throws IOException {
    try (Stream<Path> folders = Files.list(logDirectory)) {
      return folders.filter(f -> f.getFileName().toString().matches(topic + "-\\d+")).toList();
    }
  }

  /** The segments of a partition, oldest first. */
  public static List<Path> segments(Path partition) throws IOException {
    try (Stream<Path> files = Files.list(partition)) {
      return files.filter(f -> f.toString().endsWith(".log")).sorted().toList();
    }
  }

  /** Whether the file is tied to a slot of a pool. */
  public static boolean isHot(Path segment) throws IOException {
    return Files.getFileAttributeView(segment, UserDefinedFileAttributeView.class)
        .list()
        .contains(TAG);
  }

  /** All of a partition's segments that are tied to a slot. */
  public static List<Path> hotSegments(Path partition) throws IOException {
    return segments(partition).stream().filter(LogFiles::isHotUnchecked).toList();
  }

  /** The bytes that the file really has on its medium; a hole has none. */
  public static long allocatedBytes(Path file) throws IOException {
    Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
    try (InputStream output = stat.getInputStream()) {
      return Long.parseLong(new String(output.readAllBytes(), US_ASCII).trim()) * STAT_BLOCK;
    }
  }

  private static boolean isHotUnchecked(Path segment) {
    try {
      return isHot(segment);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
