package io.strata.kafka.pool.words;

/**
 * When a pool was last used with a log directory, as the pool has it: in milliseconds since the
 * epoch, and later each time, whatever the clock says. Immutable.
 *
 * @param last the last moment that the log directory is known to have; 0 before the first
 * @param next the one that it is being given, or {@code last}; 0 if it is to have none any more
 */
public record PoolMoment(long last, long next) {

  /** Returns whether a log directory that has this moment, or 0 for none, is of the same one. */
  public boolean permits(long found) {
    return found == last || found == next;
  }

  /** Returns whether the log directory may have either of the two. */
  public boolean isPending() {
    return last != next;
  }
}
