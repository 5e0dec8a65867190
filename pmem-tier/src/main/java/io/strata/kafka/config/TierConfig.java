package io.strata.kafka.config;

import java.nio.file.Path;
import java.util.List;

/**
 * One tier of the configuration.
 *
 * @param name its name in {@code strata.tiers}
 * @param pools its pool files, absolute; at least one
 * @param type how they are reached
 */
public record TierConfig(String name, List<Path> pools, PoolType type) {

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there is no pool
   */
  public TierConfig {
    pools = List.copyOf(pools);
    if (pools.isEmpty()) {
      throw new IllegalArgumentException("tier " + name + " needs at least one pool");
    }
  }
}
