package io.strata.kafka.migration.remote;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.migration.remote.store.SegmentKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.stream.Stream;

/**
 * Which sealed segments are not in the store yet, of the partitions that this broker has copied
 * from: by the files in the log directory and by what the store has. A follower's segments count,
 * too, until the new leader has copied them.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class Uncopied {

  private record Partition(String topicId, int partition) {}

  private final BiFunction<String, Integer, Optional<Long>> endOffset;
  private final Map<Partition, Path> directories = new ConcurrentHashMap<>();

  /**
   * Those of no partition yet.
   *
   * @param endOffset the last offset that the store has of a topic's id and partition, if known
   */
  Uncopied(BiFunction<String, Integer, Optional<Long>> endOffset) {
    this.endOffset = endOffset;
  }

  /** This broker leads a partition: Kafka has it copy one of its segments. */
  void led(SegmentKey key, Path log) {
    Path directory = log.getParent();
    if (directory != null) {
      directories.put(new Partition(key.topicId(), key.partition()), directory);
    }
  }

  /** Returns when the oldest of them was last written to; empty if there is none. */
  OptionalLong oldestMillis() {
    OptionalLong oldest = OptionalLong.empty();
    for (Map.Entry<Partition, Path> entry : Map.copyOf(directories).entrySet()) {
      try {
        OptionalLong time = oldestMillis(entry.getKey(), entry.getValue());
        if (time.isPresent()) {
          oldest = OptionalLong.of(Math.min(time.getAsLong(), oldest.orElse(Long.MAX_VALUE)));
        }
      } catch (IOException e) {
        // The partition was deleted, or moved to another directory or broker, or its disk failed.
        directories.remove(entry.getKey());
      }
    }
    return oldest;
  }

  private OptionalLong oldestMillis(Partition partition, Path directory) throws IOException {
    List<SegmentName> segments;
    try (Stream<Path> files = Files.list(directory)) {
      segments =
          files
              .flatMap(file -> SegmentName.parse(name(directory), name(file)).stream())
              .filter(segment -> segment.stage() == SegmentName.Stage.LIVE)
              .sorted(Comparator.comparingLong(segment -> segment.id().baseOffset()))
              .toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    long copied = endOffset.apply(partition.topicId(), partition.partition()).orElse(-1L);
    // The last one is being appended to.
    for (SegmentName segment : segments.subList(0, Math.max(0, segments.size() - 1))) {
      long base = segment.id().baseOffset();
      Path file = directory.resolve("%020d.log".formatted(base));
      if (base > copied && Files.exists(file)) {
        return OptionalLong.of(Files.getLastModifiedTime(file).toMillis());
      }
    }
    return OptionalLong.empty();
  }

  private static String name(Path file) {
    return String.valueOf(file.getFileName());
  }
}
