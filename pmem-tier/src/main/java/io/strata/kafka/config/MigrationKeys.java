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
 * The keys of a migration engine: read, and written again. There are two engines, the one of the
 * local tiers and the one of the remote tier's levels, with the same kinds of keys.
 *
 * <p>Immutable and safe for use by any thread.
 */
public final class MigrationKeys {

  /** Those of the local tiers: {@code strata.migration.*}. */
  public static final MigrationKeys LOCAL =
      new MigrationKeys(
          StrataKeys.MIGRATION_THRESHOLD,
          StrataKeys.TIER_THRESHOLD,
          StrataKeys.MIGRATION_POLICY,
          StrataKeys.MIGRATION_POLICY_PARAMETER,
          new Topics(StrataKeys.MIGRATION_PIN_TOPICS, StrataKeys.MIGRATION_EXCLUDE_TOPICS),
          new Pace(
              StrataKeys.MIGRATION_MODE,
              StrataKeys.MIGRATION_HYSTERESIS,
              StrataKeys.MIGRATION_PROMOTE,
              StrataKeys.MIGRATION_THREADS,
              StrataKeys.MIGRATION_RATE_DOWN,
              StrataKeys.MIGRATION_RATE_UP,
              StrataKeys.MIGRATION_INTERVAL_MS));

  /** Those of the remote tier's levels: {@code strata.remote.migration.*}. */
  public static final MigrationKeys REMOTE =
      new MigrationKeys(
          RemoteMigrationKeys.MIGRATION_THRESHOLD,
          RemoteMigrationKeys.LEVEL_THRESHOLD,
          RemoteMigrationKeys.MIGRATION_POLICY,
          RemoteMigrationKeys.MIGRATION_POLICY_PARAMETER,
          new Topics(
              RemoteMigrationKeys.MIGRATION_PIN_TOPICS,
              RemoteMigrationKeys.MIGRATION_EXCLUDE_TOPICS),
          new Pace(
              RemoteMigrationKeys.MIGRATION_MODE,
              RemoteMigrationKeys.MIGRATION_HYSTERESIS,
              RemoteMigrationKeys.MIGRATION_PROMOTE,
              RemoteMigrationKeys.MIGRATION_THREADS,
              RemoteMigrationKeys.MIGRATION_RATE_DOWN,
              RemoteMigrationKeys.MIGRATION_RATE_UP,
              RemoteMigrationKeys.MIGRATION_INTERVAL_MS));

  /** Which topics are special. */
  private record Topics(StrataKey<List<String>> pinned, StrataKey<List<String>> excluded) {}

  /** How, and how fast. */
  private record Pace(
      StrataKey<MigrationSettings.Mode> mode,
      StrataKey<Double> hysteresis,
      StrataKey<Boolean> promote,
      StrataKey<Long> threads,
      StrataKey<Long> rateDown,
      StrataKey<Long> rateUp,
      StrataKey<Long> interval) {}

  private final StrataKey<Double> threshold;
  private final StrataKey<Double> tierThreshold;
  private final StrataKey<String> policy;
  private final StrataKey<String> policyParameter;
  private final Topics topics;
  private final Pace pace;

  private MigrationKeys(
      StrataKey<Double> threshold,
      StrataKey<Double> tierThreshold,
      StrataKey<String> policy,
      StrataKey<String> policyParameter,
      Topics topics,
      Pace pace) {
    this.threshold = threshold;
    this.tierThreshold = tierThreshold;
    this.policy = policy;
    this.policyParameter = policyParameter;
    this.topics = topics;
    this.pace = pace;
  }

  /** The key of one tier's threshold, with a placeholder for its name. */
  StrataKey<Double> tierThreshold() {
    return tierThreshold;
  }

  /** The key of the policy's name. */
  StrataKey<String> policy() {
    return policy;
  }

  /** The key of its parameters, with a placeholder for the parameter's name. */
  StrataKey<String> policyParameter() {
    return policyParameter;
  }

  /**
   * The settings; empty if there is a problem, which the reader then has.
   *
   * @param tiers the names of the tiers that have a threshold, fastest first
   */
  Optional<MigrationSettings> read(KeyReader reader, List<String> tiers) {
    int before = reader.problems().size();
    Optional<Double> common = reader.read(threshold);
    List<Double> thresholds = new ArrayList<>();
    for (String tier : tiers) {
      reader.readIfSet(tierThreshold.with(tier)).or(() -> common).ifPresent(thresholds::add);
    }
    Optional<MigrationSettings.Mode> mode = reader.read(pace.mode());
    Optional<Double> hysteresis = reader.read(pace.hysteresis());
    Optional<Boolean> promote = reader.read(pace.promote());
    Optional<Long> threads = reader.read(pace.threads());
    Optional<Long> down = reader.read(pace.rateDown());
    Optional<Long> up = reader.read(pace.rateUp());
    Optional<Long> interval = reader.read(pace.interval());
    Optional<String> chosen = reader.read(policy);
    Map<String, String> parameters = parameters(reader);
    Optional<List<String>> pinned = reader.read(topics.pinned());
    Optional<List<String>> excluded = reader.read(topics.excluded());
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
            chosen.orElseThrow(),
            parameters,
            pinned.orElseThrow(),
            excluded.orElseThrow()));
  }

  private Map<String, String> parameters(KeyReader reader) {
    Map<String, String> parameters = new TreeMap<>();
    for (String name : reader.names()) {
      policyParameter
          .partOf(name)
          .ifPresent(
              parameter ->
                  reader
                      .readIfSet(policyParameter.with(parameter))
                      .ifPresent(value -> parameters.put(parameter, value)));
    }
    return parameters;
  }

  /**
   * Settings as the keys would be written in a file.
   *
   * @param tiers the names of the tiers that have a threshold, fastest first
   */
  public Map<String, String> written(MigrationSettings settings, List<String> tiers) {
    Map<String, String> keys = new LinkedHashMap<>();
    for (int i = 0; i < Math.min(tiers.size(), settings.thresholds().size()); i++) {
      keys.put(tierThreshold.with(tiers.get(i)).name(), number(settings.thresholds().get(i)));
    }
    keys.put(pace.mode().name(), settings.mode().configName());
    keys.put(pace.hysteresis().name(), number(settings.hysteresis()));
    keys.put(pace.promote().name(), String.valueOf(settings.promote()));
    keys.put(pace.threads().name(), String.valueOf(settings.threads()));
    keys.put(pace.rateDown().name(), String.valueOf(settings.downBytesPerSecond()));
    keys.put(pace.rateUp().name(), String.valueOf(settings.upBytesPerSecond()));
    keys.put(pace.interval().name(), String.valueOf(settings.interval().toMillis()));
    keys.put(policy.name(), settings.policy());
    new TreeMap<>(settings.policyParameters())
        .forEach((name, value) -> keys.put(policyParameter.with(name).name(), value));
    keys.put(topics.pinned().name(), String.join(",", settings.pinnedTopics()));
    keys.put(topics.excluded().name(), String.join(",", settings.excludedTopics()));
    return keys;
  }

  private static String number(double value) {
    return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
  }
}
