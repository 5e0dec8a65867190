package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.CopyPublishing;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.SourceException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.disk.WorkProgress;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * One level of the store: directories, or another manager. Segments move from one level to another
 * by what the levels do, and a move does not ask which kind a level is. {@link ColdCopies} has what
 * a directory keeps of a segment that the other manager has.
 */
public interface Level {

  /** Returns whether it has a segment's bytes, as far as is known. Does no I/O. */
  boolean has(KnownSegment entry);

  /** Returns what the store may take there, as far as is known; 0 where it takes what comes. */
  long capacityBytes();

  /** Returns what the store takes there, as far as is known; 0 where it takes what comes. */
  long usedBytes();

  /**
   * Gets a segment's bytes from the other levels, which keep what they have.
   *
   * @throws io.strata.kafka.migration.CorruptSegmentException if they are not what the manifest
   *     says
   */
  MoveResult receive(KnownSegment entry, WorkProgress progress, BytePace pace)
      throws IOException, InterruptedException;

  /**
   * A level of directories. A copy from another level is published with a marker, {@code moving};
   * only when the first copy is seen to be there still is the marker removed ({@link
   * MoveConfirmation}).
   *
   * @param number from 0, the fastest
   */
  record DirectoryLevel(SegmentStore store, int number) implements Level {

    @Override
    public boolean has(KnownSegment entry) {
      return entry.copies().stream()
          .anyMatch(c -> c.directory().level() == number && c.hasLog() && !c.moving());
    }

    @Override
    public long capacityBytes() {
      return sum(StoreDirectory::capacityBytes);
    }

    @Override
    public long usedBytes() {
      return sum(store.known::usedBytes);
    }

    private long sum(ToLongFunction<StoreDirectory> bytes) {
      return store.directories().stream()
          .filter(directory -> directory.level() == number)
          .mapToLong(bytes)
          .sum();
    }

    @Override
    public MoveResult receive(KnownSegment entry, WorkProgress progress, BytePace pace)
        throws IOException, InterruptedException {
      for (StoredCopy copy : entry.copies()) {
        if (copy.directory().level() == number && !copy.moving()) {
          return copy.hasLog()
              ? MoveResult.cancelled("it is there already")
              : restore(entry, copy, progress, pace);
        }
      }
      Optional<Located> source = store.lookup.best(entry);
      if (source.isEmpty()) {
        return MoveResult.cancelled("it is not in the store any more");
      }
      Optional<CopyPlacement.Reservation> reserved =
          progress.waitFor(
              () ->
                  store.placement.reserveIn(
                      each -> each.level() == number, entry.diskBytes(), !isUp(entry)));
      if (reserved.isEmpty()) {
        return MoveResult.targetFull(
            "no directory of the level has " + entry.diskBytes() + " bytes");
      }
      try (CopyPlacement.Reservation space = reserved.get()) {
        StoreDirectory target = space.directory();
        return progress.onward(
            target,
            "copying %s to %s".formatted(entry.key(), target),
            unused -> copy(source.get(), target, pace));
      } catch (BytePace.CopyCancelledException e) {
        return MoveResult.cancelled("it was stopped");
      } catch (SourceException e) {
        if (!(e.failure() instanceof NoSuchFileException)) {
          throw e.failure();
        }
        source.get().directory().checkAvailable();
        store.lookup.forgetIfGone(source.get());
        return MoveResult.cancelled("it was deleted meanwhile");
      } catch (IOException e) {
        reserved.get().directory().copyFailed(entry.key(), e);
        throw e;
      }
    }

    /** A copy up takes free space alone: two segments must not take turns. */
    private boolean isUp(KnownSegment entry) {
      return entry.readable().filter(copy -> copy.directory().level() < number).isEmpty();
    }

