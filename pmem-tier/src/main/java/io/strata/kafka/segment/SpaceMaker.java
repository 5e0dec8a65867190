package io.strata.kafka.segment;

import io.strata.kafka.pool.Pool;

/**
 * Frees space in a pool for an append that finds too little.
 *
 * <p>Called under the appending segment's writer lock: an implementation must not wait, neither for
 * a lock of another segment nor for I/O beyond the pool's own, and must throw nothing. Safe for use
 * by any number of threads.
 */
@FunctionalInterface
public interface SpaceMaker {

  /** Has nothing to give. */
  SpaceMaker NONE = (pool, wanted) -> {};

  /**
   * Frees at least {@code wanted} bytes, or as much as there is to free.
   *
   * @param wanted bytes that would be welcome in one piece
   */
  void makeSpace(Pool pool, long wanted);
}
