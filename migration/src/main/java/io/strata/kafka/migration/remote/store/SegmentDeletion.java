package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Deletes segments from all directories, and has the cold manager delete what it has of them.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class SegmentDeletion {

  private final StoreParts store;

  SegmentDeletion(StoreParts store) {
    this.store = store;
  }

  /** As {@link SegmentStore#delete(SegmentInfo, Optional)}. */
  Map<StoreDirectory, Long> delete(SegmentInfo segment, Optional<String> writtenTo)
      throws IOException, InterruptedException {
    store.reached(StoreStage.DELETE_STARTED);
    Set<StoreDirectory> removed = new HashSet<>();
    Optional<KnownSegment> known = store.census().find(segment.key().id());
    PendingDeletions.Deletion deletion = new PendingDeletions.Deletion(segment, writtenTo);
    Set<String> beyondReach = Set.of();
    try {
      removeAll(segment, removed);
      beyondReach = beyondReach(writtenTo);
      if (beyondReach.isEmpty()) {
        store.deletions().done(List.of(deletion));
      }
    } catch (InterruptedIOException | ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      if (!store.deletions().add(deletion)) {
        throw e;
      }
    }
    // Which directories the store has is for the operator to say: that is not taken over.
    checkNone(beyondReach, segment.key());
    return removed.stream()
        .collect(
            Collectors.toMap(d -> d, d -> known.flatMap(e -> e.in(d).map(e::bytesIn)).orElse(0L)));
  }

  /**
   * Does what was taken over, as far as that can be done now.
   *
   * @param until asked before each: whether it is time for something else
   * @return what keeps the first of those that are left; empty if it is the time, or none is left
   */
  Optional<IOException> deletePending(BooleanSupplier until) throws InterruptedException {
    List<PendingDeletions.Deletion> done = new ArrayList<>();
    Optional<IOException> problem = Optional.empty();
    for (PendingDeletions.Deletion deletion : store.deletions().due(store.clock().millis())) {
      if (until.getAsBoolean()) {
        break;
      }
      try {
        removeAll(deletion.segment(), new HashSet<>());
        checkNone(beyondReach(deletion.writtenTo()), deletion.segment().key());
        done.add(deletion);
      } catch (IOException e) {
        store.deletions().failed(deletion, store.clock().millis());
        problem = problem.isPresent() ? problem : Optional.of(e);
      }
    }
    store.deletions().done(done);
    return problem;
  }

  /**
   * Removes a segment wherever that can be done.
   *
   * @param removed gets the directories that had it
   * @throws IOException if a directory, or the cold manager, may have it still
   */
  private void removeAll(SegmentInfo segment, Set<StoreDirectory> removed)
      throws IOException, InterruptedException {
    // A move may publish where this has looked already: then it did so before its source was
    // removed, and the next pass finds it. What is published later finds no source any more.
    while (removeOnce(segment, removed)) {}
  }

  /** Returns whether a directory had it. */
  private boolean removeOnce(SegmentInfo segment, Set<StoreDirectory> removed)
      throws IOException, InterruptedException {
    boolean any = false;
    Optional<IOException> problem = Optional.empty();
    for (StoreDirectory directory : store.directories()) {
      if (directory.access().isLeft()) {
        continue;
      }
      try {
        if (directory
            .access()
            .write(
                "removing %s from %s".formatted(segment.key(), directory),
                control -> remove(directory, segment))) {
          any = true;
          boolean unused = removed.add(directory);
        }
      } catch (StoreUnavailableException e) {
        learnOfRetired();
        if (!store.lookup().isLeft(directory, e)) {
          problem = problem.isPresent() ? problem : Optional.of(e);
        }
      } catch (IOException e) {
        problem = problem.isPresent() ? problem : Optional.of(e);
      }
    }
    if (problem.isPresent()) {
      throw problem.get();
    }
    return any;
  }

  private boolean remove(StoreDirectory directory, SegmentInfo segment)
      throws IOException, InterruptedException {
    SegmentKey key = segment.key();
    Path place = directory.segment(key);
    markGoing(place);
    // Before the mark of it goes: a deletion that fails here is repeated.
    try {
      store.cold().deleteMarked(place, segment);
    } catch (StoreUnavailableException e) {
      throw new IOException(e.getMessage(), e); // The manager is not at hand: the directory is.
    }
    Optional<Path> trashed = directory.trash(key, store.publishing().trashName());
    store.census().remove(key.id(), directory);
    if (trashed.isPresent()) {
      store.reached(StoreStage.DELETE_TRASHED);
      Disk.removeTreeIfPossible(trashed.get());
      store.reached(StoreStage.DELETE_EMPTIED);
    }
    directory.removeEmptyParents(key);
    return trashed.isPresent();
  }

  /**
   * Before the look for what the cold manager has: a copy to it that begins later sees this mark,
   * and one that began before is seen by its own.
   */
  private static void markGoing(Path place) {
    try {
      CopyMarks.going(place);
    } catch (IOException e) {
      // It is not there; or the disk is full or fails, and the deletion goes on as far as it can.
      return;
    }
  }

  /** The directories that may have a segment, and that this broker is not configured with. */
  private Set<String> beyondReach(Optional<String> writtenTo)
      throws IOException, InterruptedException {
    StoreMembers.View view = StoreMembers.NONE;
    for (StoreDirectory directory : store.directories()) {
      if (!directory.access().isLeft()) {
        view = view.and(members(directory));
      }
    }
    Set<String> expected = new TreeSet<>(view.members());
    writtenTo.ifPresent(expected::add);
    expected.removeAll(view.retired());
    store.directories().forEach(directory -> expected.remove(directory.identity().directoryId()));
    return expected;
  }

  private void checkNone(Set<String> beyondReach, SegmentKey key) throws StoreUnavailableException {
    if (!beyondReach.isEmpty()) {
      throw new StoreUnavailableException(
          """
          %s: this broker is not configured with %s, which the store has or which the segment was \
          written to, and which may have it still: it was deleted in %s alone, and Kafka tries \
          again. Give rsm.config.levels and its directories the same values on all brokers. If \
          the directory is lost, or was taken out for good, say so: strata remote retire %s\
          """
              .formatted(
                  key,
                  String.join(", ", beyondReach),
                  store.directories(),
                  beyondReach.iterator().next()));
    }
  }

  private static StoreMembers.View members(StoreDirectory directory)
      throws IOException, InterruptedException {
    return directory
        .access()
        .read(
            "reading which directories %s knows".formatted(directory),
            control -> {
              StoreMembers.View view = StoreMembers.read(directory.path());
              if (view.members().isEmpty()) {
                directory.checkAvailable(); // Not there, or not written yet.
              }
              return view;
            });
  }

  /** Looks whether one that cannot be used was retired, wherever that can be read. */
  private void learnOfRetired() throws InterruptedException {
    for (StoreDirectory directory : store.directories()) {
      try {
        store.lookup().retired(members(directory).retired());
      } catch (IOException e) {
        // Another one says it, too.
      }
    }
  }
}
