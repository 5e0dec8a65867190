package io.strata.kafka.config;

import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.config.key.ServiceLinks;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Makes settings of what Kafka says when {@code kafka-configs.sh} changes a running broker's
 * configuration: lays it over the keys of the broker's file.
 *
 * <p>Kafka hands over all keys: those of its file, with the dynamic ones of the cluster and then of
 * the broker laid over them. A key that was deleted has the file's value again, or is missing.
 *
 * <p>Kafka asks its plugins only about the names that they have declared. A name that is not among
 * these (a misspelt one, one of a tier that another broker of the cluster has) is stored without
 * question and seen here with the next change. So is a value that cannot be used: a controller
 * stores what it is given, and so does a broker without this plugin. Both are left out: Kafka would
 * drop all that is stored at the level of a value that a plugin refuses, its own keys included.
 *
 * @param <T> the settings: {@link StrataConfig} or {@link RemoteSettings.Live}
 */
public final class LiveSettings<T> {

  private final String prefix;
  private final Map<String, String> file;
  private final Set<String> dynamic;
  private final Set<String> fixed;
  private final String stranger;
  private final Function<Map<String, String>, Parsed<T>> reader;
  private final Function<T, Map<String, String>> writer;

  /**
   * For one broker.
   *
   * @param dynamic names of keys that a running broker takes another value for
   * @param stranger why a key that is not among them, and fits a known one, is left out
   */
  private LiveSettings(
      String prefix,
      Map<String, String> file,
      Set<String> dynamic,
      Set<String> fixed,
      String stranger,
      Function<Map<String, String>, Parsed<T>> reader,
      Function<T, Map<String, String>> writer) {
    this.prefix = prefix;
    this.file = ownKeys(file);
    this.dynamic = Set.copyOf(dynamic);
    this.fixed = Set.copyOf(fixed);
    this.stranger = stranger;
    this.reader = reader;
    this.writer = writer;
  }

  /** The live settings of the local tiers of one broker. */
  public static LiveSettings<StrataConfig> local(
      BrokerProperties broker, StrataConfig config, PolicyRegistry policies) {
    List<String> tiers = config.tierNames();
    return new LiveSettings<>(
        StrataKeys.PREFIX,
        broker.asMap(),
        StrataKeys.LOCAL.dynamicNames(tiers, policies.parameterNames()),
        StrataKeys.LOCAL.fixedNames(tiers),
        "this broker has no such tier, and no policy with such a parameter",
        keys -> {
          Parsed<StrataConfig> parsed = StrataConfig.parse(keys);
          List<ConfigProblem> problems = new ArrayList<>(parsed.problems());
          parsed
              .config()
              .map(read -> MigrationKeys.LOCAL.refusals(read.migration(), policies))
              .ifPresent(problems::addAll);
          return Parsed.of(parsed.config(), problems);
        },
        StrataConfig::written);
  }

  /**
   * The live settings of the remote tier of one broker.
   *
   * @param manager what Kafka gave to the manager, with the prefix {@code rsm.config.}
   * @param live whether that is the prefix in the broker's file: with another one nothing changes
   *     on a live broker
   */
  public static LiveSettings<RemoteSettings.Live> remote(
      Map<String, String> manager, boolean live, RemoteSettings settings, PolicyRegistry policies) {
    List<String> levels = RemoteConfig.thresholdLevels(settings.levelNames());
    Set<String> dynamic =
        live ? RemoteKeys.REMOTE.dynamicNames(levels, policies.parameterNames()) : Set.of();
    Set<String> fixed = new HashSet<>(RemoteKeys.REMOTE.fixedNames(settings.levelNames()));
    fixed.addAll(manager.keySet());
    fixed.removeAll(dynamic);
    return new LiveSettings<>(
        RemoteKeys.MANAGER_PREFIX,
        manager,
        dynamic,
        fixed,
        "no policy has such a parameter",
        keys -> {
          KeyReader reader = new KeyReader(keys, name -> false);
          RemoteSettings.Live read = RemoteConfig.readLive(reader, levels);
          if (reader.problems().isEmpty()) {
            reader.problems().addAll(MigrationKeys.REMOTE.refusals(read.migration(), policies));
          }
          return Parsed.of(Optional.of(read), reader.problems());
        },
        now -> RemoteConfig.written(now, levels));
  }