    private MoveResult copy(Located source, StoreDirectory target, BytePace pace)
        throws IOException, InterruptedException {
      SegmentKey key = source.key();
      Manifest manifest = source.manifest();
      // Before it is read there: if it is gone later from the same directory, it was deleted.
      Object home =
          SourceException.reading(() -> CopyPublishing.identity(source.directory().path()));
      if (isInTheWay(target, key)) {
        return MoveResult.cancelled("it is there already");
      }
      Path staged = target.stage(store.publishing.owner(), key);
      boolean published = false;
      try {
        for (StoredObject object : manifest.objects()) {
          store.files.copy(source, object, staged.resolve(object.type().fileName(key)), pace);
        }
        Disk.write(staged.resolve(StoreNames.MANIFEST), ByteBuffer.wrap(manifest.print()));
        Path unused = Files.createFile(staged.resolve(StoreNames.MOVING));
        Disk.forceAll(staged, pace);
        store.reached(StoreStage.MOVE_STAGED);
        try {
          store.publishing.publishNew(target, staged, key);
        } catch (FileAlreadyExistsException e) {
          // Never replaced: it may be the only copy by now, and this one is not confirmed yet.
          return MoveResult.cancelled(
              isInTheWay(target, key) ? "it is there already" : "it was deleted meanwhile");
        }
        published = true;
        store.reached(StoreStage.MOVE_PUBLISHED);
        if (!new MoveConfirmation(store).confirm(source.directory(), home, target, key)) {
          return MoveResult.cancelled("it was deleted meanwhile");
        }
        store.reached(StoreStage.MOVE_CONFIRMED);
        store.known.put(manifest, StoredCopy.whole(target));
        target.copies.succeeded();
        return MoveResult.done(manifest.diskBytes());
      } finally {
        if (!published) {
          store.publishing.remove(staged);
        }
      }
    }

    /** Returns whether the target has a copy that the inventory did not know; it does then. */
    private boolean isInTheWay(StoreDirectory target, SegmentKey key) throws IOException {
      Optional<Located> there = store.lookup.lookIn(target, key);
      if (there.isPresent()) {
        KnownSegments known = store.known;
        known.put(there.get().manifest(), known.copyOnDisk(target, key, there.get().path()));
      }
      return there.isPresent();
    }

    /** Brings the log back into a directory of the level that has the rest. */
    private MoveResult restore(
        KnownSegment entry, StoredCopy copy, WorkProgress progress, BytePace pace)
        throws IOException, InterruptedException {
      long bytes = Manifest.diskBytes(entry.segment().bytes());
      Optional<CopyPlacement.Reservation> reserved =
          progress.waitFor(() -> store.placement.reserveIn(copy.directory()::equals, bytes, false));
      if (reserved.isEmpty()) {
        // The level's other directories may have space, for their own segments.
        return MoveResult.cancelled("%s has no %d bytes".formatted(copy.directory(), bytes));
      }
      try (CopyPlacement.Reservation space = reserved.get()) {
        return restoreIn(space.directory(), entry, pace);
      }
    }

    private MoveResult restoreIn(StoreDirectory directory, KnownSegment entry, BytePace pace)
        throws IOException, InterruptedException {
      Optional<Located> located = store.lookup.lookIn(directory, entry.key());
      Optional<Located> source = store.lookup.best(entry);
      if (located.isEmpty() || source.isEmpty()) {
        return MoveResult.cancelled("it is not in the store any more");
      }
      try {
        StoredObject log = located.get().manifest().log();
        Disk.replace(
            located.get().file(ObjectType.LOG),
            part -> store.files.copy(source.get(), log, part, pace));
      } catch (BytePace.CopyCancelledException e) {
        return MoveResult.cancelled("it was stopped");
      } catch (SourceException e) {
        throw e.failure();
      }
      try {
        boolean unused = Files.deleteIfExists(located.get().path().resolve(StoreNames.WITHOUT_LOG));
      } catch (IOException e) {
        // A scrub will say too little.
      }
      store.reached(StoreStage.COLD_RESTORED);
      store.known.change(entry.key().id(), directory, copy -> copy.withLog(true));
      return MoveResult.done(entry.segment().bytes());
    }
  }

