package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Confirms moves between directories, or takes their copies back. A deletion that comes between a
 * move's publication and this (perhaps by another broker) has removed the first copy, or finds the
 * second one: so that nothing that Kafka has deleted stays behind, or comes back.
 *
 * <p>That the first copy is gone proves a deletion only if its directory has the move's note: it
 * may have been put back from a backup that is older than the segment. Without the note the copy
 * stays, as the only one.
 */
public record MoveConfirmation(SegmentStore store) {

  /** Longer than a move takes, and than a directory is not listed. */
  private static final Duration LEFT = Duration.ofDays(1);

  /**
   * Takes the mark off a copy if the first one is there, and else removes the copy, unless another
   * thread or broker has confirmed it meanwhile: a move may hang for long before this. A deletion
   * renames a whole directory: a first copy that has lost its manifest was not deleted.
   *
   * @param first the directory of the first copy; empty if no directory has it any more
   * @return whether the copy stays
   */
  boolean confirm(Optional<StoreDirectory> first, StoreDirectory target, SegmentKey key)
      throws IOException, InterruptedException {
    Path segment = target.segment(key);
    if (first.isEmpty() || !isIn(first.get(), key)) {
      // After the look for the first copy: if another has confirmed this one, and evicted the first
      // one, this one has no mark any more, and is the only one.
      Optional<Boolean> deleted = isDeleted(segment.resolve(StoreNames.MOVING), key);
      if (deleted.isEmpty()) {
        return FileStatus.isThere(segment);
      }
      if (deleted.get()) {
        store.publishing.discard(target, key);
        return false;
      }
    }
    if (!Files.deleteIfExists(segment.resolve(StoreNames.MOVING))) {
      // Another has confirmed it, or a deletion has found it.
      return FileStatus.isThere(segment);
    }
    Disk.forceDirectory(segment);
    return true;
  }

  /**
   * Returns whether a segment whose first copy is gone was deleted.
   *
   * @param mark of the second copy: names the first one's directory
   * @return empty if there is no mark any more
   */
  private Optional<Boolean> isDeleted(Path mark, SegmentKey key)
      throws IOException, InterruptedException {
    String source;
    try {
      source = Files.readString(mark);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
    for (StoreDirectory directory : store.directories()) {
      if (directory.identity().directoryId().equals(source)) {
        return Optional.of(
            directory.read(
                "looking in %s for the note of the move of %s".formatted(directory, key),
                control -> directory.hasNotedMove(key)));
      }
    }
    // It is not configured any more: its disk was lost, say. The copy can be read.
    return Optional.of(false);
  }

  /**
   * Ends the moves that a crash has left unconfirmed: a copy whose first one is there is confirmed,
   * another is removed, as a deletion would have. A segment that cannot be looked at is left as it
   * is.
   *
   * @return what could not be looked at: a message each
   */
  public List<String> settle() throws InterruptedException {
    List<String> problems = new ArrayList<>();
    for (KnownSegment entry : store.known.entries()) {
      for (StoredCopy copy : entry.copies()) {
        if (copy.moving() && !store.inMotion.containsKey(entry.key().id())) {
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
    if (problems.isEmpty()) {
      forgetEnded(problems);
    }
    return problems;
  }

  /** Removes notes that a crash has left, when no copy of their segments is unconfirmed. */
  private void forgetEnded(List<String> problems) throws InterruptedException {
    if (store.directories().stream().anyMatch(directory -> directory.isSuspended())) {
      return; // It may have such a copy.
    }
    for (StoreDirectory directory : store.directories()) {
      try {
        directory.brief(
            "looking for notes of moves in " + directory,
            control -> {
              for (String id : directory.notedMoves(LEFT, store.clock().millis())) {
                forgetEnded(directory, id);
              }
              return true;
            });
      } catch (IOException e) {
        problems.add(directory + ": " + e.getMessage());
      }
    }
  }

  private void forgetEnded(StoreDirectory directory, String id) {
    boolean confirmed =
        store.known.find(id).stream()
            .flatMap(known -> known.copies().stream())
            .noneMatch(StoredCopy::moving);
    if (confirmed && !store.inMotion.containsKey(id)) {
      directory.forgetMove(id);
    }
  }

  /** Returns whether the copy stays. */
  private boolean settle(SegmentKey key, StoreDirectory target)
      throws IOException, InterruptedException {
    Optional<StoreDirectory> first = Optional.empty();
    for (StoreDirectory directory : store.directories()) {
      // A directory that cannot be used may have the first copy: then it is not known yet.
      if (!directory.equals(target)
          && directory.read(
              "looking for %s in %s".formatted(key, directory), control -> isIn(directory, key))) {
        first = first.or(() -> Optional.of(directory));
      }
    }
    // After the look for the first copy: if that was evicted meanwhile, this one had been
    // confirmed before, and is the only one.
    boolean unconfirmed = CopyMarks.isMoving(target.segment(key));
    boolean stays = !unconfirmed || confirm(first, target, key);
    if (stays) {
      store.known.change(key.id(), target, StoredCopy::confirmed);
    } else {
      store.known.remove(key.id(), target);
    }
    return stays;
  }

  /** Returns whether a directory has a copy of a segment, whatever has become of its files. */
  private static boolean isIn(StoreDirectory directory, SegmentKey key) throws IOException {
    if (FileStatus.isThere(directory.segment(key))) {
      return true;
    }
    directory.checkAvailable();
    return false;
  }
}
