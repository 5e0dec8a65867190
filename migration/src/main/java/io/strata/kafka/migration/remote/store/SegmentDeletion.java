package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.calls.Deadlines;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreStage;
import io.strata.kafka.migration.remote.store.disk.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/** Deletes segments from all directories, and has the cold manager delete what it has of them. */
record SegmentDeletion(SegmentStore store) {

  /** As {@link SegmentStore#delete}. */
  Map<StoreDirectory, Long> delete(SegmentInfo segment) throws IOException, InterruptedException {
    store.reached(StoreStage.DELETE_STARTED);
    Set<StoreDirectory> removed = new HashSet<>();
    Optional<KnownSegment> known = store.known.find(segment.key().id());
    try {
      removeAll(segment, removed);
      store.deletions.done(List.of(segment));
    } catch (InterruptedIOException | ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      if (!store.deletions.add(segment)) {
        throw e;
      }
    }
    return removed.stream()
        .collect(
            Collectors.toMap(d -> d, d -> known.flatMap(e -> e.in(d).map(e::bytesIn)).orElse(0L)));
  }

  /**
   * Does what was taken over, as far as that can be done now.
   *
   * @param calls make the deletions: one that hangs keeps no other from being tried
   * @param limit the longest that one of them may take
   * @param until asked before each: whether it is time for something else
   * @return what keeps the first of those that are left; empty if it is the time, or none is left
   */
  Optional<IOException> deletePending(Deadlines calls, Duration limit, BooleanSupplier until)
      throws InterruptedException {
    List<SegmentInfo> done = new ArrayList<>();
    Optional<IOException> problem = Optional.empty();
    for (SegmentInfo segment : store.deletions.due(store.clock().millis())) {
      if (until.getAsBoolean()) {
        break;
      }
      try {
        done.add(
            calls.call(
                "deleting %s, as noted".formatted(segment.key()),
                limit,
                control -> {
                  removeAll(segment, new HashSet<>());
                  return segment;
                }));
      } catch (IOException e) {
        store.deletions.failed(segment, store.clock().millis());
        problem = problem.isPresent() ? problem : Optional.of(e);
      }
    }
    store.deletions.done(done);
    return problem;
  }

  /**
   * Removes a segment wherever that can be done, again and again until no directory has it. A move
   * may publish where this has looked already: then it did so before its source was removed, and
   * the next pass finds it. A later move finds no source any more.
   *
   * @param removed gets the directories that had it
   * @throws IOException if a directory, or the cold manager, may have it still
   */
  private void removeAll(SegmentInfo segment, Set<StoreDirectory> removed)
      throws IOException, InterruptedException {
    boolean any = false;
    Optional<IOException> problem = Optional.empty();
    for (StoreDirectory directory : store.directories()) {
      try {
        checkNotInRemoval(directory.segment(segment.key()));
        // It is short, and stopped half-way it would leave its rest in the trash.
        Deadlines.Work<Boolean> removal = control -> removeAlone(directory, segment);
        if (directory.write(
            "removing %s from %s".formatted(segment.key(), directory), removal.uninterrupted())) {
          any = true;
          boolean unused = removed.add(directory);
        }
      } catch (IOException e) {
        problem = problem.isPresent() ? problem : Optional.of(e);
      }
    }
    if (problem.isPresent()) {
      throw problem.get();
    }
    if (any) {
      removeAll(segment, removed);
    }
  }

  /** Each attempt would leave one more thread that hangs. */
  private void checkNotInRemoval(Path place) throws IOException {
    if (store.inRemoval.contains(place)) {
      throw inRemoval(place);
    }
  }

  private static IOException inRemoval(Path place) {
    return new IOException(place + ": an earlier deletion has not come back");
  }

  private boolean removeAlone(StoreDirectory directory, SegmentInfo segment)
      throws IOException, InterruptedException {
    Path place = directory.segment(segment.key());
    if (!store.inRemoval.add(place)) {
      throw inRemoval(place);
    }
    try {
      return remove(directory, segment);
    } finally {
      store.inRemoval.remove(place);
    }
  }

  private boolean remove(StoreDirectory directory, SegmentInfo segment)
      throws IOException, InterruptedException {
    SegmentKey key = segment.key();
    Path place = directory.segment(key);
    try {
      // Before the look for what the cold manager has: a copy to it that begins later sees this
      // mark, and one that began before is seen by its own.
      CopyMarks.going(place);
    } catch (IOException e) {
      // It is not there; or the disk is full or fails, and the deletion goes on as far as it can.
    }
    // Before the mark of it goes: a deletion that fails here is repeated.
    try {
      store.cold.deleteMarked(place, segment);
    } catch (StoreUnavailableException e) {
      throw new IOException(e.getMessage(), e); // The manager is not at hand: the directory is.
    }
    Optional<Path> trashed = store.publishing.trash(directory, key);
    store.known.remove(key.id(), directory);
    if (trashed.isPresent()) {
      store.reached(StoreStage.DELETE_TRASHED);
      store.publishing.remove(trashed.get());
      store.reached(StoreStage.DELETE_EMPTIED);
    }
    directory.removeEmptyParents(key);
    return trashed.isPresent();
  }
}
