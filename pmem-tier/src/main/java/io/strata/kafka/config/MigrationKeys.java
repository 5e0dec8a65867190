package io.strata.kafka.config;

import io.strata.kafka.migration.MigrationSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The keys of the migration engine: read, and written again.
 *
 * <p>Thread safety: stateless.
 */
public final class MigrationKeys {
  private MigrationKeys() {}

  /**
   * The settings; empty if there is a problem, which the reader then has.
   *
   * @param tiers the tiers' names, fastest first
   */
  static Optional<MigrationSettings> read(KeyReader reader, List<String> tiers) {
    int before = reader.problems().size();
    Optional<Double> threshold = reader.read(StrataKeys.MIGRATION_THRESHOLD);
    List<Double> thresholds = new ArrayList<>();
    for (String tier : tiers) {
      reader
          .readIfSet(StrataKeys.TIER_THRESHOLD.with(tier))
          .or(() -> threshold)
          .ifPresent(thresholds::add);
    }
    Optional<MigrationSettings.Mode> mode = reader.read(StrataKeys.MIGRATION_MODE);
    Optional<Double> hysteresis = reader.read(StrataKeys.MIGRATION_HYSTERESIS);
    Optional<Boolean> promote = reader.read(StrataKeys.MIGRATION_PROMOTE);
    Optional<Long> threads = reader.read(StrataKeys.MIGRATION_THREADS);
    Optional<Long> down = reader.read(StrataKeys.MIGRATION_RATE_DOWN);
    Optional<Long> up = reader.read(StrataKeys.MIGRATION_RATE_UP);
    Optional<Long> interval = reader.read(StrataKeys.MIGRATION_INTERVAL_MS);
    Optional<String> policy = reader.read(StrataKeys.MIGRATION_POLICY);
    Map<String, String> parameters = parameters(reader);
    Optional<List<String>> pinned = reader.read(StrataKeys.MIGRATION_PIN_TOPICS);
    Optional<List<String>> excluded = reader.read(StrataKeys.MIGRATION_EXCLUDE_TOPICS);
    if (reader.problems().size() > before) {
      return Optional.empty();
    }
    return Optional.of(
        new MigrationSettings(
            mode.orElseThrow(),
            thresholds,
            hysteresis.orElseThrow(),
            promote.orElseThrow(),
            Math.toIntExact(threads.orElseThrow()),
            down.orElseThrow(),
            up.orElseThrow(),
            Duration.ofMillis(interval.orElseThrow()),
            policy.orElseThrow(),
            parameters,
            pinned.orElseThrow(),
            excluded.orElseThrow()));
  }

  private static Map<String, String> parameters(KeyReader reader) {
    Map<String, String> parameters = new TreeMap<>();
    for (String name : reader.names()) {
      StrataKeys.MIGRATION_POLICY_PARAMETER
          .partOf(name)
          .ifPresent(
              parameter ->
                  reader
                      .readIfSet(StrataKeys.MIGRATION_POLICY_PARAMETER.with(parameter))
                      .ifPresent(value -> parameters.put(parameter, value)));
    }
    return parameters;
  }

  /**
   * Settings as the keys would be written in a file.
   *
   * @param tiers the tiers' names, fastest first
   */
  public static Map<String, String> written(MigrationSettings settings, List<String> tiers) {
    Map<String, String> keys = new LinkedHashMap<>();
    for (int i = 0; i < Math.min(tiers.size(), settings.thresholds().size()); i++) {
      keys.put(
          StrataKeys.TIER_THRESHOLD.with(tiers.get(i)).name(),
          number(settings.thresholds().get(i)));
    }
    keys.put(StrataKeys.MIGRATION_MODE.name(), settings.mode().configName());
    keys.put(StrataKeys.MIGRATION_HYSTERESIS.name(), number(settings.hysteresis()));
    keys.put(StrataKeys.MIGRATION_PROMOTE.name(), String.valueOf(settings.promote()));
    keys.put(StrataKeys.MIGRATION_THREADS.name(), String.valueOf(settings.threads()));
    keys.put(StrataKeys.MIGRATION_RATE_DOWN.name(), String.valueOf(settings.downBytesPerSecond()));
    keys.put(StrataKeys.MIGRATION_RATE_UP.name(), String.valueOf(settings.upBytesPerSecond()));
    keys.put(
        StrataKeys.MIGRATION_INTERVAL_MS.name(), String.valueOf(settings.interval().toMillis()));
    keys.put(StrataKeys.MIGRATION_POLICY.name(), settings.policy());
    new TreeMap<>(settings.policyParameters())
        .forEach(
            (name, value) ->
                keys.put(StrataKeys.MIGRATION_POLICY_PARAMETER.with(name).name(), value));
    keys.put(StrataKeys.MIGRATION_PIN_TOPICS.name(), String.join(",", settings.pinnedTopics()));
    keys.put(
        StrataKeys.MIGRATION_EXCLUDE_TOPICS.name(), String.join(",", settings.excludedTopics()));
    return keys;
  }

  private static String number(double value) {
    return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
  }
}
