package io.strata.kafka.tier;

import io.strata.kafka.config.PoolType;
import io.strata.kafka.memory.Reflink;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolOwner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/**
 * What a {@link HotTier} takes from its surroundings: how a pool is opened, who does the work in
 * the background, and how files share blocks. Immutable.
 *
 * @param pools opens a pool for writing
 * @param background makes the executor that the tier shuts down when it is closed
 * @param cloning makes a file that shares the blocks of another
 */
record TierParts(
    PoolOpening pools,
    Supplier<ScheduledExecutorService> background,
    BlockSharing.Cloning cloning) {

  /** Pools are files, and background work has a thread of its own. */
  static final TierParts STANDARD =
      new TierParts(
          (file, type, owner) -> Pool.open(file, type.on(file), owner),
          BackgroundThreads::newThread,
          Reflink::make);

  /** Opens a pool for writing, as {@link Pool#open} does. */
  @FunctionalInterface
  interface PoolOpening {
    Pool open(Path file, PoolType type, PoolOwner owner) throws IOException;
  }
}
