package io.strata.kafka.migration;

import io.strata.kafka.api.MigrationListener;
import io.strata.kafka.api.Move;

/**
 * Callbacks for what concerns the engine itself rather than a move: what an operator reads in the
 * log.
 *
 * <p>Thread safety: must be safe for use by several threads; called by the engine's, so it must
 * return quickly and throw nothing.
 */
public interface EngineEvents {

  /** Ignores everything. */
  EngineEvents NONE = new EngineEvents() {};

  /**
   * A round of planning failed, mostly since the policy threw: nothing moves until one succeeds.
   *
   * @param inARow how often, from 1; called each time
   */
  default void roundFailed(Throwable cause, long inARow) {}

  /** The first round that succeeded after some failed. */
  default void roundsSucceedAgain(long failed) {}

  /**
   * A move that the policy planned is not allowed, and was dropped. Called once in a round; the
   * number of all is in {@code MigrationStats}.
   */
  default void refused(Move move, String reason) {}

  /** A listener threw; what it threw is dropped. */
  default void listenerFailed(MigrationListener listener, Throwable cause) {}
}
