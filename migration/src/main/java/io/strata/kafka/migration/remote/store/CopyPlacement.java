package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Finds the place of a new copy: in the fastest level that has space, and there in the directory
 * with the most. Directories in which copies fail come last.
 */
public final class CopyPlacement {

  private final List<StoreDirectory> directories;
  private final KnownSegments known;

  /** Frees space in a level by discarding copies that a lower level has too. */
  private volatile BiPredicate<Set<StoreDirectory>, Long> spaceMaker = (full, bytes) -> false;

  @GuardedBy("this")
  private final Map<StoreDirectory, Long> reserved = new HashMap<>();

  CopyPlacement(List<StoreDirectory> directories, KnownSegments known) {
    this.directories = directories;
    this.known = known;
  }

  /**
   * Has this ask for space.
   *
   * @param maker frees at least so many bytes in directories of a level, if it can; returns whether
   *     it has freed any
   */
  public void spaceMaker(BiPredicate<Set<StoreDirectory>, Long> maker) {
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
   * @param candidate which directories may be used
   * @throws StoreFullException if none has; the message names each directory
   * @throws StoreUnavailableException if none can be used
   */
  Reservation reserve(long bytes, Predicate<StoreDirectory> candidate)
      throws StoreFullException, StoreUnavailableException, InterruptedException {
    return reserve(bytes, candidate, spaceMaker);
  }

  private Reservation reserve(
      long bytes, Predicate<StoreDirectory> candidate, BiPredicate<Set<StoreDirectory>, Long> maker)
      throws StoreFullException, StoreUnavailableException, InterruptedException {
    // They are in the order of their levels; those in which copies fail come last.
    Map<Boolean, Map<Integer, List<StoreDirectory>>> levels =
        directories.stream()
            .filter(candidate)
            .collect(
                Collectors.partitioningBy(
                    directory -> directory.copies.reason().isPresent(),
                    Collectors.groupingBy(
                        StoreDirectory::level, LinkedHashMap::new, Collectors.toList())));
    boolean usable = false;
    List<String> reasons = new ArrayList<>();
    for (boolean failing : List.of(false, true)) {
      for (List<StoreDirectory> level : levels.getOrDefault(failing, Map.of()).values()) {
        List<String> why = new ArrayList<>();
        Map<StoreDirectory, Long> free = free(level, why);
        Optional<Reservation> found = choose(free, bytes, why);
        // The space that is freed may not be enough at once: the level may be above its capacity,
        // and copies and moves under way hold space.
        while (found.isEmpty() && !free.isEmpty() && maker.test(Set.copyOf(free.keySet()), bytes)) {
          why.clear();
          free = free(level, why);
          found = choose(free, bytes, why);
        }
        if (found.isPresent()) {
          return found.get();
        }
        usable |= !free.isEmpty();
        reasons.addAll(why);
      }
    }
    String why = String.join("; ", reasons);
    if (!usable) {
      throw new StoreUnavailableException("no directory of the remote store can be used: " + why);
    }
    throw new StoreFullException(
        """
        no space for %d bytes in the remote store: %s. Add a directory or a level, raise a \
        capacity, or shorten retention.ms\
        """
            .formatted(bytes, why));
  }

  /**
   * Finds space, as {@link #reserve} does; empty if there is none.
   *
   * @param evicts whether copies that a lower level has too may be discarded for it
   */
  Optional<Reservation> reserveIn(Predicate<StoreDirectory> candidate, long bytes, boolean evicts)
      throws InterruptedException {
    try {
      return Optional.of(reserve(bytes, candidate, evicts ? spaceMaker : (full, wanted) -> false));
    } catch (StoreFullException | StoreUnavailableException e) {
      return Optional.empty();
    }
  }

  /** Asks without the lock: a file system may hang. */
  private Map<StoreDirectory, Long> free(List<StoreDirectory> level, List<String> reasons)
      throws InterruptedException {
    Map<StoreDirectory, Long> free = new LinkedHashMap<>();
    for (StoreDirectory directory : level) {
      try {
        directory.checkWritable();
        free.put(
            directory, directory.read("measuring " + directory, control -> freeBytes(directory)));
      } catch (IOException e) {
        reasons.add(directory + " cannot be used (" + e.getMessage() + ")");
      }
    }
    return free;
  }

  private synchronized void hold(StoreDirectory directory, long bytes) {
    Long unused = reserved.merge(directory, bytes, Long::sum);
  }

  private long freeBytes(StoreDirectory directory) throws IOException {
    directory.checkAvailable();
    return directory.freeBytes(known.usedBytes(directory));
  }

  private synchronized Optional<Reservation> choose(
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
    return best;
  }

  /** No level of the store has space: the message says why of each. It may have later. */
  public static final class StoreFullException extends IOException {
    private static final long serialVersionUID = 1L;

    public StoreFullException(String message) {
      super(message);
    }
  }
}
