package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.CopyPublishing;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Confirms moves between directories, or takes their copies back. A deletion that comes between a
 * move's publication and this (perhaps by another broker) has removed the first copy, or finds the
 * second one: so that nothing that Kafka has deleted stays behind, or comes back.
 *
 * <p>Only the move itself takes its copy back. A copy that it left unconfirmed, since its process
 * died or the first copy's directory was away, stays: that directory may have been put back from a
 * backup that is older than the segment, and then this copy is the only one.
 */
public record MoveConfirmation(SegmentStore store) {

  /**
   * Takes the mark off a copy if the first one is there, and else removes the copy, unless another
   * thread or broker has confirmed it meanwhile: a move may hang for long before this. A deletion
   * renames a whole directory: a first copy that has lost its manifest was not deleted.
   *
   * @param first the directory of the first copy
   * @param home its {@link CopyPublishing#identity} when that copy was read: that it is missing in
   *     another one proves no deletion
   * @return whether the copy stays
   */
  boolean confirm(StoreDirectory first, Object home, StoreDirectory target, SegmentKey key)
      throws IOException {
    if (!FileStatus.isThere(first.segment(key))) {
      first.checkAvailable();
      // After the look for the first copy: if another has confirmed this one, and evicted the first
      // one, this one has no mark any more, and is the only one.
      if (CopyPublishing.identity(first.path()).equals(home)
          && CopyMarks.isMoving(target.segment(key))) {
        store.publishing.discard(target, key);
        return false;
      }
    }
    return keep(target.segment(key));
  }

  /** Takes the mark off a copy; returns whether it is there. */
  private static boolean keep(Path segment) throws IOException {
    if (!Files.deleteIfExists(segment.resolve(StoreNames.MOVING))) {
      // Another has confirmed it, or a deletion has found it.
      return FileStatus.isThere(segment);
    }
    Disk.forceDirectory(segment);
    return true;
  }

  /**
   * Confirms the copies that moves have left unconfirmed. A segment that cannot be looked at is
   * left as it is.
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
    return problems;
  }

  /** Returns whether the copy is there. */
  private boolean settle(SegmentKey key, StoreDirectory target) throws IOException {
    boolean stays = keep(target.segment(key));
    if (stays) {
      store.known.change(key.id(), target, StoredCopy::confirmed);
    } else {
      target.checkAvailable(); // It may be away, and the copy with it.
      store.known.remove(key.id(), target);
    }
    return stays;
  }
}
