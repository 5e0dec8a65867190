package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreUnavailableException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds the place of a new copy: in the fastest level that has space, and there in the directory
 * with the most. Directories in which copies fail come last.
 */
public final class CopyPlacement {

  private final List<StoreDirectory> directories;
  private final KnownSegments known;

  /** Frees space in a level by discarding copies that a lower level has too. */
  private volatile SpaceMaker spaceMaker = (full, bytes) -> false;

  @GuardedBy("this")
  private final Map<StoreDirectory, Long> reserved = new HashMap<>();

  CopyPlacement(List<StoreDirectory> directories, KnownSegments known) {
    this.directories = directories;
    this.known = known;
  }

  /** Discards copies to free space. */
  @FunctionalInterface
  public interface SpaceMaker {
    /**
     * Frees at least so many bytes in directories of a level, if it can; returns whether it has
     * freed any.
     */
    boolean makeSpace(Set<StoreDirectory> directories, long bytes);
  }

  public void spaceMaker(SpaceMaker maker) {
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
   * Finds space in the fastest level that has it; in directories in which copies fail, only if no
   * other has.
   *
   * @param except directories that are not to be used
   * @throws StoreFullException if none has; the message names each directory
   * @throws StoreUnavailableException if none can be used
   */
  Reservation reserve(long bytes, Set<StoreDirectory> except)
      throws IOException, InterruptedException {
    List<StoreDirectory> candidates =
        directories.stream().filter(directory -> !except.contains(directory)).toList();
    Attempt attempt = attempt(candidates, bytes);
    if (attempt.reservation.isPresent()) {
      return attempt.reservation.get();
    }
    String why = String.join("; ", attempt.reasons);
    if (attempt.usable.isEmpty()) {
      throw new StoreUnavailableException("no directory of the remote store can be used: " + why);
    }
    throw new StoreFullException(
        """
        no space for %d bytes in the remote store: %s. Add a directory or a level, raise a \
        capacity, or shorten retention.ms\
        """
            .formatted(bytes, why));
  }

  /** Finds space in one level, as {@link #reserve} does; empty if it has none. */
  Optional<Reservation> reserveIn(int level, long bytes) throws InterruptedException {
    List<StoreDirectory> candidates =
        directories.stream().filter(directory -> directory.level() == level).toList();
    return attempt(candidates, bytes).reservation;
  }

  /**
   * The result of a search.
   *
   * @param usable directories that were asked for their free space, and answered
   * @param reasons a sentence for each directory
   */
  private record Attempt(
      Optional<Reservation> reservation, Set<StoreDirectory> usable, List<String> reasons) {
    static Attempt none() {
      return new Attempt(Optional.empty(), new HashSet<>(), new ArrayList<>());
    }

    /** With what this one has found, if the other has no space. */
    Attempt orAfter(Attempt other) {
      usable.addAll(other.usable);
      reasons.addAll(other.reasons);
      return new Attempt(other.reservation, usable, reasons);
    }
  }

  private Attempt attempt(List<StoreDirectory> candidates, long bytes) throws InterruptedException {
    Set<StoreDirectory> failing =
        candidates.stream()
            .filter(directory -> directory.access().whyCopiesFail().isPresent())
            .collect(Collectors.toSet());
    Attempt found = Attempt.none();
    for (boolean last : List.of(false, true)) {
      // They are in the order of their levels.
      Map<Integer, List<StoreDirectory>> byLevel =
          candidates.stream()
              .filter(directory -> failing.contains(directory) == last)
              .collect(
                  Collectors.groupingBy(
                      StoreDirectory::level, LinkedHashMap::new, Collectors.toList()));
      for (List<StoreDirectory> ofLevel : byLevel.values()) {
        found = found.orAfter(attemptIn(ofLevel, bytes));
        if (found.reservation.isPresent()) {
          return found;
        }
      }
    }
    return found;
  }

  /**
   * Finds space in one of some directories of a level. The space that is freed may not be enough at
   * once: the level may be above its capacity, and copies and moves under way hold space.
   */
  private Attempt attemptIn(List<StoreDirectory> candidates, long bytes)
      throws InterruptedException {
    Attempt found = choose(candidates, bytes);
    while (found.reservation.isEmpty()
        && !found.usable.isEmpty()
        && spaceMaker.makeSpace(found.usable, bytes)) {
      found = choose(candidates, bytes);
    }
    return found;
  }

  private Attempt choose(List<StoreDirectory> candidates, long bytes) throws InterruptedException {
    List<String> reasons = new ArrayList<>();
    Map<StoreDirectory, Long> free = new LinkedHashMap<>();
    // Without the lock: a file system may hang.
    for (StoreDirectory directory : candidates) {
      try {
        directory.access().checkWritable();
        free.put(
            directory, directory.read("measuring " + directory, control -> freeBytes(directory)));
      } catch (IOException e) {
        reasons.add(directory + " cannot be used (" + e.getMessage() + ")");
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
    return new Attempt(best, new HashSet<>(free.keySet()), reasons);
  }
}
