package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.plan.MoveControl;
import io.strata.kafka.migration.plan.MoveResult;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreStage;
import io.strata.kafka.migration.remote.store.disk.WorkProgress;
import io.strata.kafka.migration.remote.store.layout.ObjectType;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The level that another manager has. It gets a segment from the copy in a directory, beside which
 * that is noted first: a deletion from then on reaches the manager too. Its copy is read back
 * before it counts.
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
  public MoveResult receive(KnownSegment entry, WorkProgress progress, MoveControl control)
      throws IOException, InterruptedException {
    Optional<Located> found = store.lookup.best(entry);
    if (found.isEmpty() || !found.get().hasLog()) {
      return MoveResult.cancelled("it is not in the store any more");
    }
    Located source = found.get();
    BytePace pace = ObjectFiles.pace(progress.control(control));
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
    Path mark = cold.begin(source.path(), store.options.brokerId());
    // The only trace of the cold copy; a killed process may have published it, and not durably.
    source.directory().force(source.key());
    if (!CopyMarks.isStaying(source.path(), store.publishing.trashName())) {
      // A deletion that has not seen the mark has made its own before.
      return Optional.of("it is being deleted");
    }
    store.reached(StoreStage.COLD_MARKED);
    Optional<byte[]> custom = progress.waitFor(() -> cold.copy(source));
    store.reached(StoreStage.COLD_COPIED);
    if (!FileStatus.isThere(mark)) {
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