  /**
   * A key that is set on a live broker and has no effect there.
   *
   * @param problem what is wrong with the value; empty if this broker only has no use for it
   */
  public record IgnoredKey(
      String name, String value, String reason, Optional<ConfigProblem> problem) {

    public static IgnoredKey useless(String name, String value, String reason) {
      return new IgnoredKey(name, value, reason, Optional.empty());
    }

    public static IgnoredKey wrong(String name, String value, ConfigProblem problem) {
      return new IgnoredKey(name, value, problem.message(), Optional.of(problem));
    }

    @Override
    public String toString() {
      return "%s (%s)".formatted(name, reason);
    }
  }

  /** Returns whether a running broker takes another value for this key. */
  public boolean isDynamic(String name) {
    return dynamic.contains(name);
  }

  /** All names that Kafka has to ask about: the dynamic ones, and others in order to answer. */
  public Set<String> names() {
    Set<String> names = new HashSet<>(dynamic);
    names.addAll(fixed);
    return names;
  }

  /** The settings of a live broker. */
  public record Usable<T>(T settings, List<IgnoredKey> ignored) {

    public Usable {
      ignored = List.copyOf(ignored);
    }

    public List<IgnoredKey> wrong() {
      return ignored.stream().filter(key -> key.problem().isPresent()).toList();
    }

    /**
     * The keys that this broker has no use for, and that the operator has not been warned of, and
     * has been from now on: each is worth one warning for each value, not one with every change of
     * another key.
     */
    public List<String> newlyUseless(Set<IgnoredKey> known) {
      return ignored.stream()
          .filter(key -> key.problem().isEmpty() && known.add(key))
          .map(IgnoredKey::toString)
          .toList();
    }
  }

  /**
   * Reads the settings. A value that cannot be used is left out, and the file's, or else the
   * default, counts.
   *
   * @param configs all keys and values, as Kafka gives them to a plugin
   * @throws IllegalStateException if not even the file's values can be used any more
   */
  public Usable<T> read(Map<String, ?> configs) {
    Map<String, String> base = new HashMap<>(file);
    base.keySet().removeAll(dynamic);
    Map<String, String> given = new TreeMap<>();
    List<IgnoredKey> ignored = new ArrayList<>();
    ownKeys(configs)
        .forEach(
            (name, value) -> {
              if (dynamic.contains(name)) {
                given.put(name, value);
              } else if (!value.strip().equals(file.getOrDefault(name, "").strip())) {
                ignored.add(leftOut(name, value));
              }
            });
    Map<String, String> all = new HashMap<>(base);
    all.putAll(given);
    return new Usable<>(
        reader.apply(all).config().orElseGet(() -> oneByOne(base, given, ignored)), ignored);
  }

