package io.strata.kafka.config;

import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.StrataKey;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.PolicyRegistry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The keys of a migration engine: declared, read, checked, and written again. There are two
 * engines, the one of the local tiers and the one of the remote tier's levels. Both have the same
 * keys with another prefix; the local one has some more, whose defaults hold for the other.
 */
public final class MigrationKeys {

  private static final StrataKey<Double> TIER_THRESHOLD =
      StrataKey.named("strata.tier.<name>.threshold", Values.SHARE)
          .otherwise("the value of `strata.migration.threshold`")
          .live()
          .documentation("The threshold of one tier. See `strata.migration.threshold`.");

  private static final StrataKey<List<String>> PINNED =
      StrataKey.named("strata.migration.pin.topics", Values.EXPRESSIONS)
          .defaultValue("")
          .live()
          .documentation(
              """
              Topics whose segments never leave their tier, whatever the policy says, and are \
              the first to be copied up: those whose whole name matches one of the expressions. \
              What they take is missing for all others.\
              """);

  private static final StrataKey<Mode> MODE =
      StrataKey.named(
              "strata.migration.mode", Values.oneOf(List.of(Mode.values()), Mode::configName))
          .defaultValue("eager")
          .live()
          .documentation(
              """
              What becomes of a segment in a pool once a lower tier has it too. `eager`: it \
              stays readable in the pool until its space is needed, and is then evicted without \
              I/O. `threshold`: it is evicted at once, as Pafka does.\
              """);

  private static final StrataKey<Boolean> PROMOTE =
      StrataKey.named("strata.migration.promote", Values.BOOLEAN)
          .defaultValue("true")
          .live()
          .documentation(
              """
              Whether segments are copied back up when a faster tier has space and the policy \
              wants them there.\
              """);

  private static final StrataKey<Long> THREADS =
      StrataKey.named("strata.migration.threads", Values.number("number", 1, 64))
          .defaultValue("2")
          .live()
          .documentation("How many segments are copied at once.");

