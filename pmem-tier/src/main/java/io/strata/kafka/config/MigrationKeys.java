package io.strata.kafka.config;

import io.strata.kafka.migration.MigrationSettings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The keys of a migration engine: declared, read, and written again. There are two engines, the one
 * of the local tiers and the one of the remote tier's levels. Both have the same keys with another
 * prefix; the local one has some more, whose defaults hold for the other.
 *
 * <p>Immutable and safe for use by any thread.
 */
public final class MigrationKeys {

  /** Those of the local tiers: {@code strata.migration.*}. */
  public static final MigrationKeys LOCAL =
      new MigrationKeys(
          "strata.migration.",
          """
          The dirty share of a tier's capacity above which bytes are copied down, until it is \
          0.05 below: sealed segments first, oldest first, and then active ones. Dirty is what \
          only this tier has. `0`: everything at once, of an active segment whenever there is 1 \
          MiB. `-1`: never. With `strata.migration.mode=threshold`, and in a tier above another \
          tier with pools, it is the used share that counts.\
          """,
          Optional.of(new Local()));

  /** Those of the remote tier's levels: {@code rsm.config.migration.*}. */
  public static final MigrationKeys REMOTE =
      new MigrationKeys(
          "rsm.config.migration.",
          """
          The dirty share of a level's capacity above which segments are copied to the next one, \
          oldest first, until it is 0.05 below. Dirty are the bytes of segments that no lower \
          level has. `0`: as soon as they are in the store. `-1`: never.\
          """,
          Optional.empty());

  /** Those of the local tiers alone. */
  private static final class Local {

    final StrataKey<Double> tierThreshold =
        StrataKey.named("strata.tier.<name>.threshold", "share", Values::parseThreshold)
            .otherwise("the value of `strata.migration.threshold`")
            .expected("-1, or a number from 0 to 1")
            .documentation("The threshold of one tier. See `strata.migration.threshold`.")
            .dynamic()
            .build();

    final StrataKey<List<String>> pinned =
        StrataKey.named(
                "strata.migration.pin.topics",
                "list of regular expressions",
                Values::parseExpressions)
            .defaultValue("")
            .expected("a comma-separated list of regular expressions (java.util.regex)")
            .documentation(
                """
                Topics whose segments never leave their tier, whatever the policy says, and are \
                the first to be copied up: those whose whole name matches one of the expressions. \
                What they take is missing for all others.\
                """)
            .dynamic()
            .build();

    final StrataKey<MigrationSettings.Mode> mode =
        StrataKey.named(
                "strata.migration.mode",
                "name",
                Values.oneOf(
                    List.of(MigrationSettings.Mode.values()), MigrationSettings.Mode::configName))
            .defaultValue("eager")
            .expected(
                "one of %s"
                    .formatted(
                        Values.names(
                            List.of(MigrationSettings.Mode.values()),
                            MigrationSettings.Mode::configName)))
            .documentation(
                """
                What becomes of a segment in a pool once a lower tier has it too. `eager`: it \
                stays readable in the pool until its space is needed, and is then evicted without \
                I/O. `threshold`: it is evicted at once, as Pafka does.\
                """)
            .dynamic()
            .build();

    final StrataKey<Boolean> promote =
        StrataKey.named("strata.migration.promote", "boolean", Values::parseBoolean)
            .defaultValue("true")
            .expected("true or false")
            .documentation(
                """
                Whether segments are copied back up when a faster tier has space and the policy \
                wants them there.\
                """)
            .dynamic()
            .build();

    final StrataKey<Long> threads =
        StrataKey.named("strata.migration.threads", "number", Values.longBetween(1, 64))
            .defaultValue("2")
            .expected("a number from 1 to 64")
            .documentation("How many segments are copied at once.")
            .dynamic()
            .build();

    final StrataKey<Long> rateUp =
        rate("strata.migration.rate.up", "The most that copies up may take, all threads together.");

    List<StrataKey<?>> all() {
      return List.of(pinned, tierThreshold, mode, promote, threads, rateUp);
    }
  }

  private final StrataKey<Double> threshold;
  private final StrataKey<Long> rateDown;
  private final StrataKey<String> policy;
  private final StrataKey<String> policyParameter;
  private final Optional<Local> local;

