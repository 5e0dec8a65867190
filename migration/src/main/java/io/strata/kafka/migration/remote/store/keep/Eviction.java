package io.strata.kafka.migration.remote.store.keep;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.remote.store.KnownSegment;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Evicts one of two copies of a segment. Every byte of the other one is read first. The copy that
 * goes is then marked ({@code going}), the other one is looked at once more (a mark on it that a
 * dead process has left is taken off, and does not count), and only then is the copy renamed into
 * the trash, from where nothing comes back: a deletion finds each copy under its name until it is
 * gone, and of two brokers that both think that they move, and evict one copy each, one sees the
 * other's mark.
 */
record Eviction(SegmentStore store) {

  /**
   * Evicts the fastest copy that has the bytes.
   *
   * @throws IOException if the other copies cannot be looked at; the copy stays
   */
  MoveResult evict(KnownSegment entry, BytePace pace) throws IOException, InterruptedException {
    Optional<StoredCopy> upper =
        entry.copies().stream().filter(c -> c.hasLog() && !c.moving()).findFirst();
    if (upper.isEmpty()) {
      return MoveResult.cancelled("no copy of it has its bytes");
    }
    for (StoredCopy other : entry.copies()) {
      if (stays(entry, upper.get(), other) && isRight(entry, upper.get(), other, pace)) {
        return evict(entry, upper.get(), other);
      }
    }
    return MoveResult.cancelled("no other copy of it was found that is whole");
  }

  private MoveResult evict(KnownSegment entry, StoredCopy upper, StoredCopy other)
      throws IOException {
    SegmentKey key = entry.key();
    Path directory = upper.directory().segment(key);
    try {
      CopyMarks.going(directory);
    } catch (NoSuchFileException e) {
      upper.directory().checkAvailable();
      store.known.remove(key.id(), upper.directory());
      return MoveResult.cancelled("it was deleted meanwhile");
    }
    store.reached(StoreStage.EVICT_MARKED);
    boolean gone = false;
    try {
      if (!stays(entry, upper, other) || !isForced(other, key)) {
        return MoveResult.cancelled("the other copy of it is not there any more");
      }
      if (store.cold.isMarked(directory)) {
        return dropLog(entry, upper, directory);
      }
      Optional<Path> trashed = store.publishing.trash(upper.directory(), key);
      gone = true;
      store.reached(StoreStage.EVICT_TRASHED);
      trashed.ifPresent(store.publishing::remove);
    } finally {
      if (!gone) {
        CopyMarks.notGoing(directory);
      }
    }
    store.known.remove(key.id(), upper.directory());
    upper.directory().removeEmptyParents(key);
    return MoveResult.done(entry.diskBytes());
  }

  /**
   * Removes the log alone: only by the mark beside it does a deletion find what the cold manager
   * has, or may have in part.
   */
  private MoveResult dropLog(KnownSegment entry, StoredCopy upper, Path directory)
      throws IOException {
    try {
      // For a scrub; where it cannot be noted, on a full device say, that will ask for the log.
      Path unused = Files.createFile(directory.resolve(StoreNames.WITHOUT_LOG));
      Disk.forceDirectory(directory);
    } catch (IOException e) {
      // It is there already, or the segment was deleted just now, or a scrub will say too much.
    }
    boolean unused = Files.deleteIfExists(directory.resolve(ObjectType.LOG.fileName(entry.key())));
    store.reached(StoreStage.COLD_DROPPED);
    store.known.change(entry.key().id(), upper.directory(), copy -> copy.withLog(false));
    return MoveResult.done(entry.segment().bytes());
  }

  /**
   * Returns whether a copy is there, has the bytes, here or with the cold manager, and is not about
   * to go.
   */
  private boolean stays(KnownSegment entry, StoredCopy upper, StoredCopy copy) throws IOException {
    Path directory = copy.directory().segment(entry.key());
    if (copy.equals(upper)) {
      return hasCold(copy, directory);
    }
    copy.directory().checkInUse();
    return !CopyMarks.isMoving(directory)
        && !CopyMarks.isDamaged(directory)
        && CopyMarks.isStaying(directory, store.publishing.trashName())
        && (FileStatus.isThere(directory.resolve(ObjectType.LOG.fileName(entry.key())))
            || hasCold(copy, directory));
  }

  private boolean hasCold(StoredCopy copy, Path directory) throws IOException {
    return copy.cold() && store.cold.has(directory);
  }

  /**
   * Reads a copy; the log that the cold manager has was read when the manager got it, and the other
   * files are in the copy alone.
   */
  private boolean isRight(KnownSegment entry, StoredCopy upper, StoredCopy copy, BytePace pace)
      throws IOException, InterruptedException {
    if (copy.equals(upper)) {
      return true;
    }
    Optional<SegmentStore.Located> located;
    try {
      located = store.lookup.lookIn(copy.directory(), entry.key());
    } catch (CorruptManifestException e) {
      store.lookup.noteDamage(copy.directory(), entry.key(), e);
      return false;
    }
    if (located.isEmpty() || (!located.get().hasLog() && !hasCold(copy, located.get().path()))) {
      return false;
    }
    try {
      Optional<String> wrong = store.files.wrong(located.get(), pace);
      wrong.ifPresent(what -> store.lookup.damaged(copy.directory(), entry.key(), what));
      return wrong.isEmpty();
    } catch (NoSuchFileException e) {
      if (FileStatus.isThere(located.get().path())) {
        store.lookup.damaged(copy.directory(), entry.key(), e.getFile() + ": is missing");
      }
      return false; // Else it was deleted just now.
    }
  }

  /**
   * Makes the other copy durable: the process that published or confirmed it may have been killed
   * before that was, and a power cut would bring its mark back.
   */
  private static boolean isForced(StoredCopy copy, SegmentKey key) throws IOException {
    try {
      copy.directory().force(key);
      return true;
    } catch (NoSuchFileException e) {
      return false; // Deleted just now.
    }
  }
}