  /**
   * Takes one key after the other, as long as all that are taken can be used together: one may need
   * another, as a policy its parameters.
   */
  private T oneByOne(
      Map<String, String> base, Map<String, String> given, List<IgnoredKey> ignored) {
    Map<String, String> taken = new HashMap<>(base);
    given.keySet().stream()
        .filter(file::containsKey)
        .forEach(name -> taken.put(name, file.getOrDefault(name, "")));
    Map<String, String> left = new TreeMap<>(given);
    left.entrySet().removeIf(key -> key.getValue().equals(file.get(key.getKey())));
    Map<String, ConfigProblem> problems = new HashMap<>();
    boolean further = true;
    while (further) {
      further = false;
      for (Map.Entry<String, String> key : new TreeMap<>(left).entrySet()) {
        Map<String, String> tried = new HashMap<>(taken);
        tried.put(key.getKey(), key.getValue());
        Parsed<T> parsed = reader.apply(tried);
        if (parsed.config().isPresent()) {
          taken.put(key.getKey(), key.getValue());
          left.remove(key.getKey());
          further = true;
        } else {
          problems.put(key.getKey(), parsed.firstError());
        }
      }
    }
    left.forEach(
        (name, value) ->
            ignored.add(IgnoredKey.wrong(name, value, Objects.requireNonNull(problems.get(name)))));
    Parsed<T> parsed = reader.apply(taken);
    return parsed
        .config()
        .orElseThrow(() -> new IllegalStateException(ConfigProblem.inOneLine(parsed.problems())));
  }

  private IgnoredKey leftOut(String name, String value) {
    if (name.startsWith(RemoteKeys.COLD_PREFIX)
        || (name.startsWith(RemoteKeys.MANAGER_PREFIX) && fixed.contains(name))) {
      // Kafka hands them over at its start alone.
      return IgnoredKey.useless(
          name, value, "read at the start alone: set it in the broker's file and restart");
    }
    if (fixed.contains(name)) {
      return IgnoredKey.wrong(
          name,
          value,
          ConfigProblem.error(
              name,
              "'" + value + "'",
              file.containsKey(name)
                  ? "'" + file.get(name) + "', as in the broker's file"
                  : "nothing, as in the broker's file",
              "set it there and restart the broker: it cannot be changed on a live one"));
    }
    if (StrataKeys.find(name).isEmpty()) {
      return IgnoredKey.useless(
          name,
          value,
          StrataKeys.nearest(name)
              .map("an unknown key; did you mean %s?"::formatted)
              .orElse("an unknown key"));
    }
    return IgnoredKey.useless(name, value, stranger);
  }

  private Map<String, String> ownKeys(Map<String, ?> configs) {
    Map<String, String> own = new TreeMap<>();
    configs.forEach(
        (name, value) -> {
          if (name.startsWith(prefix) && value != null) {
            own.put(name, String.valueOf(value));
          }
        });
    // The operator was warned of them at the start.
    own.keySet().removeAll(ServiceLinks.in(own).keys());
    return own;
  }

  /**
   * Checks a new configuration.
   *
   * @param before all keys and values that Kafka has handed over last
   * @param after all keys and values with the change
   * @throws ConfigRefusedException if it sets what cannot be used; what was wrong before is no
   *     reason
   */
  public void validate(Map<String, ?> before, Map<String, ?> after) throws ConfigRefusedException {
    Map<String, String> known =
        read(before).wrong().stream()
            .collect(Collectors.toMap(IgnoredKey::name, IgnoredKey::value));
    List<ConfigProblem> problems =
        read(after).wrong().stream()
            .filter(key -> !key.value().equals(known.get(key.name())))
            .flatMap(key -> key.problem().stream())
            .distinct()
            .toList();
    if (!problems.isEmpty()) {
      throw new ConfigRefusedException(problems);
    }
  }

  /** Settings as the keys would be written in a file. */
  public Map<String, String> written(T settings) {
    return writer.apply(settings);
  }

  /** Each key that has changed: {@code key from 'old' to 'new'}. */
  public String difference(T before, T after) {
    Map<String, String> from = written(before);
    Map<String, String> to = written(after);
    Set<String> names = new TreeSet<>(from.keySet());
    names.addAll(to.keySet());
    return names.stream()
        .filter(name -> !Objects.equals(from.get(name), to.get(name)))
        .map(
            name ->
                "%s from '%s' to '%s'"
                    .formatted(
                        name, from.getOrDefault(name, "unset"), to.getOrDefault(name, "unset")))
        .collect(Collectors.joining(", "));
  }
}
