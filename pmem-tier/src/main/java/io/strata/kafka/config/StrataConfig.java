package io.strata.kafka.config;

import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.TopicPlacement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The checked values of the {@code strata.*} keys.
 *
 * @param tiers the tiers that have pools, fastest first; at least one
 * @param poolCreate the size with which a pool that is missing is created at the broker's start;
 *     empty for none
 * @param requireDax whether a pool that does not survive a power failure is refused
 * @param migration how segments move between the tiers; which policies there are is known on the
 *     broker's class path only, so that the policy and its parameters are as written
 */
public record StrataConfig(
    List<Tier> tiers,
    OptionalLong poolCreate,
    List<String> topicsInclude,
    List<String> topicsExclude,
    boolean requireDax,
    AckDurability durability,
    SpillForce spillForce,
    MigrationSettings migration) {

  public StrataConfig {
    tiers = List.copyOf(tiers);
    topicsInclude = List.copyOf(topicsInclude);
    topicsExclude = List.copyOf(topicsExclude);
  }

  /** A tier that has pools: at least one file, by its absolute path. */
  public record Tier(String name, List<Path> pools, PoolType type) {
    /** Copies the list. */
    public Tier {
      pools = List.copyOf(pools);
      if (pools.isEmpty()) {
        throw new IllegalArgumentException("tier " + name + " needs at least one pool");
      }
    }
  }

  /** The records that a power failure leaves of those that were acknowledged. */
  public enum AckDurability {
    /** Records are durable as the medium makes them: when stored on DAX; elsewhere when flushed. */
    POOL,
    /** All of them, on any medium. */
    ACK;

    public String configName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Whether the tail of a spilled segment is forced to the medium with each append. {@link #forces}
   * decides it for pools that need a force too, and {@code strata.durability=ack} overrides the
   * key.
   */
  public enum SpillForce {
    /** Where the pool survives a power failure, so that a spill does not lower the promise. */
    AUTO,
    /** As a stock broker: forced when Kafka flushes. */
    NEVER;

    /**
     * Returns whether what goes to the log file because the pools are full is forced with each
     * append.
     *
     * @param durability what was promised of each acknowledgement
     * @param durableOnPersist whether what the first tier's pools take survives a power failure at
     *     once
     */
    public boolean forces(AckDurability durability, boolean durableOnPersist) {
      return durability == AckDurability.ACK || (this == AUTO && durableOnPersist);
    }

    public String configName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Returns the same for pools of any durability, for what only takes records out of pools. */
  public StrataConfig withAnyDurability() {
    return new StrataConfig(
        tiers,
        poolCreate,
        topicsInclude,
        topicsExclude,
        false,
        AckDurability.POOL,
        spillForce,
        migration);
  }

  /** Returns what of it can be changed on a live broker, as the keys would be written in a file. */
  Map<String, String> written() {
    Map<String, String> keys = MigrationKeys.LOCAL.written(migration, tierNames());
    keys.put(StrataKeys.SPILL_FORCE.name(), spillForce.configName());
    keys.put(StrataKeys.TOPICS_INCLUDE.name(), String.join(",", topicsInclude));
    keys.put(StrataKeys.TOPICS_EXCLUDE.name(), String.join(",", topicsExclude));
    return keys;
  }

  /** The pool files of all tiers, those of the fastest first. */
  public List<Path> pools() {
    return tiers.stream().flatMap(tier -> tier.pools().stream()).toList();
  }

  public List<String> tierNames() {
    return tiers.stream().map(Tier::name).toList();
  }

  /** How one of the {@link #pools} is reached, of any file system provider: as its tier says. */
  public PoolType poolType(Path pool) {
    return tiers.stream()
        .filter(tier -> tier.pools().stream().map(Path::toString).anyMatch(pool.toString()::equals))
        .map(Tier::type)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(pool + " is in no tier"));
  }

  /** Which segments may be hot, by {@code strata.topics.include} and {@code .exclude}. */
  public TopicPlacement placement() {
    return new TopicPlacement(topicsInclude, topicsExclude);
  }

  /** Checks all values of keys that begin with {@code strata.}; finds every problem in one pass. */
  public static Parsed<StrataConfig> parse(Map<String, String> properties) {
    KeyReader reader = new KeyReader(properties, name -> false);
    List<Tier> tiers = readTiers(reader);
    Optional<Long> create = reader.readIfSet(StrataKeys.POOL_CREATE);
    List<String> include = reader.readOrDefault(StrataKeys.TOPICS_INCLUDE);
    include.stream()
        .filter(TopicPlacement.NEVER_HOT::contains)
        .forEach(
            topic ->
                reader.refuse(
                    StrataKeys.TOPICS_INCLUDE.name(),
                    "'" + topic + "'",
                    "topics that can be hot",
                    "take it out: this topic is never placed in a pool"));
    StrataConfig config =
        new StrataConfig(
            tiers,
            create.map(OptionalLong::of).orElse(OptionalLong.empty()),
            include,
            reader.readOrDefault(StrataKeys.TOPICS_EXCLUDE),
            reader.readOrDefault(StrataKeys.REQUIRE_DAX),
            reader.readOrDefault(StrataKeys.DURABILITY),
            reader.readOrDefault(StrataKeys.SPILL_FORCE),
            MigrationKeys.LOCAL.read(reader, tiers.stream().map(Tier::name).toList()));
    reader.refuseUnknown();
    return Parsed.of(Optional.of(config), reader.problems());
  }

  /** The tiers, fastest first; incomplete if there is a problem, which the reader then has. */
  private static List<Tier> readTiers(KeyReader reader) {
    boolean listed = reader.isSet(StrataKeys.TIERS);
    Optional<List<String>> names =
        listed ? reader.read(StrataKeys.TIERS) : Optional.of(List.of(StrataKeys.ONE_TIER));
    if (names.isEmpty()) {
      return List.of();
    }
    if (listed && reader.isSet(StrataKeys.POOLS)) {
      reader.refuse(
          StrataKeys.POOLS.name(),
          "this key and " + StrataKeys.TIERS.name(),
          "one of the two: this one is short for one tier",
          "name the pools by %s, and remove this key"
              .formatted(StrataKeys.TIER_POOLS.with(names.get().get(0)).name()));
    }
    Map<String, List<Path>> pools = new LinkedHashMap<>();
    Map<Path, String> taken = new HashMap<>();
    for (String name : names.get()) {
      reader
          .read(listed ? StrataKeys.TIER_POOLS.with(name) : StrataKeys.POOLS)
          .ifPresent(
              files -> {
                refuseShared(reader, name, files, taken);
                pools.put(name, files);
              });
    }
    Optional<PoolType> common = reader.read(StrataKeys.POOL_TYPE);
    List<Tier> tiers = new ArrayList<>();
    for (String name : names.get()) {
      Optional<PoolType> type = reader.readIfSet(StrataKeys.TIER_TYPE.with(name)).or(() -> common);
      if (type.isPresent() && pools.containsKey(name)) {
        tiers.add(new Tier(name, pools.getOrDefault(name, List.of()), type.get()));
      }
    }
    refuseUnknownTiers(reader, listed, names.get());
    return tiers;
  }

  private static void refuseShared(
      KeyReader reader, String tier, List<Path> pools, Map<Path, String> taken) {
    for (Path pool : pools) {
      String other = taken.putIfAbsent(pool, tier);
      if (other != null) {
        reader.refuse(
            StrataKeys.TIER_POOLS.with(tier).name(),
            "'" + pool + "', which tier " + other + " has too",
            "each pool in one tier only",
            "take it out of one of them");
      }
    }
  }

  private static void refuseUnknownTiers(KeyReader reader, boolean listed, List<String> tiers) {
    for (String name : reader.names(StrataKeys.PREFIX)) {
      Optional<String> pools = StrataKeys.TIER_POOLS.partOf(name);
      pools
          .or(() -> StrataKeys.TIER_TYPE.partOf(name))
          .or(() -> MigrationKeys.tierOf(name))
          .filter(tier -> !tiers.contains(tier) || (!listed && pools.isPresent()))
          .ifPresent(
              tier ->
                  reader.refuse(
                      name,
                      "a key of tier '%s'".formatted(tier),
                      listed
                          ? "a tier that strata.tiers lists: " + String.join(", ", tiers)
                          : "strata.pools for the pools of one tier, or tiers in strata.tiers",
                      "add the tier to strata.tiers, or remove the key"));
    }
  }
}
