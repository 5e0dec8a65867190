package io.strata.kafka.config;

import io.strata.kafka.migration.PolicyRegistry;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Makes settings of the remote tier of what Kafka says when {@code kafka-configs.sh} changes a
 * running broker's configuration: see {@link LiveMerge}.
 *
 * <p>Immutable and safe for use by any thread.
 */
public final class RemoteLiveSettings {

  private final List<String> levels;
  private final PolicyRegistry policies;
  private final Set<String> names;
  private final LiveMerge merge;

  /**
   * For one broker.
   *
   * @param file keys and values of the file that the broker was started with; empty if it is not
   *     known
   * @param settings what the remote tier was started with
   * @param policies those on the broker's class path
   */
  public RemoteLiveSettings(
      Map<String, String> file, RemoteSettings settings, PolicyRegistry policies) {
    this.levels = RemoteConfig.thresholdLevels(settings.levelNames());
    this.policies = policies;
    Set<String> dynamic = RemoteKeys.dynamicNames(levels, policies.parameterNames());
    this.names = names(dynamic);
    this.merge =
        new LiveMerge(
            name -> name.startsWith(RemoteKeys.PREFIX),
            file,
            dynamic,
            names,
            "this broker has no such level above its lowest, and no policy with such a parameter");
  }

  private static Set<String> names(Set<String> dynamic) {
    Set<String> names = new LinkedHashSet<>(new TreeSet<>(dynamic));
    for (StrataKey<?> key : RemoteKeys.all()) {
      if (!key.patterned() && key.name().startsWith(RemoteKeys.PREFIX)) {
        names.add(key.name());
      }
    }
    return Collections.unmodifiableSet(names);
  }

  /**
   * The outcome of {@link #read}.
   *
   * @param live present exactly when there is no problem
   * @param problems why the configuration is refused
   * @param ignored names that were left out, each with the reason
   */
  public record Outcome(
      Optional<RemoteSettings.Live> live, List<ConfigProblem> problems, List<String> ignored) {

    /** Copies the lists. */
    public Outcome {
      problems = List.copyOf(problems);
      ignored = List.copyOf(ignored);
    }
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
    KeyReader reader = new KeyReader(merged.keys());
    Optional<RemoteSettings.Live> live =
        RemoteLiveKeys.read(reader, levels)
            .map(
                read -> {
                  problems.addAll(
                      PolicyChecks.refusals(MigrationKeys.REMOTE, read.migration(), policies));
                  return RemoteLiveKeys.ofChosenPolicy(read, policies);
                });
    problems.addAll(reader.problems());
    return new Outcome(problems.isEmpty() ? live : Optional.empty(), problems, merged.ignored());
  }

  /** Settings as the keys would be written in a file. */
  public Map<String, String> written(RemoteSettings.Live live) {
    return RemoteLiveKeys.written(live, levels);
  }
}
