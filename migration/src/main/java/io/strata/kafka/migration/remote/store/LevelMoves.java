package io.strata.kafka.migration.remote.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.MoveControl;
import io.strata.kafka.migration.MoveResult;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Moves of segments between levels. A copy in another level is published with a marker, {@code
 * moving}, which names the first copy's directory; only when the first copy is seen to be there
 * still is the marker removed. A deletion that comes in between (perhaps by another broker) has
 * removed the first copy, or finds the second one: so that nothing that Kafka has deleted stays
 * behind, or comes back.
 *
 * <p>Thread safety: all methods may be called by any number of threads, for different segments.
 */
final class LevelMoves {

  /** What {@link MoveControl#beforeCopying} lets pass at once. */
  private static final int PIECE = 1 << 20;

  /** What a request to the cold manager is worth. */
  private static final int COLD_PIECE = 8 << 20;

  private final SegmentStore store;

  LevelMoves(SegmentStore store) {
    this.store = store;
  }

  private static BytePace pace(MoveControl control) {
    return bytes -> {
      for (int left = bytes; left > 0; left -= PIECE) {
        if (control.cancelled()) {
          throw new BytePace.CopyCancelledException("the move was cancelled");
        }
        control.beforeCopying(Math.min(left, PIECE));
      }
    };
  }

  /**
   * Copies a segment to another level of the store, up or down.
   *
   * @throws CorruptSegmentException if its bytes are not what its manifest says
   */
  MoveResult copy(KnownSegment entry, int toLevel, MoveControl control)
      throws IOException, InterruptedException {
    for (StoredCopy copy : entry.copies()) {
      if (copy.directory().level() == toLevel && !copy.moving()) {
        return copy.hasLog()
            ? MoveResult.cancelled("it is there already")
            : restore(entry, copy, control);
      }
    }
    Optional<SegmentStore.Located> source = source(entry);
    if (source.isEmpty()) {
      return MoveResult.cancelled("it is not in the store any more");
    }
    Optional<CopyPlacement.Reservation> reserved =
        store.placement().reserveIn(toLevel, entry.totalBytes());
    if (reserved.isEmpty()) {
      return MoveResult.noRoom("no directory of the level has " + entry.totalBytes() + " bytes");
    }
    try (CopyPlacement.Reservation room = reserved.get()) {
      StoreDirectory target = room.directory();
      return target
          .access()
          .write(
              "copying " + entry.key() + " to " + target,
              inTarget -> copy(source.get(), target, control));
    } catch (BytePace.CopyCancelledException e) {
      return MoveResult.cancelled("it was stopped");
    } catch (NoSuchFileException e) {
      source.get().directory().checkAvailable();
      forgetIfGone(entry, source.get());
      return MoveResult.cancelled("it was deleted meanwhile");
    }
  }

  /** The inventory is wrong about a copy that is gone. */
  private void forgetIfGone(KnownSegment entry, SegmentStore.Located source) throws IOException {
    if (!Disk.isThere(source.path())) {
      store.census().remove(entry.key().id(), source.directory());
    }
  }

  /**
   * The copy to read from, as it is on disk; one without the log if only the cold manager has it.
   */
  private Optional<SegmentStore.Located> source(KnownSegment entry) throws IOException {
    Optional<SegmentStore.Located> stub = Optional.empty();
    Optional<SegmentStore.Located> damaged = Optional.empty();
    for (StoredCopy copy : entry.copies()) {
      if (copy.moving()) {
        continue;
      }
      Optional<SegmentStore.Located> located = store.lookIn(copy.directory(), entry.key());
      if (located.isEmpty()) {
        store.census().remove(entry.key().id(), copy.directory());
      } else if (!located.get().hasLog()) {
        stub = store.betterStub(stub, located);
      } else if (!CopyMarks.isDamaged(located.get().path())) {
        return located;
      } else {
        damaged = damaged.isPresent() ? damaged : located;
      }
    }
    return damaged.isPresent() ? damaged : stub;
  }

  private MoveResult copy(SegmentStore.Located source, StoreDirectory target, MoveControl control)
      throws IOException, InterruptedException {
    SegmentKey key = source.manifest().segment().key();
    if (isInTheWay(target, key)) {
      return MoveResult.cancelled("it is there already");
    }
    Path staged = target.stage(store.owner(), key);
    boolean published = false;
    try {
      long bytes = copyObjects(source, staged, control);
      Disk.write(
          staged.resolve(StoreNames.MANIFEST),
          ByteBuffer.wrap(ManifestCodec.print(source.manifest())));
      Disk.write(
          staged.resolve(StoreNames.MOVING),
          UTF_8.encode(source.directory().identity().directoryId()));
      store.stages().reached(StoreStage.MOVE_STAGED);
      try {
        store.publishNew(target, staged, source.manifest());
      } catch (FileAlreadyExistsException e) {
        // Never replaced: it may be the only copy by now, and this one is not confirmed yet.
        return MoveResult.cancelled(
            isInTheWay(target, key) ? "it is there already" : "it was deleted meanwhile");
      }
      published = true;
      store.stages().reached(StoreStage.MOVE_PUBLISHED);
      if (!confirm(Optional.of(source.directory()), target, key)) {
        return MoveResult.cancelled("it was deleted meanwhile");
      }
      store.stages().reached(StoreStage.MOVE_CONFIRMED);
      store.census().put(source.manifest(), StoredCopy.whole(target));
      return MoveResult.done(bytes);
    } finally {
      if (!published) {
        Disk.removeTreeIfPossible(staged);
      }
    }
  }

