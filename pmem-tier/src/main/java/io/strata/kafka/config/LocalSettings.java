package io.strata.kafka.config;

import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.TopicPlacement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The settings of the local tiers that can be changed on a live broker.
 *
 * @param migration how segments move, with the parameters of the chosen policy alone
 * @param spillForce whether spilled appends are forced
 * @param topicsInclude expressions of topics that may be hot
 * @param topicsExclude expressions of topics that may not
 */
public record LocalSettings(
    MigrationSettings migration,
    SpillForce spillForce,
    List<String> topicsInclude,
    List<String> topicsExclude) {

  /** Copies the lists. */
  public LocalSettings {
    topicsInclude = List.copyOf(topicsInclude);
    topicsExclude = List.copyOf(topicsExclude);
  }

  /** The settings of the broker's file. */
  public static LocalSettings of(StrataConfig config, MigrationSettings ofChosenPolicy) {
    return new LocalSettings(
        ofChosenPolicy, config.spillForce(), config.topicsInclude(), config.topicsExclude());
  }

  /** Which segments may be hot. */
  public TopicPlacement placement() {
    return new TopicPlacement(topicsInclude, topicsExclude);
  }

  Map<String, String> written(List<String> tiers) {
    Map<String, String> keys = new LinkedHashMap<>(MigrationKeys.LOCAL.written(migration, tiers));
    keys.put(StrataKeys.SPILL_FORCE.name(), spillForce.configName());
    keys.put(StrataKeys.TOPICS_INCLUDE.name(), String.join(",", topicsInclude));
    keys.put(StrataKeys.TOPICS_EXCLUDE.name(), String.join(",", topicsExclude));
    return keys;
  }
}
