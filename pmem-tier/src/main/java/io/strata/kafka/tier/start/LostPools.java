package io.strata.kafka.tier.start;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.TaggedLogFile;
import io.strata.kafka.tier.spec.FailureText;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/** The partitions that have bytes in pools that are not there. Used by one thread. */
public final class LostPools {

  private static final int NAMED = 20;
  private static final String REMEDY =
      """
       if it is lost, 'strata accept-loss' says which records may be missing, and Kafka \
      replicates them from the other replicas\
      """;

  /** Kafka's own topics have most partitions, and say least: they come last. */
  private static final Comparator<String> USERS_TOPICS_FIRST =
      Comparator.comparing((String partition) -> partition.startsWith("__"))
          .thenComparing(Comparator.naturalOrder());

  private final Map<UUID, TreeSet<String>> partitions = new TreeMap<>();
  private final TreeSet<String> directories = new TreeSet<>();
  private int segments;

  void add(SegmentTag tag, Path logFile) {
    Path partition = logFile.getParent();
    if (partition != null) {
      partitions
          .computeIfAbsent(tag.pool(), id -> new TreeSet<>(USERS_TOPICS_FIRST))
          .add(String.valueOf(partition.getFileName()));
      Path directory = partition.getParent();
      if (directory != null) {
        directories.add(directory.toString());
      }
    }
    segments++;
  }

  /**
   * Does nothing when no pool is lost.
   *
   * @param open the pools that are there, for the message
   * @throws IOException naming the lost pools and the partitions
   */
  void refuse(String open) throws IOException {
    if (segments == 0) {
      return;
    }
    throw new FileSystemException(
        String.join(", ", directories),
        null,
        """
        %s the configuration has %s. Add the missing pool's file to strata.pools (or \
        strata.tier.<name>.pools), or bring it back from where it was;%s\
        """
            .formatted(summary("not open", Map.of()), open, REMEDY));
  }

  /**
   * Names the partitions that have bytes in pools that are not among the configured files, and
   * where those pools were, as far as the log directories recorded it.
   *
   * @param refusal what is to be thrown for a missing file
   * @return the refusal itself when no segment is concerned
   */
  public static IOException explain(PoolException refusal, TierSpec spec) throws IOException {
    List<Path> missing = spec.pools().stream().filter(file -> !Files.exists(file)).toList();
    if (missing.isEmpty()) {
      return refusal; // It is there by now.
    }
    Set<UUID> present = new HashSet<>();
    Set<Path> unreadable = new HashSet<>();
    for (Path file : spec.pools()) {
      if (!missing.contains(file)) {
        try (PoolReader pool = Pool.openReadOnly(file)) {
          present.add(pool.info().id());
        } catch (IOException notLost) {
          unreadable.add(file);
        }
      }
    }
    LostPools lost = new LostPools();
    Map<UUID, Path> were = new TreeMap<>();
    for (Path directory : spec.logDirectories()) {
      if (Files.isDirectory(directory)) {
        Optional<LogDirectory> known = LogDirectory.find(directory.toRealPath());
        if (known.isPresent()) {
          Map<UUID, Path> recorded = known.get().recordedPools();
          recorded.values().removeAll(unreadable);
          recorded.keySet().removeAll(present);
          lost.addMissing(known.get(), recorded.keySet());
          were.putAll(recorded);
        }
      }
    }
    if (lost.segments == 0) {
      return refusal;
    }
    return FailureText.at(
        missing.get(0),
        """
        found no such file, expected a pool; %s mount its file system, or correct the path in \
        strata.pools (or strata.tier.<name>.pools);%s\
        """
            .formatted(lost.summary("missing", were), REMEDY));
  }

  private void addMissing(LogDirectory directory, Set<UUID> missing) throws IOException {
    for (TaggedLogFile logFile : TaggedLogFile.in(directory.path())) {
      if (missing.contains(logFile.tag().pool())) {
        add(logFile.tag(), logFile.file());
      }
    }
  }

  private String summary(String state, Map<UUID, Path> were) {
    StringBuilder message = new StringBuilder();
    message
        .append(segments)
        .append(segments == 1 ? " segment has" : " segments have")
        .append(" bytes in pools that are ")
        .append(state)
        .append(':');
    partitions.forEach(
        (pool, names) -> {
          message.append(" pool ").append(pool);
          Optional.ofNullable(were.get(pool))
              .ifPresent(path -> message.append(", which was ").append(path));
          message.append(": ");
          message.append(names.size()).append(names.size() == 1 ? " partition (" : " partitions (");
          message.append(String.join(", ", names.stream().limit(NAMED).toList()));
          message.append(names.size() > NAMED ? ", ..." : "").append(");");
        });
    return message.toString();
  }
}