  /** Whether the target has a copy that the inventory did not know; it does then. */
  private boolean isInTheWay(StoreDirectory target, SegmentKey key) throws IOException {
    Optional<SegmentStore.Located> there = store.lookIn(target, key);
    if (there.isPresent()) {
      store
          .census()
          .put(there.get().manifest(), store.census().copyOnDisk(target, key, there.get().path()));
    }
    return there.isPresent();
  }

  /**
   * Takes the mark off a copy if the first one is there, and else removes the copy. A deletion
   * renames a whole directory: a first copy that has lost its manifest was not deleted.
   *
   * @param first the directory of the first copy; empty if no directory has it any more
   */
  private boolean confirm(Optional<StoreDirectory> first, StoreDirectory target, SegmentKey key)
      throws IOException {
    if (first.isEmpty() || !isIn(first.get(), key)) {
      discard(target, key);
      return false;
    }
    Path directory = target.segment(key);
    boolean removed = Files.deleteIfExists(directory.resolve(StoreNames.MOVING));
    if (!removed) {
      return false; // A deletion has found the second copy.
    }
    Disk.forceDirectory(directory);
    return true;
  }

  private void discard(StoreDirectory directory, SegmentKey key) throws IOException {
    Optional<Path> trashed = directory.trash(key, store.trashName());
    trashed.ifPresent(Disk::removeTreeIfPossible);
    directory.removeEmptyParents(key);
  }

  private long copyObjects(SegmentStore.Located source, Path staged, MoveControl control)
      throws IOException, InterruptedException {
    Manifest manifest = source.manifest();
    SegmentKey key = manifest.segment().key();
    long bytes = 0;
    for (StoredObject object : manifest.objects()) {
      copyObject(source, object, staged.resolve(object.type().fileName(key)), pace(control));
      bytes += object.bytes();
    }
    return bytes;
  }

  private static void check(Path file, StoredObject object, long bytes, int checksum)
      throws CorruptSegmentException {
    if (bytes != object.bytes() || checksum != object.checksum()) {
      throw new CorruptSegmentException(
          file
              + ": found "
              + bytes
              + " bytes with checksum "
              + JsonFile.hex(checksum)
              + ", expected "
              + object.bytes()
              + " with "
              + JsonFile.hex(object.checksum())
              + ", as its manifest says: it is damaged, and was not copied");
    }
  }

  /** Brings the bytes back from the cold manager into the directory that has the rest. */
  private MoveResult restore(KnownSegment entry, StoredCopy copy, MoveControl control)
      throws IOException, InterruptedException {
    Optional<SegmentStore.Located> located = store.lookIn(copy.directory(), entry.key());
    Optional<SegmentStore.Located> source = source(entry);
    if (located.isEmpty() || source.isEmpty()) {
      return MoveResult.cancelled("it is not in the store any more");
    }
    try {
      StoredObject log = located.get().manifest().log();
      Disk.replace(
          located.get().file(ObjectType.LOG),
          part -> copyObject(source.get(), log, part, pace(control)));
    } catch (BytePace.CopyCancelledException e) {
      return MoveResult.cancelled("it was stopped");
    }
    forgetWithoutLog(located.get().path());
    store.stages().reached(StoreStage.COLD_RESTORED);
    store.census().change(entry.key().id(), copy.directory(), c -> c.withLog(true));
    return MoveResult.done(entry.segment().bytes());
  }

  /**
   * Copies one file of a segment, from the cold manager if it is the log of a copy without it.
   *
   * @throws CorruptSegmentException if it is not what the manifest says
   */
  void copyObject(SegmentStore.Located source, StoredObject object, Path target, BytePace pace)
      throws IOException, InterruptedException {
    Manifest manifest = source.manifest();
    if (object.type() == ObjectType.LOG && !source.hasLog()) {
      fromCold(source.path(), manifest, target, pace);
      return;
    }
    try (CopyBuffers.Lease lease = store.buffers().borrow(manifest.chunks().chunkBytes())) {
      ObjectCopier copier = new ObjectCopier(manifest.chunks().chunkBytes(), pace, lease.buffer());
      Path file = source.file(object.type());
      ChunkChecksums.Builder copied = copier.copy(file, object.bytes(), target);
      check(file, object, copied.bytes(), copied.whole());
    }
  }