  /**
   * The level that another manager has. It gets a segment from the copy in a directory, beside
   * which that is noted first: a deletion from then on reaches the manager too. Its copy is read
   * back before it counts.
   */
  record ColdLevel(SegmentStore store) implements Level {

    @Override
    public boolean has(KnownSegment entry) {
      return entry.cold();
    }

    @Override
    public long capacityBytes() {
      return 0;
    }

    @Override
    public long usedBytes() {
      return 0;
    }

    @Override
    public MoveResult receive(KnownSegment entry, WorkProgress progress, BytePace pace)
        throws IOException, InterruptedException {
      Optional<Located> found = store.lookup.best(entry);
      if (found.isEmpty() || !found.get().hasLog()) {
        return MoveResult.cancelled("it is not in the store any more");
      }
      Located source = found.get();
      Optional<String> stopped;
      try {
        stopped = isInTheWay(entry);
        if (stopped.isEmpty()) {
          checkHere(source, pace); // That may take its time.
          stopped = isInTheWay(entry);
        }
        if (stopped.isEmpty()) {
          stopped = copy(source, progress, pace);
        }
        if (stopped.isEmpty() || store.cold.has(source.path())) {
          store.known.change(entry.key().id(), source.directory(), StoredCopy::withCold);
        }
      } catch (BytePace.CopyCancelledException e) {
        return MoveResult.cancelled("it was stopped");
      } catch (NoSuchFileException e) {
        store.lookup.forgetIfGone(source);
        return MoveResult.cancelled("it was deleted meanwhile");
      }
      return stopped.map(MoveResult::cancelled).orElseGet(() -> MoveResult.done(entry.diskBytes()));
    }

    /** Asks the marks of all copies: the copy under way may be from another one. */
    private Optional<String> isInTheWay(KnownSegment entry) throws IOException {
      for (StoredCopy copy : entry.copies()) {
        copy.directory().checkInUse();
        Optional<String> found =
            store.cold.isInTheWay(
                copy.directory().segment(entry.key()),
                store.options.brokerId(),
                store.publishing.owner());
        if (found.isPresent()) {
          return found;
        }
      }
      return Optional.empty();
    }

    /** Copies; returns why it was not done, empty if it was. */
    private Optional<String> copy(Located source, WorkProgress progress, BytePace pace)
        throws IOException, InterruptedException {
      ColdCopies cold = store.cold;
      Optional<String> stopped =
          cold.begin(source.path(), store.options.brokerId(), store.publishing.owner());
      if (stopped.isPresent()) {
        return stopped;
      }
      // The only trace of the cold copy; a killed process may have published it, and not durably.
      source.directory().force(source.key());
      if (!CopyMarks.isStaying(source.path(), store.publishing.trashName())) {
        // A deletion that has not seen the mark has made its own before.
        return Optional.of("it is being deleted");
      }
      store.reached(StoreStage.COLD_MARKED);
      Optional<byte[]> custom = progress.waitFor(() -> cold.copy(source));
      store.reached(StoreStage.COLD_COPIED);
      if (!cold.isMarked(source.path())) {
        cold.manager().orElseThrow().delete(source.manifest().segment(), custom);
        return Optional.of("it was deleted meanwhile");
      }
      store.files.readBack(source.manifest(), custom, pace);
      cold.done(source.path(), custom);
      store.reached(StoreStage.COLD_CONFIRMED);
      return Optional.empty();
    }

    /** Checks the log, and makes it as long as its manifest says if it has grown. */
    private void checkHere(Located source, BytePace pace) throws IOException, InterruptedException {
      StoredObject log = source.manifest().log();
      Path file = source.file(ObjectType.LOG);
      if (Files.size(file) > log.bytes()) {
        Disk.replace(file, part -> store.files.copy(source, log, part, pace));
        return;
      }
      String wrong = store.files.wrong(file, log, source.manifest(), pace);
      if (!wrong.isEmpty()) {
        throw new CorruptSegmentException(
            "%s: %s: it is damaged, and was not copied".formatted(file, wrong));
      }
    }
  }
}
