package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which directories have no rename that a power cut may undo. In a file system renames come in one
 * order with what is done to files; a pool is durable at once, and must not get ahead: a truncated
 * segment, or a new one with acknowledged records, beside segments that had been renamed away
 * before and are back after a power cut would be a log that never was.
 *
 * <p>Of a directory that has not been seen yet it is not known: the process before this one may
 * have been killed after a rename.
 *
 * <p>Thread safety: all methods may be called by any thread. A rename and what follows upon it are
 * Kafka's to order, by the log's lock.
 */
final class UnsyncedRenames {

  private final boolean needed;

  /** Changed under its own lock, read by anyone. */
  private final Set<Path> settled = ConcurrentHashMap.newKeySet();

  /** How many there have been; changed under the lock of {@link #settled}. */
  private volatile long renames;

  UnsyncedRenames(PoolSet pools) {
    // What a power cut empties cannot get ahead.
    this.needed =
        pools.all().stream().anyMatch(pool -> pool.memory().durability().survivesReboot());
  }

  /** A file or directory is about to be renamed, or has been. */
  void renamed(Path source, Path target) {
    if (needed) {
      synchronized (settled) {
        renames++;
        for (Path each : List.of(source, target, Directories.of(source), Directories.of(target))) {
          settled.remove(each);
        }
      }
    }
  }

  /**
   * Makes the renames in a segment's partition, and of that partition, durable. Costs next to
   * nothing when nothing has been renamed since the last call.
   */
  void settle(TieredSegment segment) throws IOException {
    long before = renames;
    if (needed && segment.renamesSettled() != before) {
      settle(segment.home());
      segment.renamesSettled(before);
    }
  }

  /** As {@link #settle(TieredSegment)}, of one that is not there yet. */
  void settle(Path segment) throws IOException {
    if (needed) {
      Path partition = Directories.of(segment);
      settleDirectory(partition);
      settleDirectory(Directories.of(partition));
    }
  }

  private void settleDirectory(Path directory) throws IOException {
    if (settled.contains(directory)) {
      return;
    }
    long before = renames;
    Directories.forceNearest(directory);
    synchronized (settled) {
      if (renames == before) {
        // Else perhaps of something in it, while it was being forced.
        settled.add(directory);
      }
    }
  }
}
