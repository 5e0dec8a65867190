package io.strata.kafka.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which directories have no rename that a power cut may undo. In a file system renames come in one
 * order with what is done to files; a pool is durable at once, and must not get ahead: a truncated
 * segment, or a new one with acknowledged records, beside segments that had been renamed away
 * before and are back after a power cut would be a log that never was.
 *
 * <p>Of a directory that has not been seen yet it is not known: the process before this one may
 * have been killed after a rename.
 *
 * <p>Kafka appends and truncates under a log's lock, so whoever renames has the directory forced in
 * the background at once ({@link HomeKeeper}); what comes next seldom finds something to wait for,
 * and all who wait for one directory share a force.
 *
 * <p>Thread safety: all methods may be called by any thread. A rename and what follows upon it are
 * Kafka's to order, by the log's lock.
 */
final class UnsyncedRenames {

  private final boolean needed;
  private final ConcurrentMap<Path, Renamed> directories = new ConcurrentHashMap<>();

  /** How many there have been; counted after the directories know. */
  private final AtomicLong renames = new AtomicLong();

  UnsyncedRenames(PoolSet pools) {
    // What a power cut empties cannot get ahead.
    this.needed =
        pools.all().stream().anyMatch(pool -> pool.memory().durability().survivesReboot());
  }

  /** One directory: how many renames it has seen, and how many of them are durable. */
  private static final class Renamed {
    private final Path path;
    private final AtomicLong renames = new AtomicLong();
    private final ReentrantLock forcing = new ReentrantLock();

    /** Below 0 as long as the directory has not been forced; written under the lock. */
    private volatile long durable = -1;

    /**
     * Why a force failed: the kernel says so once, and a second one that succeeds proves nothing.
     */
    @GuardedBy("forcing")
    private Optional<IOException> failure = Optional.empty();

    Renamed(Path path) {
      this.path = path;
    }

    void more() {
      long unused = renames.incrementAndGet();
    }

    /** Whoever waited for the lock finds that the one before has forced its renames, too. */
    void settle() throws IOException {
      long wanted = renames.get();
      if (durable >= wanted) {
        return;
      }
      forcing.lock();
      try {
        if (durable < wanted) {
          force();
        }
      } finally {
        forcing.unlock();
      }
    }

    @GuardedBy("forcing")
    private void force() throws IOException {
      if (failure.isPresent()) {
        IOException before = failure.get();
        throw new IOException(
            "%s: its renames could not be made durable, and are in doubt until the restart: %s"
                .formatted(path, before.getMessage()),
            before);
      }
      long now = renames.get();
      try {
        Directories.forceNearest(path);
      } catch (IOException e) {
        failure = Optional.of(e);
        throw e;
      }
      durable = now;
    }
  }

  /** A file or directory is about to be renamed, or has been. */
  void renamed(Path source, Path target) {
    if (needed) {
      directoriesOf(source, target).forEach(each -> known(each).more());
      directories.remove(source);
      directories.remove(target);
      long unused = renames.incrementAndGet();
    }
  }

  /** The directories that a rename changes, which are to be made durable ahead of need. */
  List<Path> directoriesOf(Path source, Path target) {
    if (!needed) {
      return List.of();
    }
    Path from = Directories.of(source);
    Path to = Directories.of(target);
    return from.equals(to) ? List.of(to) : List.of(from, to);
  }

  /**
   * Makes the renames in a segment's partition, and of that partition, durable. Costs next to
   * nothing when nothing has been renamed since the last call.
   */
  void settle(TieredSegment segment) throws IOException {
    long before = renames.get();
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

  /** Makes the renames in one directory durable. */
  void settleDirectory(Path directory) throws IOException {
    known(directory).settle();
  }

  private Renamed known(Path directory) {
    return directories.computeIfAbsent(directory, Renamed::new);
  }
}
