package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.store.disk.StoreDirectory;

/**
 * One copy of a segment: a directory of the store that has it.
 *
 * @param directory which
 * @param hasLog whether the segment's bytes are there; without them the cold manager has them
 * @param cold whether the cold manager has the bytes too
 * @param moving whether it was published by a move that is not confirmed yet
 * @param damaged whether a file of it was found not to be what its manifest says
 */
public record StoredCopy(
    StoreDirectory directory, boolean hasLog, boolean cold, boolean moving, boolean damaged) {

  /** A copy that has all files, and nothing else is to be said of. */
  public static StoredCopy whole(StoreDirectory directory) {
    return new StoredCopy(directory, true, false, false, false);
  }

  public StoredCopy withLog(boolean now) {
    return new StoredCopy(directory, now, cold, moving, damaged);
  }

  public StoredCopy withCold() {
    return new StoredCopy(directory, hasLog, true, moving, damaged);
  }

  public StoredCopy confirmed() {
    return new StoredCopy(directory, hasLog, cold, false, damaged);
  }

  public StoredCopy withDamage(boolean now) {
    return new StoredCopy(directory, hasLog, cold, moving, now);
  }
}
