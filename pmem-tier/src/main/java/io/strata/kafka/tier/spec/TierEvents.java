package io.strata.kafka.tier.spec;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import java.nio.file.Path;
import java.util.List;

/**
 * Events for a tier's operator, beside its report: each call is one thing that happened.
 *
 * <p>The tier itself writes no log, because it also runs where there is none (the command line). A
 * listener may be called by any thread, also on paths that an append waits for, and must return
 * quickly and throw nothing.
 */
public interface TierEvents {

  /** A listener that ignores everything. */
  TierEvents NONE = new TierEvents() {};

  /** A pool that was missing was created. */
  default void poolCreated(Path file, long bytes, PoolOwner owner) {}

  /** Missing pools were not created, though {@code strata.pool.create} is set, and why. */
  default void poolsNotCreated(List<Path> files, String reason) {}

  /** A pool has another size than {@code strata.pool.create} gives to a new one. */
  default void poolOfAnotherSize(Path file, long bytes, long configured) {}

  /** A pool was opened. */
  default void poolOpened(Pool pool) {}

  /** A log directory was skipped, and why; its segments in the pools are kept. */
  default void logDirectorySkipped(Path directory, String reason) {}

  /** Recovery has ended. */
  default void recovered(RecoveryReport report) {}

  /** A new segment went to the log file at once, because no pool has a free slot. */
  default void placementRefused(Path file) {}

  /**
   * An append of this segment found no space in the pool, for the first time: its tail is in the
   * log file.
   */
  default void spilled(Path file, long bytesInPool) {}

  /** Something in the background failed; what waits for it goes on, and most of it is retried. */
  default void backgroundFailure(String what, Exception cause) {}
}
