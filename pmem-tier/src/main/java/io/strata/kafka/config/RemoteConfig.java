package io.strata.kafka.config;

import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.remote.RemoteSettings;
import io.strata.kafka.migration.remote.RemoteSettings.ColdSettings;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Reads the remote tier's keys: {@code rsm.config.*} as Kafka gives them to the manager. They need
 * neither a pool nor Strata's provider.
 */
public final class RemoteConfig {

  private static final Duration DELETE_TIMEOUT = Duration.ofMinutes(1);

  /**
   * How often the directories are listed, which is how a broker learns what others have copied,
   * moved and deleted. A fetch that does not find its segment looks for it at once.
   */
  private static final Duration INVENTORY_INTERVAL = Duration.ofMinutes(1);

  /**
   * How old what a failed copy has left must be before it is removed. Where a copy may take longer,
   * its time limit counts.
   */
  private static final Duration ORPHAN_AGE = Duration.ofHours(1);

  private RemoteConfig() {}

  /**
   * Checks all values. Every problem is found in one pass.
   *
   * @param manager what Kafka gives to the manager: {@code rsm.config.*} without that prefix, and
   *     what Kafka adds by itself, {@code broker.id} and {@code node.id} among it
   * @param broker the broker's file; empty if it is not known: then nothing is compared with the
   *     log directories
   * @param policies those on the broker's class path; empty to leave them unchecked
   */
  public static Parsed<RemoteSettings> parse(
      Map<String, ?> manager,
      Optional<BrokerProperties> broker,
      Optional<PolicyRegistry> policies) {
    Map<String, String> keys = new HashMap<>();
    broker.ifPresent(file -> keys.putAll(file.asMap()));
    // In the file they have not been resolved, and may have another prefix.
    keys.keySet().removeIf(name -> name.startsWith(RemoteKeys.MANAGER_PREFIX));
    keys.putAll(withPrefix(manager, broker));
    KeyReader reader = new KeyReader(keys, name -> name.startsWith(RemoteKeys.MANAGER_PREFIX));
    broker.ifPresent(file -> reader.problems().addAll(BrokerChecks.checkStorageManager(file)));
    Optional<RemoteSettings> settings = read(reader, manager, broker);
    if (settings.isPresent() && policies.isPresent()) {
      MigrationSettings moves = settings.get().live().migration();
      reader.problems().addAll(MigrationKeys.REMOTE.problems(moves, policies.get()));
    }
    reader.refuseUnknown();
    return Parsed.of(settings, named(reader.problems(), broker));
  }

  /** Gives the manager's keys the prefix {@code rsm.config.}; not those that Kafka adds itself. */
  public static Map<String, String> withPrefix(
      Map<String, ?> manager, Optional<BrokerProperties> broker) {
    Set<String> added = addedByKafka(manager, broker);
    Map<String, String> keys = new HashMap<>();
    manager.forEach(
        (name, value) -> {
          if (!added.contains(name) && value != null) {
            keys.put(RemoteKeys.MANAGER_PREFIX + name, String.valueOf(value));
          }
        });
    return keys;
  }

