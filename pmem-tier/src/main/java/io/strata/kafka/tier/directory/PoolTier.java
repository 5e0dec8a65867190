package io.strata.kafka.tier.directory;

import io.strata.kafka.pool.Pool;
import java.util.List;

/**
 * One tier with pools. Immutable.
 *
 * @param name its name in {@code strata.tiers}
 * @param pools at least one
 */
public record PoolTier(String name, List<Pool> pools) {
  public PoolTier {
    pools = List.copyOf(pools);
  }
}
