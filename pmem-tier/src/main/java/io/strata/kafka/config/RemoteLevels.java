package io.strata.kafka.config;

import io.strata.kafka.config.key.StrataKey;
import io.strata.kafka.migration.remote.RemoteSettings;
import io.strata.kafka.migration.remote.RemoteSettings.ColdSettings;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.keep.StoreInspection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Reads the keys that describe the store: its levels, their directories and capacities, and the
 * manager that has the lowest level.
 *
 * <p>Not thread-safe.
 */
final class RemoteLevels {

  /** Ours: as its own cold manager it would ask itself without end. */
  static final String OWN_MANAGER = "io.strata.kafka.migration.remote.StrataRemoteStorageManager";

  private final KeyReader reader;
  private final Map<String, ?> manager;
  private final Set<String> addedByKafka;
  private final Optional<List<String>> names;
  private final List<Path> logDirectoryList;
  private final Map<Path, String> logDirectories = new LinkedHashMap<>();

  /** The directories checked so far, by their real paths. */
  private final Map<Path, String> taken = new LinkedHashMap<>();

  /** The levels of one broker, by the keys as Kafka gives them, without prefix. */
  RemoteLevels(KeyReader reader, Map<String, ?> manager, Optional<BrokerProperties> broker) {
    this.reader = reader;
    this.manager = manager;
    this.addedByKafka = RemoteConfig.addedByKafka(manager, broker);
    this.names = reader.read(RemoteKeys.LEVELS);
    this.logDirectoryList = broker.map(BrokerProperties::logDirs).orElse(List.of());
    List<Path> directories = new ArrayList<>(logDirectoryList);
    broker.map(BrokerProperties::metadataLogDir).ifPresent(directories::add);
    directories.forEach(
        path -> logDirectories.put(BrokerChecks.real(path), "log directory " + path));
  }

  /** The levels' names, the cold manager's included; empty if they cannot be read. */
  List<String> names() {
    List<String> all = new ArrayList<>(names.orElse(List.of()));
    if (hasCold()) {
      all.add(RemoteSettings.COLD);
    }
    return all;
  }

  /** The levels; incomplete if there is a problem, which the reader then has. */
  List<StoreOptions.LevelOptions> levels() {
    List<StoreOptions.LevelOptions> levels = new ArrayList<>();
    for (String name : names.orElse(List.of())) {
      StrataKey<List<Path>> key = RemoteKeys.LEVEL_DIRECTORIES.with(name);
      Optional<List<Path>> paths = reader.read(key);
      paths.ifPresent(found -> check(key.name(), found));
      Optional<List<Long>> capacities = reader.readIfSet(RemoteKeys.LEVEL_CAPACITY.with(name));
      paths.ifPresent(
          found ->
              levels.add(
                  new StoreOptions.LevelOptions(name, withCapacity(name, found, capacities))));
    }
    return levels;
  }

  private List<StoreOptions.Directory> withCapacity(
      String level, List<Path> paths, Optional<List<Long>> capacities) {
    List<Long> given = capacities.orElse(List.of());
    boolean fits = given.size() <= 1 || given.size() == paths.size();
    if (!fits) {
      reader.refuse(
          RemoteKeys.LEVEL_CAPACITY.with(level).name(),
          given.size() + " amounts",
          "one, or one for each of the " + paths.size() + " directories",
          "give as many as %s has directories"
              .formatted(RemoteKeys.LEVEL_DIRECTORIES.with(level).name()));
    }
    List<StoreOptions.Directory> result = new ArrayList<>();
    for (int i = 0; i < paths.size(); i++) {
      OptionalLong capacity =
          given.isEmpty() || !fits
              ? OptionalLong.empty()
              : OptionalLong.of(given.get(given.size() == 1 ? 0 : i));
      result.add(new StoreOptions.Directory(paths.get(i), capacity));
    }
    return result;
  }

  private boolean hasCold() {
    return !reader.names(RemoteKeys.COLD_PREFIX).isEmpty();
  }

  /** The manager of the lowest level; empty if there is none, or with one more problem. */
  Optional<ColdSettings> cold() {
    if (!hasCold()) {
      return Optional.empty();
    }
    Optional<String> className = reader.read(RemoteKeys.COLD_CLASS_NAME);
    if (className.filter(OWN_MANAGER::equals).isPresent()) {
      reader.refuse(
          RemoteKeys.COLD_CLASS_NAME.name(),
          "'" + OWN_MANAGER + "'",
          RemoteKeys.COLD_CLASS_NAME.expected(),
          "name another manager; levels of Strata's own go into " + RemoteKeys.LEVELS.name());
    }
    Optional<String> classPath = reader.readIfSet(RemoteKeys.COLD_CLASS_PATH);
    classPath.ifPresent(this::checkClassPath);
    return className.map(
        name -> new ColdSettings(name, classPath.filter(p -> !p.isEmpty()), coldConfigs()));
  }

