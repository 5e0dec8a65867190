package io.strata.kafka.migration.remote;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.migration.remote.store.SegmentInfo;
import io.strata.kafka.migration.remote.store.SegmentKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Which sealed segments are not in the store yet, of the partitions that this broker has copied
 * from: by the files in the log directory and by what the store has. A follower's segments count,
 * too, until the new leader has copied them.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class Uncopied {

  private record Partition(String topicId, int partition) {
    Partition(SegmentKey key) {
      this(key.topicId(), key.partition());
    }
  }

  private final Supplier<Stream<SegmentInfo>> stored;
  private final Map<Partition, Path> directories = new ConcurrentHashMap<>();

  /**
   * Those of no partition yet.
   *
   * @param stored what the store has, as far as it is known
   */
  Uncopied(Supplier<Stream<SegmentInfo>> stored) {
    this.stored = stored;
  }

  /** This broker leads a partition: Kafka has it copy one of its segments. */
  void led(SegmentKey key, Path log) {
    Path directory = log.getParent();
    if (directory != null) {
      directories.put(new Partition(key), directory);
    }
  }

  /** Returns when the oldest of them was last written to; empty if there is none. */
  OptionalLong oldestMillis() {
    Map<Partition, Long> ends = new HashMap<>();
    stored
        .get()
        .forEach(
            segment -> ends.merge(new Partition(segment.key()), segment.endOffset(), Math::max));
    OptionalLong oldest = OptionalLong.empty();
    for (Map.Entry<Partition, Path> entry : Map.copyOf(directories).entrySet()) {
      try {
        OptionalLong time = oldestMillis(ends.getOrDefault(entry.getKey(), -1L), entry.getValue());
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

  private static OptionalLong oldestMillis(long copied, Path directory) throws IOException {
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
