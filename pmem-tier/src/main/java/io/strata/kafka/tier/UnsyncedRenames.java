package io.strata.kafka.tier;

import io.strata.kafka.memory.Durability;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Directories with renames that a power cut may undo. In a file system these come in one order with
 * what is done to files; a pool is durable at once, and must not get ahead: a truncated segment, or
 * a new one with acknowledged records, beside segments that had been renamed away before and are
 * back after a power cut would be a log that never was.
 *
 * <p>Thread safety: all methods may be called by any thread. A rename and what follows upon it are
 * Kafka's to order, by the log's lock.
 */
final class UnsyncedRenames {

  private final boolean needed;
  private final Set<Path> directories = ConcurrentHashMap.newKeySet();

  UnsyncedRenames(PoolSet pools) {
    // What a power cut empties cannot get ahead.
    this.needed =
        pools.all().stream().anyMatch(pool -> pool.memory().durability() != Durability.PROCESS);
  }

  /** A file or directory is about to be renamed. */
  void renamed(Path source, Path target) {
    if (needed) {
      directories.add(Directories.of(source));
      directories.add(Directories.of(target));
    }
  }

  /** Makes the renames in a segment's partition, and of that partition, durable. */
  void settle(Path segment) throws IOException {
    Path partition = Directories.of(segment);
    settleDirectory(partition);
    settleDirectory(Directories.of(partition));
  }

  private void settleDirectory(Path directory) throws IOException {
    if (!directories.remove(directory)) {
      return;
    }
    boolean done = false;
    try {
      Directories.forceNearest(directory);
      done = true;
    } finally {
      if (!done) {
        directories.add(directory);
      }
    }
  }
}
