package io.strata.kafka.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Lays what Kafka says, when {@code kafka-configs.sh} changes a running broker's configuration,
 * over the keys of the broker's file.
 *
 * <p>Kafka hands over all keys: those of its file, with the dynamic ones of the cluster and then of
 * the broker laid over them. A key that was deleted has the file's value again, or is missing.
 *
 * <p>Kafka asks its plugins only about the names that they have declared. A name that is not among
 * these (a misspelt one, one of a tier that another broker of the cluster has) is stored without
 * question and seen here with the next change: it is left out with a warning, since a refusal would
 * then hit a change that has nothing to do with it.
 *
 * <p>Immutable and safe for use by any thread.
 */
final class LiveMerge {

  private final Predicate<String> ours;
  private final Map<String, String> file;
  private final Set<String> dynamic;
  private final Set<String> fixed;
  private final String stranger;

  /**
   * For one broker.
   *
   * @param ours which keys this is about
   * @param file keys and values of the broker's file
   * @param dynamic names of keys that a running broker takes another value for
   * @param fixed names of the others
   * @param stranger why a key that is not among them, and fits a known one, is left out
   */
  LiveMerge(
      Predicate<String> ours,
      Map<String, String> file,
      Set<String> dynamic,
      Set<String> fixed,
      String stranger) {
    this.ours = ours;
    this.file = ownKeys(file);
    this.dynamic = Set.copyOf(dynamic);
    this.fixed = Set.copyOf(fixed);
    this.stranger = stranger;
  }

  /**
   * The outcome of {@link #merge}.
   *
   * @param keys what holds now; not yet parsed
   * @param problems changes of keys that cannot be changed
   * @param ignored keys that were left out
   */
  record Merged(Map<String, String> keys, List<ConfigProblem> problems, List<IgnoredKey> ignored) {}

  /**
   * Lays {@code configs} over the file.
   *
   * @param configs all keys and values, as Kafka gives them to a plugin
   */
  Merged merge(Map<String, ?> configs) {
    Map<String, String> merged = new HashMap<>(file);
    merged.keySet().removeAll(dynamic);
    List<ConfigProblem> problems = new ArrayList<>();
    List<IgnoredKey> ignored = new ArrayList<>();
    ownKeys(configs)
        .forEach(
            (name, value) -> {
              if (dynamic.contains(name)) {
                merged.put(name, value);
              } else if (!value.strip().equals(file.getOrDefault(name, "").strip())) {
                refuseOrIgnore(name, value, problems, ignored);
              }
            });
    return new Merged(merged, problems, ignored);
  }

  private void refuseOrIgnore(
      String name, String value, List<ConfigProblem> problems, List<IgnoredKey> ignored) {
    if (name.startsWith(RemoteKeys.COLD_PREFIX)
        || (name.startsWith(RemoteKeys.MANAGER_PREFIX) && fixed.contains(name))) {
      // Kafka hands them over at its start alone.
      ignored.add(
          new IgnoredKey(
              name, value, "read at the start alone: set it in the broker's file and restart"));
    } else if (fixed.contains(name)) {
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
          new IgnoredKey(
              name,
              value,
              StrataKeys.nearest(name)
                  .map("an unknown key; did you mean %s?"::formatted)
                  .orElse("an unknown key")));
    } else {
      ignored.add(new IgnoredKey(name, value, stranger));
    }
  }

  private Map<String, String> ownKeys(Map<String, ?> configs) {
    Map<String, String> own = new TreeMap<>();
    configs.forEach(
        (name, value) -> {
          if (ours.test(name) && value != null) {
            own.put(name, String.valueOf(value));
          }
        });
    return own;
  }
}
