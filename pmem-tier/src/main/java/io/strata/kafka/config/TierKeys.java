package io.strata.kafka.config;

import io.strata.kafka.memory.MemoryType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the keys that describe the tiers and their pools. */
final class TierKeys {

  private static final List<StrataKey<?>> PER_TIER =
      List.of(StrataKeys.TIER_POOLS, StrataKeys.TIER_TYPE, StrataKeys.TIER_THRESHOLD);

  private TierKeys() {}

  /** The tiers, fastest first; incomplete if there is a problem, which the reader then has. */
  static List<TierConfig> read(KeyReader reader) {
    Optional<List<String>> names = reader.read(StrataKeys.TIERS);
    if (names.isEmpty()) {
      return List.of();
    }
    Map<String, List<Path>> pools = new LinkedHashMap<>();
    Map<Path, String> taken = new HashMap<>();
    for (String name : names.get()) {
      boolean first = name.equals(names.get().get(0));
      pools(reader, name, first)
          .ifPresent(
              files -> {
                refuseShared(reader, name, files, taken);
                pools.put(name, files);
              });
    }
    Optional<MemoryType> common = reader.read(StrataKeys.POOL_TYPE);
    List<TierConfig> tiers = new ArrayList<>();
    for (String name : names.get()) {
      Optional<MemoryType> type =
          reader.readIfSet(StrataKeys.TIER_TYPE.with(name)).or(() -> common);
      if (type.isPresent() && pools.containsKey(name)) {
        tiers.add(new TierConfig(name, pools.getOrDefault(name, List.of()), type.get()));
      }
    }
    refuseUnknownTiers(reader, names.get());
    return tiers;
  }

  private static Optional<List<Path>> pools(KeyReader reader, String tier, boolean first) {
    StrataKey<List<Path>> own = StrataKeys.TIER_POOLS.with(tier);
    if (!first) {
      return reader.read(own);
    }
    if (!reader.isSet(own)) {
      // Who lists tiers names the pools by them, and is told of that key.
      return reader.isSet(StrataKeys.TIERS) && !reader.isSet(StrataKeys.POOLS)
          ? reader.read(own)
          : reader.read(StrataKeys.POOLS);
    }
    if (reader.isSet(StrataKeys.POOLS)) {
      reader.refuse(
          StrataKeys.POOLS.name(),
          "this key and " + own.name(),
          "one of the two: both name the pools of the first tier, " + tier,
          "remove one; if both lists are needed, join them");
      return Optional.empty();
    }
    return reader.read(own);
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

  private static void refuseUnknownTiers(KeyReader reader, List<String> tiers) {
    for (String name : reader.names()) {
      for (StrataKey<?> key : PER_TIER) {
        Optional<String> tier = key.partOf(name);
        if (tier.isPresent() && !tiers.contains(tier.get())) {
          reader.refuse(
              name,
              "a key of tier '" + tier.get() + "'",
              "a tier that strata.tiers lists: " + String.join(", ", tiers),
              "add the tier to strata.tiers, or remove the key");
        }
      }
    }
  }
}
