package io.strata.kafka.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the keys that describe the tiers and their pools. */
final class TierKeys {

  private TierKeys() {}

  /** The tiers, fastest first; incomplete if there is a problem, which the reader then has. */
  static List<TierConfig> read(KeyReader reader) {
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
    List<TierConfig> tiers = new ArrayList<>();
    for (String name : names.get()) {
      Optional<PoolType> type = reader.readIfSet(StrataKeys.TIER_TYPE.with(name)).or(() -> common);
      if (type.isPresent() && pools.containsKey(name)) {
        tiers.add(new TierConfig(name, pools.getOrDefault(name, List.of()), type.get()));
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
            "'" + pool + "', which tier " + other + " has, too",
            "each pool in one tier only",
            "take it out of one of them");
      }
    }
  }

  private static void refuseUnknownTiers(KeyReader reader, boolean listed, List<String> tiers) {
    for (String name : reader.names()) {
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
