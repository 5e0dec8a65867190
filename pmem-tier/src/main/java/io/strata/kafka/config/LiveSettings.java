package io.strata.kafka.config;

import io.strata.kafka.migration.MigrationSettings;
import io.strata.kafka.migration.PolicyRegistry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Makes migration settings of what Kafka says when {@code kafka-configs.sh} changes a running
 * broker's configuration: see {@link LiveMerge}.
 *
 * <p>Immutable and safe for use by any thread.
 */
public final class LiveSettings {

  private final List<String> tiers;
  private final PolicyRegistry policies;
  private final Set<String> dynamic;
  private final Set<String> names;
  private final LiveMerge merge;

  /**
   * For one broker.
   *
   * @param broker the file that the broker was started with
   * @param config what it says
   * @param policies those on the broker's class path
   */
  public LiveSettings(BrokerProperties broker, StrataConfig config, PolicyRegistry policies) {
    this.tiers = config.tierNames();
    this.policies = policies;
    this.dynamic = Set.copyOf(StrataKeys.dynamicNames(tiers, policies.parameterNames()));
    this.names = names(tiers, dynamic);
    this.merge =
        new LiveMerge(
            name -> name.startsWith(StrataKeys.PREFIX) && !name.startsWith(RemoteKeys.PREFIX),
            broker.asMap(),
            dynamic,
            names,
            "this broker has no such tier, and no policy with such a parameter");
  }

  private static Set<String> names(List<String> tiers, Set<String> dynamic) {
    Set<String> names = new LinkedHashSet<>(new TreeSet<>(dynamic));
    for (StrataKey<?> key : StrataKeys.all()) {
      if (!key.patterned()) {
        names.add(key.name());
      } else if (!key.dynamic()) {
        tiers.forEach(tier -> names.add(key.with(tier).name()));
      }
    }
    return Collections.unmodifiableSet(names);
  }

  /**
   * The outcome of {@link #read}.
   *
   * @param settings of the engine; present exactly when there is no problem
   * @param spillForce present exactly then, too
   * @param problems why the configuration is refused
   * @param ignored names that were left out, each with the reason
   */
  public record Outcome(
      Optional<MigrationSettings> settings,
      Optional<SpillForce> spillForce,
      List<ConfigProblem> problems,
      List<String> ignored) {

    /** Copies the lists. */
    public Outcome {
      problems = List.copyOf(problems);
      ignored = List.copyOf(ignored);
    }

    /** All problems, in one line. */
    public String refusal() {
      return String.join("; also: ", problems.stream().map(ConfigProblem::message).toList());
    }
  }

  /** The names of the broker's tiers, fastest first. */
  public List<String> tiers() {
    return tiers;
  }

  /** Whether a running broker takes another value for this key. */
  public boolean isDynamic(String name) {
    return dynamic.contains(name);
  }

  /**
   * All names that Kafka has to ask about: the dynamic ones, and the others in order to refuse
   * them.
   */
  public Set<String> names() {
    return names;
  }

  /**
   * Reads the settings.
   *
   * @param configs all keys and values, as Kafka gives them to a plugin
   */
  public Outcome read(Map<String, ?> configs) {
    LiveMerge.Merged merged = merge.merge(configs);
    List<ConfigProblem> problems = new ArrayList<>(merged.problems());
    StrataConfig.Parsed parsed = StrataConfig.parse(merged.keys());
    problems.addAll(parsed.problems());
    if (!problems.isEmpty()) {
      return new Outcome(Optional.empty(), Optional.empty(), problems, merged.ignored());
    }
    MigrationSettings settings = parsed.config().orElseThrow().migration();
    problems.addAll(PolicyChecks.refusals(MigrationKeys.LOCAL, settings, policies));
    return new Outcome(
        problems.isEmpty()
            ? Optional.of(PolicyChecks.ofChosenPolicy(settings, policies))
            : Optional.empty(),
        problems.isEmpty() ? parsed.config().map(StrataConfig::spillForce) : Optional.empty(),
        problems,
        merged.ignored());
  }
}
