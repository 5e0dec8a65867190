package io.strata.kafka.config;

import io.strata.kafka.migration.MigrationSettings;
import io.strata.kafka.migration.PolicyRegistry;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Makes settings of what Kafka says when {@code kafka-configs.sh} changes a running broker's
 * configuration: see {@link LiveMerge}.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param <T> the settings: {@link LocalSettings} or {@link RemoteSettings.Live}
 */
public final class LiveSettings<T> {

  private final Set<String> dynamic;
  private final Set<String> names;
  private final LiveMerge merge;
  private final Reader<T> reader;
  private final Function<T, Map<String, String>> writer;

  /** Reads settings; adds what is wrong to the list. */
  @FunctionalInterface
  private interface Reader<T> {
    Optional<T> read(Map<String, String> keys, List<ConfigProblem> problems);
  }

  private LiveSettings(
      Set<String> dynamic,
      Set<String> fixed,
      LiveMerge merge,
      Reader<T> reader,
      Function<T, Map<String, String>> writer) {
    this.dynamic = Set.copyOf(dynamic);
    this.names = new LinkedHashSet<>(new TreeSet<>(dynamic));
    this.names.addAll(fixed);
    this.merge = merge;
    this.reader = reader;
    this.writer = writer;
  }

  /**
   * Of the local tiers of one broker.
   *
   * @param broker the file that the broker was started with
   * @param config what it says
   * @param policies those on the broker's class path
   */
  public static LiveSettings<LocalSettings> local(
      BrokerProperties broker, StrataConfig config, PolicyRegistry policies) {
    List<String> tiers = config.tierNames();
    Set<String> dynamic = StrataKeys.LOCAL.dynamicNames(tiers, policies.parameterNames());
    Set<String> fixed = StrataKeys.LOCAL.fixedNames(tiers);
    return new LiveSettings<>(
        dynamic,
        fixed,
        new LiveMerge(
            name -> name.startsWith(StrataKeys.PREFIX),
            broker.asMap(),
            dynamic,
            fixed,
            "this broker has no such tier, and no policy with such a parameter"),
        (keys, problems) -> {
          StrataConfig.Parsed parsed = StrataConfig.parse(keys);
          problems.addAll(parsed.problems());
          return parsed.config().map(read -> local(read, policies, problems));
        },
        settings -> settings.written(tiers));
  }

  private static LocalSettings local(
      StrataConfig read, PolicyRegistry policies, List<ConfigProblem> problems) {
    MigrationSettings migration = read.migration();
    problems.addAll(PolicyChecks.refusals(MigrationKeys.LOCAL, migration, policies));
    return LocalSettings.of(read, PolicyChecks.ofChosenPolicy(migration, policies));
  }

  /**
   * Of the remote tier of one broker.
   *
   * @param manager what Kafka gave to the manager, with the prefix {@code rsm.config.}
   * @param live whether that is the prefix in the broker's file: with another one nothing changes
   *     on a live broker
   * @param settings what the remote tier was started with
   * @param policies those on the broker's class path
   */
  public static LiveSettings<RemoteSettings.Live> remote(
      Map<String, String> manager, boolean live, RemoteSettings settings, PolicyRegistry policies) {
    List<String> levels = RemoteConfig.thresholdLevels(settings.levelNames());
    Set<String> dynamic =
        live ? RemoteKeys.REMOTE.dynamicNames(levels, policies.parameterNames()) : Set.of();
    Set<String> fixed = new LinkedHashSet<>(RemoteKeys.REMOTE.fixedNames(settings.levelNames()));
    fixed.addAll(manager.keySet());
    fixed.removeAll(dynamic);
    return new LiveSettings<>(
        dynamic,
        fixed,
        new LiveMerge(
            name -> name.startsWith(RemoteKeys.MANAGER_PREFIX),
            manager,
            dynamic,
            fixed,
            "no policy has such a parameter"),
        (keys, problems) -> {
          KeyReader reader = new KeyReader(keys);
          Optional<RemoteSettings.Live> now =
              RemoteLiveKeys.read(reader, levels)
                  .map(
                      read -> {
                        problems.addAll(
                            PolicyChecks.refusals(
                                MigrationKeys.REMOTE, read.migration(), policies));
                        return RemoteLiveKeys.ofChosenPolicy(read, policies);
                      });
          problems.addAll(reader.problems());
          return now;
        },
        now -> RemoteLiveKeys.written(now, levels));
  }

  /**
   * The outcome of {@link #read}.
   *
   * @param settings present exactly when there is no problem
   * @param problems why the configuration is refused
   * @param ignored keys that were left out
   */
  public record Outcome<T>(
      Optional<T> settings, List<ConfigProblem> problems, List<IgnoredKey> ignored) {

    /** Copies the lists. */
    public Outcome {
      problems = List.copyOf(problems);
      ignored = List.copyOf(ignored);
    }

    /**
     * The settings.
     *
     * @throws ConfigRefusedException if there is a problem
     */
    public T orElseThrow() throws ConfigRefusedException {
      if (settings.isEmpty()) {
        throw new ConfigRefusedException(problems);
      }
      return settings.get();
    }

    /** All problems, in one line. */
    public String refusal() {
      return String.join("; also: ", problems.stream().map(ConfigProblem::message).toList());
    }
  }

  /** Whether a running broker takes another value for this key. */
  public boolean isDynamic(String name) {
    return dynamic.contains(name);
  }

  /**
   * All names that Kafka has to ask about: the dynamic ones, and the others in order to answer
   * them.
   */
  public Set<String> names() {
    return Set.copyOf(names);
  }

  /**
   * Reads the settings.
   *
   * @param configs all keys and values, as Kafka gives them to a plugin
   */
  public Outcome<T> read(Map<String, ?> configs) {
    LiveMerge.Merged merged = merge.merge(configs);
    List<ConfigProblem> problems = new ArrayList<>(merged.problems());
    Optional<T> settings = reader.read(merged.keys(), problems);
    return new Outcome<>(
        problems.isEmpty() ? settings : Optional.empty(), problems, merged.ignored());
  }

  /** Settings as the keys would be written in a file. */
  public Map<String, String> written(T settings) {
    return writer.apply(settings);
  }
}