  private void checkClassPath(String classPath) {
    String key = RemoteKeys.COLD_CLASS_PATH.name();
    BrokerChecks.firstOwnEntry(classPath)
        .ifPresent(
            entry ->
                reader.refuse(
                    key,
                    "'" + classPath + "' (" + entry + " holds Strata)",
                    RemoteKeys.COLD_CLASS_PATH.expected(),
                    "take the entry out: with it a second copy of Strata's classes is loaded"));
    for (String entry : BrokerProperties.classPath(classPath)) {
      if (!exists(entry.endsWith("/*") ? entry.substring(0, entry.length() - 2) : entry)) {
        reader.refuse(
            key,
            "'" + entry + "', which does not exist",
            "files and directories that exist",
            "put the manager's jars there, or correct the path");
      }
    }
  }

  private static boolean exists(String path) {
    try {
      return Files.exists(Path.of(path));
    } catch (InvalidPathException e) {
      return false;
    }
  }

  private Map<String, Object> coldConfigs() {
    String prefix = RemoteSettings.COLD + ".";
    Map<String, Object> configs = new HashMap<>();
    manager.forEach(
        (name, value) -> {
          if (name.startsWith(prefix) && value != null) {
            configs.put(name.substring(prefix.length()), value);
          } else if (addedByKafka.contains(name) && value != null) {
            configs.put(name, value);
          }
        });
    configs.remove("class.name");
    configs.remove("class.path");
    return configs;
  }

  /** Refuses keys that are neither a level's nor the cold manager's. */
  void refuseUnknown() {
    for (String name : reader.names(RemoteKeys.MANAGER_PREFIX)) {
      Optional<String> level =
          RemoteKeys.LEVEL_DIRECTORIES
              .partOf(name)
              .or(() -> RemoteKeys.LEVEL_CAPACITY.partOf(name));
      if (level.isPresent()) {
        refuseUnknownLevel(name, level.get());
      } else if (!RemoteKeys.isKnown(name)) {
        reader.refuse(
            name,
            "an unknown key",
            "one that docs/reference/configuration.md lists",
            "%s; keys of another manager begin with %s"
                .formatted(KeyReader.whatToDo(name), RemoteKeys.COLD_PREFIX));
      }
    }
  }

  private void refuseUnknownLevel(String key, String level) {
    if (names.isPresent() && !names.get().contains(level)) {
      reader.refuse(
          key,
          "a key of level '" + level + "'",
          "a level that " + RemoteKeys.LEVELS.name() + " lists: " + String.join(", ", names.get()),
          "add the level to " + RemoteKeys.LEVELS.name() + ", or remove the key");
    }
  }

  /**
   * The result of a look at a directory.
   *
   * @param real its real path; its name where it is not there
   * @param trouble what it is instead of a directory; empty if it is one
   */
  private record Look(Path real, String trouble) {}

  /**
   * Refuses a level's directories that cannot be used: they are there, and none is in another, nor
   * has anything to do with a log directory. Links are followed, so that two names of one directory
   * are found. A directory that the broker has used before, and that is not there now, is no fault
   * of the configuration: the store does without it.
   */
  private void check(String key, List<Path> directories) {
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
      String found = "'" + directory + "', which is ";
      for (String relation : related(look.real(), logDirectories)) {
        reader.refuse(
            key,
            found + relation,
            "a directory apart from log.dirs",
            "choose another: Kafka takes what is in a log directory for its own");
      }
      for (String relation : related(look.real(), taken)) {
        reader.refuse(
            key,
            found + relation,
            "each directory once, in one level only, and none inside another",
            "choose another, or take it out");
      }
      taken.put(look.real(), key + "'s " + directory);
    }
  }

  /** Looks, but not for ever: a network file system may hang. */
  private static Look look(Path directory) {
    try {
      return StoreInspection.whileItAnswers(
          directory,
          "looking at " + directory,
          control ->
              new Look(
                  BrokerChecks.real(directory),
                  Files.isDirectory(directory)
                      ? ""
                      : Files.exists(directory) ? "is not a directory" : "is not there"));
    } catch (IOException e) {
      return new Look(directory, "does not answer");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Look(directory, "was not looked at: the thread was interrupted");
    }
  }

  /** How the first of {@code others} that has to do with a directory does so; at most one. */
  private static List<String> related(Path directory, Map<Path, String> others) {
    for (Map.Entry<Path, String> other : others.entrySet()) {
      Path path = other.getKey();
      if (directory.startsWith(path) || path.startsWith(directory)) {
        String relation =
            directory.equals(path)
                ? "the same as"
                : directory.startsWith(path) ? "inside" : "around";
        return List.of(relation + " " + other.getValue());
      }
    }
    return List.of();
  }
}