  private MigrationKeys(String prefix, String thresholdText, Optional<Local> local) {
    this.threshold =
        StrataKey.named(prefix + "threshold", "share", Values::parseThreshold)
            .defaultValue("0.5")
            .expected("-1, or a number from 0 to 1")
            .documentation(thresholdText)
            .dynamic()
            .build();
    this.rateDown =
        rate(
            prefix + "rate.down",
            "The most that copies down may take, all threads together. Appends never wait for it.");
    this.policy =
        StrataKey.named(prefix + "policy", "name", Values::parsePolicy)
            .defaultValue("newest")
            .expected("the name of a policy on the broker's class path")
            .documentation(
                """
                Which segments move. `newest`: the newest stay. `age`: a segment leaves after a \
                time. `access`: what is read stays. Others can be added: see \
                `io.strata.kafka.api.MigrationPolicy`.\
                """)
            .dynamic()
            .build();
    this.policyParameter =
        StrataKey.named(prefix + "policy.<parameter>", "text", Values::parseText)
            .otherwise("the policy's own default")
            .expected("what the policy expects")
            .documentation(
                """
                A parameter of the policy. One of a policy that is not chosen is ignored, so that \
                the policy can be changed on a live broker; one that no policy has is refused.\
                """)
            .dynamic()
            .build();
    this.local = local;
  }

  private static StrataKey<Long> rate(String name, String text) {
    return StrataKey.named(name, "bytes per second", Values::parseRate)
        .defaultValue("0")
        .expected("0 for no limit, or bytes per second, for example 80MB or 500MiB")
        .documentation(text)
        .dynamic()
        .build();
  }

  /** All of them, in the order of the reference page. */
  List<StrataKey<?>> all() {
    return Stream.concat(
            Stream.of(threshold, rateDown, policy, policyParameter),
            local.stream().flatMap(more -> more.all().stream()))
        .toList();
  }

  /** The key of the policy's name. */
  public StrataKey<String> policy() {
    return policy;
  }

  /** The key of its parameters, with a placeholder for the parameter's name. */
  StrataKey<String> policyParameter() {
    return policyParameter;
  }

  /** The tier that the name of a threshold's key names; empty if it is no such key. */
  Optional<String> tierOf(String name) {
    return local.flatMap(more -> more.tierThreshold.partOf(name));
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
      local
          .flatMap(more -> reader.readIfSet(more.tierThreshold.with(tier)))
          .or(() -> common)
          .ifPresent(thresholds::add);
    }
    Optional<MigrationSettings.Mode> mode =
        local.map(more -> reader.read(more.mode)).orElse(Optional.of(MigrationSettings.Mode.EAGER));
    Optional<Boolean> promote =
        local.map(more -> reader.read(more.promote)).orElse(Optional.of(true));
    Optional<Long> threads = local.map(more -> reader.read(more.threads)).orElse(Optional.of(2L));
    Optional<Long> up = local.map(more -> reader.read(more.rateUp)).orElse(Optional.of(0L));
    Optional<Long> down = reader.read(rateDown);
    Optional<String> chosen = reader.read(policy);
    Map<String, String> parameters = parameters(reader);
    Optional<List<String>> pins =
        local.map(more -> reader.read(more.pinned)).orElse(Optional.of(List.of()));
    if (reader.problems().size() > before) {
      return Optional.empty();
    }
    return Optional.of(
        new MigrationSettings(
            mode.orElseThrow(),
            thresholds,
            MigrationSettings.HYSTERESIS,
            promote.orElseThrow(),
            Math.toIntExact(threads.orElseThrow()),
            down.orElseThrow(),
            up.orElseThrow(),
            MigrationSettings.INTERVAL,
            chosen.orElseThrow(),
            parameters,
            pins.orElseThrow()));
  }

  private Map<String, String> parameters(KeyReader reader) {
    Map<String, String> parameters = new TreeMap<>();
    for (String name : reader.names(policy.name())) {
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
  Map<String, String> written(MigrationSettings settings, List<String> tiers) {
    Map<String, String> keys = new LinkedHashMap<>();
    List<Double> thresholds = settings.thresholds();
    if (local.isEmpty() && !thresholds.isEmpty()) {
      keys.put(threshold.name(), number(thresholds.get(0)));
    }
    local.ifPresent(
        more -> {
          for (int i = 0; i < Math.min(tiers.size(), thresholds.size()); i++) {
            keys.put(more.tierThreshold.with(tiers.get(i)).name(), number(thresholds.get(i)));
          }
          keys.put(more.mode.name(), settings.mode().configName());
          keys.put(more.promote.name(), String.valueOf(settings.promote()));
          keys.put(more.threads.name(), String.valueOf(settings.threads()));
          keys.put(more.rateUp.name(), String.valueOf(settings.upBytesPerSecond()));
        });
    keys.put(rateDown.name(), String.valueOf(settings.downBytesPerSecond()));
    keys.put(policy.name(), settings.policy());
    new TreeMap<>(settings.policyParameters())
        .forEach((name, value) -> keys.put(policyParameter.with(name).name(), value));
    local.ifPresent(
        more -> keys.put(more.pinned.name(), String.join(",", settings.pinnedTopics())));
    return keys;
  }

  private static String number(double value) {
    return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
  }
}
