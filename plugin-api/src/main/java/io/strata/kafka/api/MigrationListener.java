package io.strata.kafka.api;

/**
 * Gets notice of what the engine does; found by {@link java.util.ServiceLoader} on the broker's
 * class path, each provider once.
 *
 * <p>Called by the engine's threads: must return quickly and throw nothing (what it throws is
 * logged and dropped). Thread safety: must be safe for use by several threads.
 */
public interface MigrationListener {

  /** A move begins. */
  default void started(Move move) {}

  /**
   * A move has been made: what it copied is durable where it went, and readers see it.
   *
   * @param bytes copied; for an eviction, freed
   * @param nanos how long it took, waiting for the rate limit included
   */
  default void finished(Move move, long bytes, long nanos) {}

  /**
   * A move was cancelled without a fault: the segment was deleted, renamed, truncated or appended
   * to, the target had no space, or the broker stops.
   *
   * @param reason one phrase
   */
  default void cancelled(Move move, String reason) {}

  /**
   * A move failed; the segment is where it was.
   *
   * @param attempt how often it has failed in a row, from 1
   * @param retryMillis when it is tried again, from now
   */
  default void failed(Move move, Exception cause, int attempt, long retryMillis) {}
}
