package io.strata.kafka.tier.directory;

import io.strata.kafka.config.PoolType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.spec.LogDiskPace;
import io.strata.kafka.tier.start.Trial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/**
 * The parts that a {@link HotTier} takes from its surroundings: how a pool is opened, who does the
 * work in the background, and by which clock copies rest. Immutable.
 */
public record TierParts(
    PoolOpening pools, Supplier<ScheduledExecutorService> background, LogDiskPace.Time time) {

  /** Pools are files, and background work has a thread of its own. */
  public static final TierParts STANDARD =
      new TierParts(
          (file, type, owner) -> Pool.open(file, type.on(file), owner),
          TierParts::backgroundThread,
          LogDiskPace.Time.SYSTEM);

  private static ScheduledExecutorService backgroundThread() {
    return Executors.newSingleThreadScheduledExecutor(
        work -> {
          Thread thread = new Thread(work, "strata-background");
          thread.setDaemon(true);
          return thread;
        });
  }

  /** Opens and makes the files that a tier begins with; a {@link Trial} changes none. */
  @FunctionalInterface
  public interface PoolOpening {
    /** Opens a pool for writing, as {@link Pool#open} does. */
    Pool open(Path file, PoolType type, PoolOwner owner) throws IOException;

    default void create(PoolSpec pool) throws IOException {
      Pool.create(pool, ProgressListener.NONE);
    }

    /** Opens a log directory, and gives it an identity. */
    default LogDirectory claim(Path directory) throws IOException {
      return LogDirectory.claim(directory);
    }
  }
}
