package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where a new copy goes: to the fastest level that has space, and there to the directory with the
 * most.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class CopyPlacement {

  private final List<StoreDirectory> directories;
  private final KnownSegments known;

  /** Frees space in a level by discarding copies that a lower level has, too. */
  private volatile SpaceMaker spaceMaker = (level, bytes) -> false;

  @GuardedBy("this")
  private final Map<StoreDirectory, Long> reserved = new HashMap<>();

  CopyPlacement(List<StoreDirectory> directories, KnownSegments known) {
    this.directories = directories;
    this.known = known;
  }

  /** Discards copies to free space. */
  @FunctionalInterface
  interface SpaceMaker {
    /**
     * Frees at least so many bytes in one directory of a level, if it can.
     *
     * @return whether something was freed
     */
    boolean makeSpace(int level, long bytes);
  }

  void spaceMaker(SpaceMaker maker) {
    spaceMaker = maker;
  }

  /** Space that is held for a copy until this is closed. */
  final class Reservation implements AutoCloseable {
    private final StoreDirectory directory;
    private final long bytes;

    private Reservation(StoreDirectory directory, long bytes) {
      this.directory = directory;
      this.bytes = bytes;
    }

    StoreDirectory directory() {
      return directory;
    }

    @Override
    public void close() {
      giveBack(directory, bytes);
    }
  }

  /**
   * Finds space in the fastest level that has it.
   *
   * @throws StoreFullException if none has; the message tells of each directory
   * @throws StoreUnavailableException if none can be used
   */
  Reservation reserve(long bytes) throws IOException, InterruptedException {
    List<String> reasons = new ArrayList<>();
    int usable = 0;
    int levels = directories.isEmpty() ? 0 : directories.get(directories.size() - 1).level() + 1;
    for (int level = 0; level < levels; level++) {
      Attempt attempt = tryLevel(level, bytes);
      if (attempt.reservation.isEmpty()
          && attempt.usable > 0
          && spaceMaker.makeSpace(level, bytes)) {
        attempt = tryLevel(level, bytes);
      }
      if (attempt.reservation.isPresent()) {
        return attempt.reservation.get();
      }
      usable += attempt.usable;
      reasons.addAll(attempt.reasons);
    }
    String message =
        "no space for " + bytes + " bytes in the remote store: " + String.join("; ", reasons);
    if (usable == 0) {
      throw new StoreUnavailableException(message);
    }
    throw new StoreFullException(
        message + ". Add a directory or a level, raise a capacity, or shorten retention.ms");
  }

  /**
   * Finds space in one level.
   *
   * @return empty if it has none
   */
  Optional<Reservation> reserveIn(int level, long bytes) throws InterruptedException {
    Attempt attempt = tryLevel(level, bytes);
    if (attempt.reservation.isEmpty() && spaceMaker.makeSpace(level, bytes)) {
      attempt = tryLevel(level, bytes);
    }
    return attempt.reservation;
  }

  private record Attempt(Optional<Reservation> reservation, int usable, List<String> reasons) {}

  private Attempt tryLevel(int level, long bytes) throws InterruptedException {
    List<String> reasons = new ArrayList<>();
    Map<StoreDirectory, Long> free = new LinkedHashMap<>();
    // Without the lock: a file system may hang.
    for (StoreDirectory directory : directories) {
      if (directory.level() == level) {
        try {
          directory.access().checkWritable();
          free.put(
              directory,
              directory.access().read("measuring " + directory, control -> freeBytes(directory)));
        } catch (IOException e) {
          reasons.add(directory + " cannot be used (" + e.getMessage() + ")");
        }
      }
    }
    return choose(free, bytes, reasons);
  }

  private synchronized void giveBack(StoreDirectory directory, long bytes) {
    Long unused = reserved.merge(directory, -bytes, Long::sum);
  }

  private long freeBytes(StoreDirectory directory) throws IOException {
    directory.checkAvailable();
    return directory.freeBytes(known.usedBytes(directory));
  }

  private synchronized Attempt choose(
      Map<StoreDirectory, Long> free, long bytes, List<String> reasons) {
    Optional<StoreDirectory> best = Optional.empty();
    long bestFree = bytes - 1;
    for (Map.Entry<StoreDirectory, Long> entry : free.entrySet()) {
      long left = Math.max(0, entry.getValue() - reserved.getOrDefault(entry.getKey(), 0L));
      reasons.add(entry.getKey() + " has " + left + " bytes free");
      if (left > bestFree) {
        best = Optional.of(entry.getKey());
        bestFree = left;
      }
    }
    return new Attempt(
        best.map(
            directory -> {
              Long unused = reserved.merge(directory, bytes, Long::sum);
              return new Reservation(directory, bytes);
            }),
        free.size(),
        reasons);
  }
}
