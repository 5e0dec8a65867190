package io.strata.kafka.config;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.calls.Deadlines;
import io.strata.kafka.migration.remote.store.StoreInspection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether the directories of the store can be used as such: they are there, and none is in another,
 * nor has anything to do with a log directory. Links are followed, so that two names of one
 * directory are found. One that the broker has used before, and that is not there now, is no fault
 * of the configuration: the store does without it.
 *
 * <p>Not thread-safe.
 */
final class DirectoryChecks {

  /** A file system that takes longer to tell what is there does not answer. */
  private static final Duration LOOK = Duration.ofSeconds(30);

  private final KeyReader reader;
  private final List<Path> logDirectoryList;
  private final Map<Path, String> logDirectories = new LinkedHashMap<>();

  /** Those checked so far, by their real paths. */
  private final Map<Path, String> taken = new LinkedHashMap<>();

  DirectoryChecks(KeyReader reader, Optional<BrokerProperties> broker) {
    this.reader = reader;
    this.logDirectoryList = broker.map(BrokerProperties::logDirs).orElse(List.of());
    List<Path> directories = new ArrayList<>(logDirectoryList);
    broker.map(BrokerProperties::metadataLogDir).ifPresent(directories::add);
    directories.forEach(path -> logDirectories.put(real(path), "log directory " + path));
  }

  /**
   * The result of a look at a directory.
   *
   * @param real its real path; its name where it is not there
   * @param trouble what it is instead of a directory; empty if it is one
   */
  private record Look(Path real, String trouble) {}

  /** Checks a level's directories, and refuses those that cannot be used. */
  void check(String key, List<Path> directories) {
    for (Path directory : directories) {
      Look look = look(directory);
      if (!look.trouble().isEmpty() && !StoreInspection.isRemembered(logDirectoryList, directory)) {
        reader.refuse(
            key,
            "'" + directory + "', which " + look.trouble(),
            "a directory that exists",
            """
            mount its file system, or create it: Strata does not, since what is not there may \
            just not be mounted\
            """);
        continue;
      }
      related(look.real(), logDirectories)
          .ifPresent(
              relation ->
                  reader.refuse(
                      key,
                      "'" + directory + "', which is " + relation,
                      "a directory apart from log.dirs",
                      "choose another: Kafka takes what is in a log directory for its own"));
      related(look.real(), taken)
          .ifPresent(
              relation ->
                  reader.refuse(
                      key,
                      "'" + directory + "', which is " + relation,
                      "each directory once, in one level only, and none inside another",
                      "choose another, or take it out"));
      taken.put(look.real(), key + "'s " + directory);
    }
  }

  /** Looks, but not for ever: a network file system may hang. */
  private static Look look(Path directory) {
    try (Deadlines calls =
        new Deadlines("strata-remote-look", 1, EngineEnvironment.system().threads())) {
      return calls.call(
          "looking at " + directory,
          LOOK,
          control ->
              new Look(
                  real(directory),
                  Files.isDirectory(directory)
                      ? ""
                      : Files.exists(directory) ? "is not a directory" : "is not there"));
    } catch (IOException e) {
      return new Look(directory, "does not answer within " + LOOK.toSeconds() + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Look(directory, "was not looked at: the thread was interrupted");
    }
  }

  /** How the first of {@code others} that has to do with a directory does so. */
  private static Optional<String> related(Path directory, Map<Path, String> others) {
    return others.entrySet().stream()
        .flatMap(
            other ->
                relation(directory, other.getKey())
                    .map(relation -> relation + " " + other.getValue())
                    .stream())
        .findFirst();
  }

  private static Optional<String> relation(Path one, Path other) {
    if (one.equals(other)) {
      return Optional.of("the same as");
    }
    if (one.startsWith(other)) {
      return Optional.of("inside");
    }
    return other.startsWith(one) ? Optional.of("around") : Optional.empty();
  }

  private static Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      // Not there, or not to be read: by its name then, which is all that there is to compare.
      return path.toAbsolutePath().normalize();
    }
  }
}
