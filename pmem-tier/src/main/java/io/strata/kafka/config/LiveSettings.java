package io.strata.kafka.config;

import io.strata.kafka.migration.MigrationSettings;
import io.strata.kafka.migration.PolicyRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Makes migration settings of what Kafka says when {@code kafka-configs.sh} changes a running
 * broker's configuration.
 *
 * <p>Kafka hands over all keys: those of its file, with the dynamic ones of the cluster and then of
 * the broker laid over them. A key that was deleted has the file's value again, or is missing.
 *
 * <p>Kafka asks its plugins only about the names that they have declared. A name that is none of
 * these (a misspelt one, one of a tier that another broker of the cluster has) is stored without
 * question and seen here with the next change: it is left out and told, since a refusal would then
 * hit a change that has nothing to do with it.
 *
 * <p>Immutable and safe for use by any thread.
 */
public final class LiveSettings {

  private final Map<String, String> file;
  private final List<String> tiers;
  private final PolicyRegistry policies;
  private final Set<String> dynamic;

  /**
   * For one broker.
   *
   * @param broker the file that the broker was started with
   * @param config what it says
   * @param policies those on the broker's class path
   */
  public LiveSettings(BrokerProperties broker, StrataConfig config, PolicyRegistry policies) {
    this.file = ownKeys(broker.asMap());
    this.tiers = config.tierNames();
    this.policies = policies;
    this.dynamic = Set.copyOf(StrataKeys.dynamicNames(tiers, policies.parameterNames()));
  }

  /**
   * The outcome of {@link #read}.
   *
   * @param settings present exactly when there is no problem
   * @param problems why the configuration is refused
   * @param ignored names that were left out, each with the reason
   */
  public record Outcome(
      Optional<MigrationSettings> settings, List<ConfigProblem> problems, List<String> ignored) {

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
    Set<String> names = new LinkedHashSet<>(new TreeSet<>(dynamic));
    for (StrataKey<?> key : StrataKeys.all()) {
      if (!key.patterned()) {
        names.add(key.name());
      } else if (!key.dynamic()) {
        tiers.forEach(tier -> names.add(key.with(tier).name()));
      }
    }
    return names;
  }

  /**
   * Reads the settings.
   *
   * @param configs all keys and values, as Kafka gives them to a plugin
   */
  public Outcome read(Map<String, ?> configs) {
    Map<String, String> given = ownKeys(configs);
    Map<String, String> merged = new HashMap<>(file);
    merged.keySet().removeAll(dynamic);
    List<ConfigProblem> problems = new ArrayList<>();
    List<String> ignored = new ArrayList<>();
    given.forEach(
        (name, value) -> {
          if (dynamic.contains(name)) {
            merged.put(name, value);
          } else if (!value.strip().equals(file.getOrDefault(name, "").strip())) {
            refuseOrIgnore(name, value, problems, ignored);
          }
        });
    StrataConfig.Parsed parsed = StrataConfig.parse(merged);
    problems.addAll(parsed.problems());
    if (!problems.isEmpty()) {
      return new Outcome(Optional.empty(), problems, ignored);
    }
    MigrationSettings settings = parsed.config().orElseThrow().migration();
    problems.addAll(PolicyChecks.refusals(settings, policies));
    return new Outcome(
        problems.isEmpty()
            ? Optional.of(PolicyChecks.ofChosenPolicy(settings, policies))
            : Optional.empty(),
        problems,
        ignored);
  }

  private void refuseOrIgnore(
      String name, String value, List<ConfigProblem> problems, List<String> ignored) {
    if (names().contains(name)) {
      problems.add(
          ConfigProblem.error(
              name,
              "'" + value + "'",
              file.containsKey(name)
                  ? "'" + file.get(name) + "', as in the broker's file"
                  : "nothing, as in the broker's file",
              "set it there and restart the broker: it cannot be changed on a live one"));
    } else if (StrataKeys.find(name).isEmpty()) {
      ignored.add(
          name + " (an unknown key; did you mean " + StrataKeys.nearest(name).name() + "?)");
    } else {
      ignored.add(name + " (this broker has no such tier, and no policy with such a parameter)");
    }
  }

  private static Map<String, String> ownKeys(Map<String, ?> configs) {
    Map<String, String> own = new TreeMap<>();
    configs.forEach(
        (name, value) -> {
          if (name.startsWith(StrataKeys.PREFIX) && value != null) {
            own.put(name, String.valueOf(value));
          }
        });
    return own;
  }
}
