package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Confirms moves between directories, or takes their copies back. A deletion that comes between a
 * move's publication and this (perhaps by another broker) has removed the first copy, or finds the
 * second one: so that nothing that Kafka has deleted stays behind, or comes back.
 */
record MoveConfirmation(SegmentStore store) {

  /**
   * Takes the mark off a copy if the first one is there, and else removes the copy, unless another
   * thread or broker has confirmed it meanwhile: a move may hang for long before this. A deletion
   * renames a whole directory: a first copy that has lost its manifest was not deleted.
   *
   * @param first the directory of the first copy; empty if no directory has it any more
   * @return whether the copy stays
   */
  boolean confirm(Optional<StoreDirectory> first, StoreDirectory target, SegmentKey key)
      throws IOException {
    Path segment = target.segment(key);
    if (first.isEmpty() || !isIn(first.get(), key)) {
      // After the look for the first copy: if another has confirmed this one, and evicted the first
      // one, this one has no mark any more, and is the only one.
      if (CopyMarks.isMoving(segment)) {
        store.publishing.discard(target, key);
        return false;
      }
      return Disk.isThere(segment);
    }
    if (!Files.deleteIfExists(segment.resolve(StoreNames.MOVING))) {
      // Another has confirmed it, or a deletion has found it.
      return Disk.isThere(segment);
    }
    Disk.forceDirectory(segment);
    return true;
  }

  /**
   * Ends the moves that a crash has left unconfirmed: a copy whose first one is there is confirmed,
   * another is removed, as a deletion would have. A segment that cannot be looked at is left as it
   * is.
   *
   * @return what could not be looked at: a message each
   */
  List<String> settle() throws InterruptedException {
    List<String> problems = new ArrayList<>();
    for (KnownSegment entry : store.known.entries()) {
      for (StoredCopy copy : entry.copies()) {
        if (copy.moving() && !isMoving(entry)) {
          try {
            copy.directory()
                .brief(
                    "settling %s in %s".formatted(entry.key(), copy.directory()),
                    control -> settle(entry.key(), copy.directory()));
          } catch (IOException e) {
            problems.add(entry.key() + ": " + e.getMessage());
          }
        }
      }
    }
    return problems;
  }

  private boolean isMoving(KnownSegment entry) {
    WorkProgress move = store.inMotion.get(entry.key().id());
    return move != null && move.isUnderWay();
  }

  /** Returns whether the copy stays. */
  private boolean settle(SegmentKey key, StoreDirectory target)
      throws IOException, InterruptedException {
    Optional<StoreDirectory> first = Optional.empty();
    for (StoreDirectory directory : store.directories()) {
      // One that cannot be used may have the first copy: then it is not known yet.
      if (!directory.equals(target)
          && directory.read(
              "looking for %s in %s".formatted(key, directory), control -> isIn(directory, key))) {
        first = first.or(() -> Optional.of(directory));
      }
    }
    // After the look for the first copy: if that was evicted meanwhile, this one had been
    // confirmed before, and is the only one.
    Path mark = target.segment(key).resolve(StoreNames.MOVING);
    boolean unconfirmed = Disk.isThere(mark);
    if (unconfirmed && first.isEmpty() && isFromUnknown(mark)) {
      // Its disk was lost, say: whether Kafka has deleted the segment is not known. It can be read.
      boolean unused = Files.deleteIfExists(mark);
      Disk.forceDirectory(Disk.parent(mark));
      unconfirmed = false;
    }
    boolean stays = !unconfirmed || confirm(first, target, key);
    if (stays) {
      store.known.change(key.id(), target, StoredCopy::confirmed);
    } else {
      store.known.remove(key.id(), target);
    }
    return stays;
  }

  /** Returns whether a move came from a directory that is not configured any more. */
  private boolean isFromUnknown(Path mark) throws IOException {
    String source = Files.readString(mark);
    return store.directories().stream()
        .noneMatch(directory -> directory.identity().directoryId().equals(source));
  }

  /** Returns whether a directory has a copy of a segment, whatever has become of its files. */
  private static boolean isIn(StoreDirectory directory, SegmentKey key) throws IOException {
    if (Disk.isThere(directory.segment(key))) {
      return true;
    }
    directory.checkAvailable();
    return false;
  }
}
