package io.strata.kafka.config;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.migration.TopicPlacement;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The checked values of the {@code strata.*} keys.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param pools the pool files, absolute; at least one
 * @param poolType how they are reached
 * @param poolPrefault whether to touch every page when a pool is opened
 * @param topicsInclude expressions of topics that may be hot
 * @param topicsExclude expressions of topics that may not
 * @param requireDax whether a pool that does not survive a power cut is refused
 * @param spillForce whether spilled appends are forced
 * @param homeMtimeInterval how often home's modification time follows the appends
 */
public record StrataConfig(
    List<Path> pools,
    MemoryType poolType,
    boolean poolPrefault,
    List<String> topicsInclude,
    List<String> topicsExclude,
    boolean requireDax,
    SpillForce spillForce,
    Duration homeMtimeInterval) {

  /** Copies the lists. */
  public StrataConfig {
    pools = List.copyOf(pools);
    topicsInclude = List.copyOf(topicsInclude);
    topicsExclude = List.copyOf(topicsExclude);
  }

  /** Which segments may be hot, by {@code strata.topics.include} and {@code .exclude}. */
  public TopicPlacement placement() {
    return new TopicPlacement(topicsInclude, topicsExclude);
  }

  /**
   * Whether a spilled tail is forced with each append.
   *
   * @param poolSurvivesPower whether the segment's pool survives a power cut
   */
  public boolean forcesSpills(boolean poolSurvivesPower) {
    return switch (spillForce) {
      case AUTO -> poolSurvivesPower;
      case ALWAYS -> true;
      case NEVER -> false;
    };
  }

  /**
   * The result of {@link #parse}.
   *
   * @param config the values; present exactly when no problem is an error
   * @param problems errors and warnings, in the order of the catalogue
   */
  public record Parsed(Optional<StrataConfig> config, List<ConfigProblem> problems) {

    /** Copies the list. */
    public Parsed {
      problems = List.copyOf(problems);
    }

    /**
     * The values.
     *
     * @throws ConfigRefusedException if there are none, with every error
     */
    public StrataConfig orElseThrow() throws ConfigRefusedException {
      if (config.isEmpty()) {
        throw new ConfigRefusedException(problems);
      }
      return config.get();
    }
  }

  /**
   * Checks all values of keys that begin with {@code strata.}; others are ignored. Every problem is
   * found in one pass.
   *
   * @param properties keys and values as in {@code server.properties}
   */
  public static Parsed parse(Map<String, String> properties) {
    Reader reader = new Reader(properties);
    Optional<List<Path>> pools = reader.read(StrataKeys.POOLS);
    Optional<MemoryType> poolType = reader.read(StrataKeys.POOL_TYPE);
    Optional<Boolean> prefault = reader.read(StrataKeys.POOL_PREFAULT);
    Optional<List<String>> include = reader.read(StrataKeys.TOPICS_INCLUDE);
    if (include.isPresent() && include.get().contains(TopicPlacement.CLUSTER_METADATA)) {
      reader.problems.add(
          ConfigProblem.error(
              StrataKeys.TOPICS_INCLUDE.name(),
              "'" + TopicPlacement.CLUSTER_METADATA + "'",
              "topics that can be hot",
              "take it out: Kafka loads this topic before Strata can keep a broker without the"
                  + " provider from starting, which would take its log for empty"));
    }
    Optional<List<String>> exclude = reader.read(StrataKeys.TOPICS_EXCLUDE);
    Optional<Boolean> requireDax = reader.read(StrataKeys.REQUIRE_DAX);
    Optional<SpillForce> spillForce = reader.read(StrataKeys.SPILL_FORCE);
    Optional<Long> mtimeInterval = reader.read(StrataKeys.HOME_MTIME_INTERVAL_MS);
    reader.refuseUnknown();
    if (!reader.problems.isEmpty()) {
      return new Parsed(Optional.empty(), reader.problems);
    }
    return new Parsed(
        Optional.of(
            new StrataConfig(
                pools.orElseThrow(),
                poolType.orElseThrow(),
                prefault.orElseThrow(),
                include.orElseThrow(),
                exclude.orElseThrow(),
                requireDax.orElseThrow(),
                spillForce.orElseThrow(),
                Duration.ofMillis(mtimeInterval.orElseThrow()))),
        List.of());
  }

  /** Reads keys one by one and collects what is wrong. */
  private static final class Reader {
    private final Map<String, String> properties;
    private final List<ConfigProblem> problems = new ArrayList<>();

    Reader(Map<String, String> properties) {
      this.properties = properties;
    }

    /** The value, or empty and one more problem. */
    <T> Optional<T> read(StrataKey<T> key) {
      Optional<String> written = Optional.ofNullable(properties.get(key.name()));
      Optional<String> value = written.or(key::defaultValue);
      if (value.isEmpty()) {
        problems.add(
            ConfigProblem.error(
                key.name(),
                "nothing",
                key.expected(),
                "set it in server.properties (see docs/reference/configuration.md)"));
        return Optional.empty();
      }
      String text = value.get();
      if (text.contains("${")) {
        problems.add(
            ConfigProblem.error(
                key.name(),
                "'" + text + "'",
                key.expected(),
                "write the value itself: configuration providers are not resolved for strata.*"
                    + " keys, which are read before Kafka starts"));
        return Optional.empty();
      }
      try {
        return Optional.of(key.parse(text));
      } catch (IllegalArgumentException e) {
        String detail = Optional.ofNullable(e.getMessage()).orElse("");
        problems.add(
            ConfigProblem.error(
                key.name(),
                "'" + text + "'" + (detail.isEmpty() ? "" : " (" + detail + ")"),
                key.expected(),
                key.defaultValue()
                    .map(
                        d ->
                            "correct it, or remove the key for the default "
                                + (d.isEmpty() ? "(empty)" : "'" + d + "'"))
                    .orElse("correct it")));
        return Optional.empty();
      }
    }

    void refuseUnknown() {
      for (String name : new TreeSet<>(properties.keySet())) {
        if (name.startsWith(StrataKeys.PREFIX) && StrataKeys.find(name).isEmpty()) {
          problems.add(
              ConfigProblem.error(
                  name,
                  "an unknown key",
                  "one that docs/reference/configuration.md lists",
                  "did you mean " + StrataKeys.nearest(name).name() + "? Otherwise remove it"));
        }
      }
    }
  }
}