  /**
   * Reads the bytes from the cold manager.
   *
   * @param marked the copy whose mark tells of them
   */
  private void fromCold(Path marked, Manifest manifest, Path target, BytePace pace)
      throws IOException, InterruptedException {
    ColdMark mark = ColdMark.read(marked);
    ColdLevel cold = store.requireCold(marked, mark);
    try (FileChannel to =
        FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ChunkChecksums.Builder read =
          readCold(
              manifest,
              cold,
              mark.customMetadataBytes(),
              pace,
              bytes -> Disk.writeFully(to, bytes));
      check(target, manifest.log(), read.bytes(), read.whole());
    }
  }

  /** Takes the bytes that the cold manager has, one piece after the other. */
  @FunctionalInterface
  private interface Taking {
    void take(ByteBuffer bytes) throws IOException;
  }

  private static ChunkChecksums.Builder readCold(
      Manifest manifest, ColdLevel cold, Optional<byte[]> custom, BytePace pace, Taking taking)
      throws IOException, InterruptedException {
    ChunkChecksums.Builder read = new ChunkChecksums.Builder(manifest.chunks().chunkBytes());
    ByteBuffer buffer = ByteBuffer.allocate(COLD_PIECE);
    while (read.bytes() < manifest.segment().bytes()) {
      buffer.clear();
      buffer.limit((int) Math.min(buffer.capacity(), manifest.segment().bytes() - read.bytes()));
      pace.before(buffer.remaining());
      cold.read(manifest, custom, read.bytes(), buffer);
      buffer.flip();
      read.update(buffer);
      taking.take(buffer);
    }
    return read;
  }

  /**
   * Has the cold manager copy a segment, and reads it back from there.
   *
   * @throws CorruptSegmentException if its bytes here are not what its manifest says
   */
  MoveResult toCold(KnownSegment entry, ColdLevel cold, MoveControl control)
      throws IOException, InterruptedException {
    Optional<SegmentStore.Located> found = source(entry);
    if (found.isEmpty() || !found.get().hasLog()) {
      return MoveResult.cancelled("it is not in the store any more");
    }
    SegmentStore.Located source = found.get();
    Manifest manifest = source.manifest();
    try {
      checkHere(source, control);
      // Marked first: a deletion from now on tells the cold manager, too.
      Path mark = source.path().resolve(StoreNames.COLD);
      Optional<ColdMark> before =
          Disk.isThere(mark) ? Optional.of(ColdMark.read(source.path())) : Optional.empty();
      if (before.isPresent()
          && before.get().done()
          && !before.get().className().equals(cold.className())) {
        // Its mark is all that tells a deletion of what that one has.
        return MoveResult.cancelled(
            "another cold manager has it: " + SegmentKey.printable(before.get().className()));
      }
      if (before.map(ColdMark::done).orElse(false)) {
        store.census().change(entry.key().id(), source.directory(), StoredCopy::withCold);
        return MoveResult.cancelled("it is there already");
      }
      Disk.replace(mark, ColdMark.begun(cold.className()).print());
      // All that tells of the cold copy; a killed process may have published it, and not durably.
      source.directory().force(entry.key());
      if (!CopyMarks.isStaying(source.path(), mark)) {
        // A deletion that has not seen the mark has made its own before.
        return MoveResult.cancelled("it is being deleted");
      }
      store.stages().reached(StoreStage.COLD_MARKED);
      Optional<byte[]> custom = copyToCold(manifest, cold, source.path(), mark);
      store.stages().reached(StoreStage.COLD_COPIED);
      if (!Disk.isThere(mark)) {
        cold.delete(manifest.segment(), custom);
        return MoveResult.cancelled("it was deleted meanwhile");
      }
      readBack(manifest, cold, custom, control);
      Disk.replace(mark, ColdMark.done(cold.className(), custom).print());
      store.stages().reached(StoreStage.COLD_CONFIRMED);
    } catch (BytePace.CopyCancelledException e) {
      return MoveResult.cancelled("it was stopped");
    } catch (NoSuchFileException e) {
      forgetIfGone(entry, source);
      return MoveResult.cancelled("it was deleted meanwhile");
    }
    store.census().change(entry.key().id(), source.directory(), StoredCopy::withCold);
    return MoveResult.done(manifest.segment().bytes());
  }

