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
 * Finds the place of a new copy: in the fastest level that has space, and there in the directory
 * with the most.
 */
final class CopyPlacement {

  private final List<StoreDirectory> directories;
  private final KnownSegments known;

  /** Frees space in a level by discarding copies that a lower level has too. */
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
    /** Frees at least so many bytes in a level, if it can; returns whether it has freed any. */
    boolean makeSpace(int level, long bytes);
  }

  void spaceMaker(SpaceMaker maker) {
    spaceMaker = maker;
  }

  /** Space that is held for a copy until this is closed. */
  record Reservation(CopyPlacement owner, StoreDirectory directory, long bytes)
      implements AutoCloseable {
    @Override
    public void close() {
      owner.hold(directory, -bytes);
    }
  }

  /**
   * Finds space in the fastest level that has it.
   *
   * @throws StoreFullException if none has; the message names each directory
   * @throws StoreUnavailableException if none can be used
   */
  Reservation reserve(long bytes) throws IOException, InterruptedException {
    List<String> reasons = new ArrayList<>();
    int usable = 0;
    int levels = directories.isEmpty() ? 0 : directories.get(directories.size() - 1).level() + 1;
    for (int level = 0; level < levels; level++) {
      Attempt attempt = attempt(level, bytes);
      if (attempt.reservation.isPresent()) {
        return attempt.reservation.get();
      }
      usable += attempt.usable;
      reasons.addAll(attempt.reasons);
    }
    String why = String.join("; ", reasons);
    if (usable == 0) {
      throw new StoreUnavailableException("no directory of the remote store can be used: " + why);
    }
    throw new StoreFullException(
        """
        no space for %d bytes in the remote store: %s. Add a directory or a level, raise a \
        capacity, or shorten retention.ms\
        """
            .formatted(bytes, why));
  }

  /** Finds space in one level; empty if it has none. */
  Optional<Reservation> reserveIn(int level, long bytes) throws InterruptedException {
    return attempt(level, bytes).reservation;
  }

  private record Attempt(Optional<Reservation> reservation, int usable, List<String> reasons) {}

  private Attempt attempt(int level, long bytes) throws InterruptedException {
    Attempt first = choose(level, bytes);
    return first.reservation.isEmpty() && first.usable > 0 && spaceMaker.makeSpace(level, bytes)
        ? choose(level, bytes)
        : first;
  }

  private Attempt choose(int level, long bytes) throws InterruptedException {
    List<String> reasons = new ArrayList<>();
    Map<StoreDirectory, Long> free = new LinkedHashMap<>();
    // Without the lock: a file system may hang.
    for (StoreDirectory directory : directories) {
      if (directory.level() == level) {
        try {
          directory.access().checkWritable();
          free.put(
              directory, directory.read("measuring " + directory, control -> freeBytes(directory)));
        } catch (IOException e) {
          reasons.add(directory + " cannot be used (" + e.getMessage() + ")");
        }
      }
    }
    return choose(free, bytes, reasons);
  }

  private synchronized void hold(StoreDirectory directory, long bytes) {
    Long unused = reserved.merge(directory, bytes, Long::sum);
  }

  private long freeBytes(StoreDirectory directory) throws IOException {
    directory.checkAvailable();
    return directory.freeBytes(known.usedBytes(directory));
  }

  private synchronized Attempt choose(
      Map<StoreDirectory, Long> free, long bytes, List<String> reasons) {
    Optional<Reservation> best = Optional.empty();
    long bestFree = bytes - 1;
    for (Map.Entry<StoreDirectory, Long> entry : free.entrySet()) {
      long left = Math.max(0, entry.getValue() - reserved.getOrDefault(entry.getKey(), 0L));
      reasons.add(entry.getKey() + " has " + left + " bytes free");
      if (left > bestFree) {
        best = Optional.of(new Reservation(this, entry.getKey(), bytes));
        bestFree = left;
      }
    }
    best.ifPresent(found -> hold(found.directory(), bytes));
    return new Attempt(best, free.size(), reasons);
  }
}