  private static final StrataKey<Long> RATE_UP =
      rate("strata.migration.rate.up", "The most that copies up may take, all threads together.");

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
          true);

  public static final MigrationKeys REMOTE =
      new MigrationKeys(
          "rsm.config.migration.",
          """
          The dirty share of a level's capacity above which segments are copied to the next one, \
          oldest first, until it is 0.05 below. Dirty are the bytes of segments that no lower \
          level has. `0`: as soon as they are in the store. `-1`: never.\
          """,
          false);

  private final StrataKey<Double> threshold;
  private final StrataKey<Long> rateDown;
  private final StrataKey<String> policy;
  private final StrataKey<String> policyParameter;

  private final boolean local;

  private MigrationKeys(String prefix, String thresholdText, boolean local) {
    this.threshold =
        StrataKey.named(prefix + "threshold", Values.SHARE)
            .defaultValue("0.5")
            .live()
            .documentation(thresholdText);
    this.rateDown =
        rate(
            prefix + "rate.down",
            "The most that copies down may take, all threads together. Appends never wait for it.");
    this.policy =
        StrataKey.named(prefix + "policy", "name", Values::parsePolicy)
            .defaultValue("newest")
            .expected("the name of a policy on the broker's class path")
            .live()
            .documentation(
                """
                Which segments move. `newest`: the newest stay. `age`: a segment leaves after a \
                time. `access`: what is read stays; in the remote tier, what is read from the \
                broker that moves segments. Others can be added: see \
                `io.strata.kafka.api.MigrationPolicy`.\
                """);
    this.policyParameter =
        StrataKey.named(prefix + "policy.<parameter>", "text", Function.identity())
            .otherwise("the policy's own default")
            .expected("what the policy expects")
            .live()
            .documentation(
                """
                A parameter of the policy. One of a policy that is not chosen is ignored, so that \
                the policy can be changed on a live broker; one that no policy has is refused.\
                """);
    this.local = local;
  }

  private static StrataKey<Long> rate(String name, String text) {
    return StrataKey.named(name, Values.RATE).defaultValue("0").live().documentation(text);
  }

  /** All of them, in the order of the reference page. */
  List<StrataKey<?>> all() {
    List<StrataKey<?>> both = List.of(threshold, rateDown, policy, policyParameter);
    return local
        ? Stream.of(both, List.of(PINNED, TIER_THRESHOLD, MODE, PROMOTE, THREADS, RATE_UP))
            .<StrataKey<?>>flatMap(List::stream)
            .toList()
        : both;
  }

  public StrataKey<String> policy() {
    return policy;
  }

  /** The key of its parameters, with a placeholder for the parameter's name. */
  StrataKey<String> policyParameter() {
    return policyParameter;
  }

  /** The tier that the name of a threshold's key names; empty if it is no such key. */
  static Optional<String> tierOf(String name) {
    return TIER_THRESHOLD.partOf(name);
  }

  /** Returns whether a key is that of a policy's name, or of a parameter. */
  public static boolean isOfPolicy(String name) {
    return List.of(LOCAL, REMOTE).stream()
        .map(keys -> keys.policy.name())
        .anyMatch(policy -> name.equals(policy) || name.startsWith(policy + "."));
  }

  /** The value; the default where this engine has no such key. */
  private <T> T read(KeyReader reader, StrataKey<T> key) {
    return local ? reader.readOrDefault(key) : key.parsedDefault().orElseThrow();
  }

  /**
   * The settings; with a default wherever there is a problem, which the reader then has.
   *
   * @param tiers the names of the tiers that have a threshold, fastest first
   */
  MigrationSettings read(KeyReader reader, List<String> tiers) {
    double common = reader.readOrDefault(threshold);
    List<Double> thresholds = new ArrayList<>();
    for (String tier : tiers) {
      Optional<Double> own = local ? reader.readIfSet(TIER_THRESHOLD.with(tier)) : Optional.empty();
      thresholds.add(own.orElse(common));
    }
    Mode mode = read(reader, MODE);
    boolean promote = read(reader, PROMOTE);
    int threads = Math.toIntExact(read(reader, THREADS));
    long up = read(reader, RATE_UP);
    return new MigrationSettings(
        mode,
        thresholds,
        MigrationSettings.HYSTERESIS,
        promote,
        threads,
        reader.readOrDefault(rateDown),
        up,
        MigrationSettings.INTERVAL,
        reader.readOrDefault(policy),
        parameters(reader),
        read(reader, PINNED));
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

  /** Settings as the keys would be written in a file. */
  Map<String, String> written(MigrationSettings settings, List<String> tiers) {
    Map<String, String> keys = new LinkedHashMap<>();
    List<Double> thresholds = settings.thresholds();
    if (local) {
      for (int i = 0; i < Math.min(tiers.size(), thresholds.size()); i++) {
        keys.put(TIER_THRESHOLD.with(tiers.get(i)).name(), number(thresholds.get(i)));
      }
      keys.put(MODE.name(), settings.mode().configName());
      keys.put(PROMOTE.name(), String.valueOf(settings.promote()));
      keys.put(THREADS.name(), String.valueOf(settings.threads()));
      keys.put(RATE_UP.name(), String.valueOf(settings.upBytesPerSecond()));
    } else if (!thresholds.isEmpty()) {
      keys.put(threshold.name(), number(thresholds.get(0)));
    }
    keys.put(rateDown.name(), String.valueOf(settings.downBytesPerSecond()));
    keys.put(policy.name(), settings.policy());
    new TreeMap<>(settings.policyParameters())
        .forEach((name, value) -> keys.put(policyParameter.with(name).name(), value));
    if (local) {
      keys.put(PINNED.name(), String.join(",", settings.pinnedTopics()));
    }
    return keys;
  }

  // -- the policies, of which a broker's class path alone shows which there are

  /** Parameters that no policy has, and {@link #refusals}. */
  public List<ConfigProblem> problems(MigrationSettings settings, PolicyRegistry policies) {
    List<ConfigProblem> problems = unknownParameters(settings, policies);
    problems.addAll(refusals(settings, policies));
    return problems;
  }

  List<ConfigProblem> unknownParameters(MigrationSettings settings, PolicyRegistry policies) {
    Set<String> known = policies.parameterNames();
    List<ConfigProblem> problems = new ArrayList<>();
    for (String parameter : new TreeSet<>(settings.policyParameters().keySet())) {
      if (!known.contains(parameter)) {
        problems.add(
            ConfigProblem.error(
                policyParameter.with(parameter).name(),
                "a parameter that no policy has",
                known.isEmpty() ? "none" : "one of " + String.join(", ", known),
                "correct it, or remove it"));
      }
    }
    return problems;
  }

  /**
   * Lists what keeps the chosen policy from being made, and the parameters that any other policy
   * refuses: those are there to be chosen later. Empty if there is no such problem.
   */
  List<ConfigProblem> refusals(MigrationSettings settings, PolicyRegistry policies) {
    if (!policies.names().contains(settings.policy())) {
      return List.of(
          ConfigProblem.error(
              this.policy.name(),
              "'" + settings.policy() + "'",
              "one of " + String.join(", ", policies.names()),
              "correct it, or put the policy's jar on the broker's class path"));
    }
    List<ConfigProblem> problems = new ArrayList<>();
    for (String policy : policies.names()) {
      Map<String, String> own = policies.own(policy, settings.policyParameters());
      if (policy.equals(settings.policy()) || !own.isEmpty()) {
        refusal(policy, own, policies).ifPresent(problems::add);
      }
    }
    return problems;
  }

  private Optional<ConfigProblem> refusal(
      String policy, Map<String, String> parameters, PolicyRegistry policies) {
    try {
      var unused = policies.create(policy, parameters);
      return Optional.empty();
    } catch (RuntimeException e) {
      return Optional.of(
          ConfigProblem.error(
              this.policy.name(),
              "parameters that policy '%s' refuses (%s)"
                  .formatted(policy, Optional.ofNullable(e.getMessage()).orElse(e.toString())),
              "values that it takes",
              "correct them"));
    }
  }

  private static String number(double value) {
    return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
  }
}