  /** A copy that fails may be going on: a deletion that did not meet it is made up for. */
  private static Optional<byte[]> copyToCold(
      Manifest manifest, ColdLevel cold, Path directory, Path mark)
      throws IOException, InterruptedException {
    try {
      return cold.copy(manifest, directory);
    } catch (IOException | RuntimeException e) {
      if (!Disk.isThere(mark)) {
        cold.delete(manifest.segment(), Optional.empty());
      }
      throw e;
    }
  }

  /** Checks the log, and makes it as long as its manifest says if it has grown. */
  private void checkHere(SegmentStore.Located source, MoveControl control)
      throws IOException, InterruptedException {
    Manifest manifest = source.manifest();
    Path log = source.file(ObjectType.LOG);
    if (Files.size(log) > manifest.log().bytes()) {
      Disk.replace(log, part -> copyObject(source, manifest.log(), part, pace(control)));
      return;
    }
    try (CopyBuffers.Lease lease = store.buffers().borrow(manifest.chunks().chunkBytes())) {
      ChunkChecksums.Builder here =
          new ObjectCopier(manifest.chunks().chunkBytes(), pace(control), lease.buffer()).read(log);
      check(log, manifest.log(), here.bytes(), here.whole());
    }
  }

  private void readBack(
      Manifest manifest, ColdLevel cold, Optional<byte[]> custom, MoveControl control)
      throws IOException, InterruptedException {
    ChunkChecksums.Builder read = readCold(manifest, cold, custom, pace(control), bytes -> {});
    if (read.whole() != manifest.log().checksum()) {
      throw new IOException(
          manifest.segment().key()
              + ": "
              + cold.className()
              + " gives back bytes with checksum "
              + JsonFile.hex(read.whole())
              + ", expected "
              + JsonFile.hex(manifest.log().checksum())
              + ": the copy here stays");
    }
  }

  private static void forgetWithoutLog(Path directory) {
    try {
      boolean unused = Files.deleteIfExists(directory.resolve(StoreNames.WITHOUT_LOG));
    } catch (IOException e) {
      // A scrub will say too little.
      return;
    }
  }

  /**
   * Ends the moves that a crash has left unconfirmed: a copy whose first one is there is confirmed,
   * another is removed, as a deletion would have. A segment that cannot be looked at is left as it
   * is.
   *
   * @return what could not be looked at: a message each
   */
  List<String> settle(List<KnownSegment> entries) throws InterruptedException {
    List<String> problems = new ArrayList<>();
    for (KnownSegment entry : entries) {
      for (StoredCopy copy : entry.copies()) {
        if (copy.moving() && !store.inMotion().contains(entry.key().id())) {
          try {
            boolean unused =
                copy.directory()
                    .access()
                    .brief(
                        "settling " + entry.key() + " in " + copy.directory(),
                        control -> {
                          settle(entry.key(), copy);
                          return true;
                        });
          } catch (IOException e) {
            problems.add(entry.key() + ": " + e.getMessage());
          }
        }
      }
    }
    return problems;
  }

  /** Whether a move came from a directory that is lost, or not configured any more. */
  private boolean isFromUnknown(Path mark) throws IOException {
    String source = Files.readString(mark);
    return store.directories().stream()
        .filter(directory -> !directory.access().isLeft())
        .noneMatch(directory -> directory.identity().directoryId().equals(source));
  }

  /** Whether a directory has a copy of a segment, whatever has become of its files. */
  private static boolean isIn(StoreDirectory directory, SegmentKey key) throws IOException {
    if (Disk.isThere(directory.segment(key))) {
      return true;
    }
    directory.checkAvailable();
    return false;
  }

  private void settle(SegmentKey key, StoredCopy copy) throws IOException, InterruptedException {
    Optional<StoreDirectory> first = Optional.empty();
    for (StoreDirectory directory : store.directories()) {
      // One that cannot be used may have the first copy: then it is not known yet.
      if (!directory.equals(copy.directory())
          && !directory.access().isLeft()
          && directory
              .access()
              .read("looking for " + key + " in " + directory, control -> isIn(directory, key))) {
        first = first.isPresent() ? first : Optional.of(directory);
      }
    }
    // After the look for the first copy: if that was evicted meanwhile, this one had been
    // confirmed before, and is the only one.
    Path mark = copy.directory().segment(key).resolve(StoreNames.MOVING);
    boolean unconfirmed = Disk.isThere(mark);
    if (unconfirmed && first.isEmpty() && isFromUnknown(mark)) {
      // Its disk was lost, say: nobody knows whether Kafka has deleted the segment. It can be read.
      boolean unused = Files.deleteIfExists(mark);
      Disk.forceDirectory(Disk.parent(mark));
      unconfirmed = false;
    }
    if (unconfirmed && !confirm(first, copy.directory(), key)) {
      store.census().remove(key.id(), copy.directory());
    } else {
      store.census().change(key.id(), copy.directory(), StoredCopy::confirmed);
    }
  }
}