  /**
   * Returns the names, without prefix, that are neither in the broker's file nor keys of Strata's:
   * Kafka adds them by itself, each release its own.
   *
   * @param broker the broker's file; where it is not known, no unknown name can be told from a
   *     mistake
   */
  public static Set<String> addedByKafka(
      Map<String, ?> manager, Optional<BrokerProperties> broker) {
    String prefix = prefix(broker);
    return manager.keySet().stream()
        .filter(name -> !RemoteKeys.isKnown(RemoteKeys.MANAGER_PREFIX + name))
        .filter(name -> broker.flatMap(file -> file.get(prefix + name)).isEmpty())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns whether the broker's file has the keys with the prefix {@code rsm.config.}. */
  public static boolean hasUsualPrefix(Optional<BrokerProperties> broker) {
    return prefix(broker).equals(RemoteKeys.MANAGER_PREFIX);
  }

  /** The same from the file alone, for tools; configuration providers are not resolved in it. */
  public static Parsed<RemoteSettings> parse(BrokerProperties broker) {
    String prefix = prefix(Optional.of(broker));
    Map<String, Object> manager = new HashMap<>();
    broker
        .asMap()
        .forEach(
            (name, value) -> {
              if (name.startsWith(prefix)) {
                manager.put(name.substring(prefix.length()), value);
              }
            });
    broker.nodeId().ifPresent(id -> manager.put(BrokerProperties.NODE_ID, id));
    return parse(manager, Optional.of(broker), Optional.empty());
  }

  /**
   * The log directories that the manager is given, as {@code rsm.config.log.dirs}, by a broker
   * whose file cannot be found: one embedded in another program.
   */
  public static Optional<BrokerProperties> logDirectories(Map<String, ?> manager) {
    return Optional.ofNullable(manager.get(BrokerProperties.LOG_DIRS))
        .map(Object::toString)
        .map(
            value -> BrokerProperties.of("rsm.config.*", Map.of(BrokerProperties.LOG_DIRS, value)));
  }

  /** The levels that have a threshold: all but the lowest. */
  static List<String> thresholdLevels(List<String> levels) {
    return levels.isEmpty() ? levels : levels.subList(0, levels.size() - 1);
  }

  private static Optional<RemoteSettings> read(
      KeyReader reader, Map<String, ?> manager, Optional<BrokerProperties> broker) {
    OptionalInt brokerId = brokerId(reader, manager);
    Optional<BrokerProperties> given =
        reader.readIfSet(RemoteKeys.LOG_DIRS).flatMap(unused -> logDirectories(manager));
    RemoteLevels levels = new RemoteLevels(reader, manager, broker.or(() -> given));
    List<StoreOptions.LevelOptions> read = levels.levels();
    Optional<ColdSettings> cold = levels.cold();
    levels.refuseUnknown();
    RemoteSettings.Live live = readLive(reader, thresholdLevels(levels.names()));
    if (reader.problems().stream().anyMatch(ConfigProblem::isError)) {
      return Optional.empty();
    }
    return Optional.of(
        new RemoteSettings(brokerId.orElseThrow(), read, cold, RemoteSettings.CHUNK_BYTES, live));
  }

  /**
   * The settings that can be changed on a live broker; with a default wherever there is a problem,
   * which the reader then has.
   *
   * @param levels the names of the levels that have a threshold, fastest first
   */
  static RemoteSettings.Live readLive(KeyReader reader, List<String> levels) {
    return new RemoteSettings.Live(
        Duration.ofMillis(reader.readOrDefault(RemoteKeys.COPY_TIMEOUT_MS)),
        Duration.ofMillis(reader.readOrDefault(RemoteKeys.FETCH_TIMEOUT_MS)),
        DELETE_TIMEOUT,
        INVENTORY_INTERVAL,
        Duration.ofMillis(reader.readOrDefault(RemoteKeys.SCRUB_INTERVAL_MS)),
        ORPHAN_AGE,
        MigrationKeys.REMOTE.read(reader, levels));
  }

  static Map<String, String> written(RemoteSettings.Live live, List<String> levels) {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put(RemoteKeys.COPY_TIMEOUT_MS.name(), millis(live.copyTimeout()));
    keys.put(RemoteKeys.FETCH_TIMEOUT_MS.name(), millis(live.fetchTimeout()));
    keys.put(RemoteKeys.SCRUB_INTERVAL_MS.name(), millis(live.scrubInterval()));
    keys.putAll(MigrationKeys.REMOTE.written(live.migration(), levels));
    return keys;
  }

  private static String millis(Duration duration) {
    return String.valueOf(duration.toMillis());
  }

  private static OptionalInt brokerId(KeyReader reader, Map<String, ?> manager) {
    // Kafka 4.3 and older gives broker.id alone; 4.4 gives both, and deprecates broker.id.
    Object given = manager.get(BrokerProperties.NODE_ID);
    if (given == null) {
      given = manager.get(BrokerProperties.BROKER_ID);
    }
    String text = String.valueOf(given).strip();
    try {
      int id = Integer.parseInt(text);
      if (id >= 0) {
        return OptionalInt.of(id);
      }
    } catch (NumberFormatException e) {
      // Refused below.
    }
    reader.refuse(
        BrokerProperties.NODE_ID,
        given == null ? "nothing" : "'" + text + "'",
        "a number from 0",
        "set it in server.properties: Kafka gives it to the manager");
    return OptionalInt.empty();
  }

  private static String prefix(Optional<BrokerProperties> broker) {
    return broker
        .flatMap(file -> file.get(RemoteKeys.MANAGER_PREFIX_KEY))
        .orElse(RemoteKeys.MANAGER_PREFIX);
  }

  /** With the keys' names as they are in the file. */
  private static List<ConfigProblem> named(
      List<ConfigProblem> problems, Optional<BrokerProperties> broker) {
    String prefix = prefix(broker);
    return prefix.equals(RemoteKeys.MANAGER_PREFIX)
        ? problems
        : problems.stream()
            .map(problem -> problem.with(RemoteKeys.MANAGER_PREFIX, prefix))
            .toList();
  }
}
