package io.strata.kafka.migration.remote.store;

import static java.util.Objects.requireNonNull;

/**
 * One copy of a segment: a directory of the store that has it.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param directory which
 * @param hasLog whether the segment's bytes are there; without them the cold manager has them
 * @param cold whether the cold manager has the bytes, too
 * @param moving whether it was published by a move that is not confirmed yet
 */
public record StoredCopy(StoreDirectory directory, boolean hasLog, boolean cold, boolean moving) {

  /** Checks that nothing is null. */
  public StoredCopy {
    requireNonNull(directory);
  }
}
