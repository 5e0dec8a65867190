package io.strata.kafka.migration.remote;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts bytes by level.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class LevelMeters {

  private final int levels;
  private final AtomicLongArray copied;
  private final AtomicLongArray fetched;
  private final AtomicLongArray deleted;

  /**
   * Of a store.
   *
   * @param levels how many levels it has of its own; one more is counted, for the cold manager
   */
  LevelMeters(int levels) {
    this.levels = levels;
    copied = new AtomicLongArray(levels + 1);
    fetched = new AtomicLongArray(levels + 1);
    deleted = new AtomicLongArray(levels + 1);
  }

  /** The number of the cold manager's level. */
  int cold() {
    return levels;
  }

  void copied(int level, long bytes) {
    long unused = copied.addAndGet(level, bytes);
  }

  void fetched(int level, long bytes) {
    long unused = fetched.addAndGet(level, bytes);
  }

  void deleted(int level, long bytes) {
    long unused = deleted.addAndGet(level, bytes);
  }

  long copiedBytes(int level) {
    return copied.get(level);
  }

  long fetchedBytes(int level) {
    return fetched.get(level);
  }

  long deletedBytes(int level) {
    return deleted.get(level);
  }
}
