package io.strata.kafka.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether the directories of the store can be used as such: they are there, and none is in another,
 * nor has anything to do with a log directory. Links are followed, so that two names of one
 * directory are found.
 *
 * <p>Not thread-safe.
 */
final class DirectoryChecks {

  private final KeyReader reader;
  private final Map<Path, String> logDirectories = new LinkedHashMap<>();

  /** Those checked so far, by their real paths. */
  private final Map<Path, String> taken = new LinkedHashMap<>();

  DirectoryChecks(KeyReader reader, Optional<BrokerProperties> broker) {
    this.reader = reader;
    broker.ifPresent(
        file -> {
          List<Path> directories = new ArrayList<>(file.logDirs());
          directories.add(file.metadataLogDir());
          directories.forEach(path -> logDirectories.put(real(path), "log directory " + path));
        });
  }

  /** Checks a level's directories, and refuses those that cannot be used. */
  void check(String key, List<Path> directories) {
    for (Path directory : directories) {
      if (!Files.isDirectory(directory)) {
        reader.refuse(
            key,
            "'"
                + directory
                + "', which is "
                + (Files.exists(directory) ? "not a directory" : "not there"),
            "a directory that exists",
            "mount its file system, or create it: Strata does not, since what is not there may just"
                + " not be mounted");
        continue;
      }
      Path real = real(directory);
      related(real, logDirectories)
          .ifPresent(
              relation ->
                  reader.refuse(
                      key,
                      "'" + directory + "', which is " + relation,
                      "a directory apart from log.dirs",
                      "choose another: Kafka takes what is in a log directory for its own"));
      related(real, taken)
          .ifPresent(
              relation ->
                  reader.refuse(
                      key,
                      "'" + directory + "', which is " + relation,
                      "each directory once, in one level only, and none inside another",
                      "choose another, or take it out"));
      taken.put(real, key + "'s " + directory);
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
