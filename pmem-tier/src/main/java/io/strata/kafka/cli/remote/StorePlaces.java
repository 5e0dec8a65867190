package io.strata.kafka.cli.remote;

import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.ConfigOption;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.RemoteConfig;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.keep.Scrubber;
import io.strata.kafka.migration.remote.store.keep.StoreInspection;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Predicate;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which directories and segments of a store a command is about. */
final class StorePlaces {

  @Mixin private final ConfigOption config = new ConfigOption();

  @Option(
      names = "--dir",
      paramLabel = "DIRECTORY",
      description =
          """
          A directory of the store, in place of --config; may be given several times, the fastest \
          first.\
          """)
  private List<Path> directories = new ArrayList<>();

  @Option(
      names = "--topic",
      paramLabel = "NAME",
      description = "Only this topic; may be given several times.")
  private List<String> topics = new ArrayList<>();

  @Option(
      names = "--partition",
      paramLabel = "NUMBER",
      description = "Only this partition; may be given several times.")
  private List<Integer> partitions = new ArrayList<>();

  /** One directory; its level is empty if that is not known. */
  record Place(Optional<String> level, Path directory) {

    String shown() {
      return level.orElse(directory.toString());
    }

    <T> T whileItAnswers(String what, Deadlines.Work<T> work)
        throws IOException, InterruptedException {
      return StoreInspection.whileItAnswers(directory, what + " " + directory, work);
    }
  }

  /** The topics of the segments that {@link #chosen} was asked of. */
  private final Set<String> seen = new ConcurrentSkipListSet<>();

  Predicate<SegmentKey> chosen() {
    return key -> {
      boolean unused = seen.add(key.topic());
      return (topics.isEmpty() || topics.contains(key.topic()))
          && (partitions.isEmpty() || partitions.contains(key.partition()));
    };
  }

  /**
   * Returns a sentence for each chosen topic that the store has no segment of; asked at the end.
   */
  List<String> notFound() {
    return topics.stream()
        .filter(topic -> !seen.contains(topic))
        .map(
            topic ->
                "--topic: found no segment of topic %s in the store, which has those of %s"
                    .formatted(topic, seen.isEmpty() ? "none" : String.join(", ", seen)))
        .toList();
  }

  /** Returns whether neither topics nor partitions are chosen. */
  boolean isEverything() {
    return topics.isEmpty() && partitions.isEmpty();
  }

  /** For a check of the chosen segments, or of all there is. */
  Scrubber.Options options(Scrubber.Depth depth, boolean removeOrphans, Duration orphanAge) {
    return new Scrubber.Options(depth, chosen(), isEverything(), removeOrphans, orphanAge);
  }

  List<String> withNotFound(List<String> findings) {
    List<String> all = new ArrayList<>(findings);
    all.addAll(notFound());
    return all;
  }

  /** The directories, those of the fastest level first. */
  List<Place> resolve()
      throws IOException, InterruptedException, CommandException, ConfigRefusedException {
    Optional<BrokerProperties> broker = config.load();
    if (broker.isPresent() == !directories.isEmpty()) {
      throw CommandException.usage(
          broker.isPresent()
              ? "found --config and --dir, expected one of the two"
              : "found neither --config nor --dir, expected one of the two");
    }
    for (int partition : partitions) {
      if (partition < 0) {
        throw CommandException.usage(
            "--partition: found %d, expected 0 or more".formatted(partition));
      }
    }
    List<Place> places = new ArrayList<>();
    if (broker.isPresent()) {
      for (StoreOptions.LevelOptions level :
          RemoteConfig.parse(broker.get()).orElseThrow().levels()) {
        level
            .directories()
            .forEach(d -> places.add(new Place(Optional.of(level.name()), d.path())));
      }
      return places;
    }
    for (Path directory : new LinkedHashSet<>(directories)) {
      Place given = new Place(Optional.empty(), directory);
      if (!given.whileItAnswers("looking at", control -> Files.isDirectory(directory))) {
        throw CommandException.usage(
            "--dir: found no directory " + directory + ", expected one of the store's");
      }
      places.add(new Place(Optional.empty(), directory.toAbsolutePath().normalize()));
    }
    return places;
  }
}
