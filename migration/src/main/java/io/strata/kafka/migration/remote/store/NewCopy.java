package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.remote.store.CopyPlacement.StoreFullException;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.SegmentStore.LogSource;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.CopyPublishing;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.SourceException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

/**
 * Copies a local segment to the first directory in which that succeeds. A copy that Kafka no longer
 * waits for is taken back: Kafka copies the segment again, under another id.
 *
 * <p>Thread safety: used by one thread; its works in the directories may outlive it.
 */
final class NewCopy {

  private final SegmentStore store;
  private final SegmentInfo segment;
  private final LogSource source;
  private final int chunkBytes;
  private final BytePace pace;

  /** Directories in which it was tried. */
  private final Set<StoreDirectory> tried = new HashSet<>();

  /** Space elsewhere, for which a directory was left in which the copy hangs. */
  private Optional<CopyPlacement.Reservation> next = Optional.empty();

  /** Set when Kafka has its failure. */
  @GuardedBy("this")
  private boolean failed;

  /** Set when a copy was not taken back: a directory may have it. */
  @GuardedBy("this")
  private boolean leftBehind;

  /** Counts the works; the caller waits for the last one. */
  @GuardedBy("this")
  private int works;

  /** Set when the last work may have published its copy. */
  @GuardedBy("this")
  private boolean publishing;

  /**
   * Creates the copy of a segment that is not there yet.
   *
   * @param chunkBytes how the log is divided for its checksums
   */
  NewCopy(
      SegmentStore store, SegmentInfo segment, LogSource source, int chunkBytes, BytePace pace) {
    this.store = store;
    this.segment = segment;
    this.source = source;
    this.chunkBytes = chunkBytes;
    this.pace = pace;
  }

  SegmentStore.Copied make() throws IOException, InterruptedException {
    if (store.deletions.has(segment)) {
      throw new IOException(
          segment.key() + ": an earlier copy of it is to be deleted; Kafka copies under a new id");
    }
    try {
      return makeAnywhere();
    } catch (Throwable e) {
      failed();
      throw e;
    }
  }

  private SegmentStore.Copied makeAnywhere() throws IOException, InterruptedException {
    long bytes = bytes();
    Optional<IOException> failure = Optional.empty();
    while (true) {
      try (CopyPlacement.Reservation space = reserve(bytes, failure)) {
        StoreDirectory directory = space.directory();
        boolean unused = tried.add(directory);
        try {
          return makeIn(directory, bytes);
        } catch (IOException e) {
          if (!directory.copyFailed(segment.key(), e)) {
            throw e;
          }
          failure.ifPresent(e::addSuppressed);
          failure = Optional.of(e);
        }
      }
    }
  }

  private void failed() {
    boolean delete;
    synchronized (this) {
      failed = true;
      delete = leftBehind;
    }
    if (delete) {
      deleteLeftBehind();
    }
  }

  private void leftBehind() {
    boolean delete;
    synchronized (this) {
      leftBehind = true;
      delete = failed;
    }
    if (delete) {
      deleteLeftBehind();
    }
  }

  /**
   * In a copy that was made elsewhere, what is left behind is one more: a deletion finds both. If
   * no log directory can be written, it stays until Kafka deletes the segment. A log directory may
   * hang: nothing else waits for it.
   */
  private void deleteLeftBehind() {
    boolean unused = store.deletions.add(segment);
  }

  /**
   * Returns what the copy takes on disk. Reads the broker's own files, without a limit of its own.
   */
  private long bytes() throws IOException, InterruptedException {
    LongStream.Builder files = LongStream.builder();
    files.add(segment.bytes()).add(source.leaderEpochs().remaining());
    for (Path index : source.indexes().values()) {
      files.accept(SourceException.reading(() -> Files.size(index)));
    }
    return Manifest.diskBytes(files.build(), segment.bytes(), chunkBytes);
  }

  /**
   * Finds space in a directory that was not tried.
   *
   * @param failure of the last directory: is thrown if there is none left
   */
  private CopyPlacement.Reservation reserve(long bytes, Optional<IOException> failure)
      throws IOException, InterruptedException {
    if (next.isPresent()) {
      CopyPlacement.Reservation reserved = next.get();
      next = Optional.empty();
      return reserved;
    }
    try {
      return store.placement.reserve(bytes, directory -> !tried.contains(directory));
    } catch (StoreFullException | StoreUnavailableException e) {
      if (failure.isEmpty()) {
        throw e;
      }
      failure.get().addSuppressed(e);
      throw failure.get();
    }
  }

  private synchronized int nextWork() {
    publishing = false;
    works++;
    return works;
  }

  private synchronized void publishes(int work) {
    publishing |= work == works;
  }

  /**
   * Returns whether a copy may be taken back. Once a later work may have published another one, an
   * eviction may have removed that one, and this one may be the only copy.
   */
  private synchronized boolean mayBeTakenBack(int work) {
    return failed || work == works || !publishing || store.deletions.has(segment);
  }

  private SegmentStore.Copied makeIn(StoreDirectory directory, long bytes)
      throws IOException, InterruptedException {
    String what = "copying %s to %s".formatted(segment.key(), directory);
    Work work = new Work(directory, nextWork());
    Deadlines.Check check = left -> leaveIfHanging(what, work, bytes);
    Manifest manifest = directory.write(what, check, work);
    store.known.put(manifest, StoredCopy.whole(directory));
    directory.copies.succeeded();
    return new SegmentStore.Copied(directory, manifest);
  }

  /**
   * Goes elsewhere when the copy comes no further, though the directory answers: its disk may hang.
   * A disk may also be only slow, so that without another place the copy waits on.
   */
  private void leaveIfHanging(String what, Work work, long bytes)
      throws IOException, InterruptedException {
    if (!work.isHanging()) {
      return;
    }
    String why =
        what
            + ": it comes no further, though the directory answers; look at its disk, and at the"
            + " log directory's";
    work.directory.copies.failed(why);
    try {
      next =
          Optional.of(
              store.placement.reserve(
                  bytes, other -> !tried.contains(other) && other.copies.reason().isEmpty()));
    } catch (StoreFullException | StoreUnavailableException e) {
      return; // There is none.
    }
    throw new TimeLimitException(why);
  }

  /**
   * Makes the copy in one directory, and publishes it. A copy that cannot be finished is removed.
   * It looks often enough whether it is still waited for.
   */
  private final class Work implements Deadlines.Uninterrupted<Manifest> {
    /** After so many looks without progress it hangs: as long as a read may take. */
    private static final int HANGING = 3;

    private final StoreDirectory directory;
    private final int number;
    private final SegmentKey key = segment.key();
    private final AtomicLong steps = new AtomicLong();

    /** The copy's {@link CopyPublishing#identity}. */
    private volatile Object identity = "";

    /** Steps at the last look; used by the caller's thread. */
    private long seen = -1;

    private int looks;

    Work(StoreDirectory directory, int number) {
      this.directory = directory;
      this.number = number;
    }

    boolean isHanging() {
      long now = steps.get();
      looks = now == seen ? looks + 1 : 1;
      seen = now;
      return looks >= HANGING;
    }

    @Override
    public Manifest run(Deadlines.Control control) throws IOException, InterruptedException {
      BytePace wanted = BytePace.unlimited(control);
      BytePace own =
          bytes -> {
            long unused = steps.incrementAndGet();
            pace.before(bytes);
            wanted.before(bytes);
          };
      Path staged = directory.stage(store.publishing.owner(), key);
      identity = CopyPublishing.identity(staged);
      boolean publishing = false;
      boolean published = false;
      try {
        store.reached(StoreStage.COPY_STAGED);
        Manifest manifest = write(staged, own);
        Disk.forceAll(staged, own);
        publishing = true;
        publishes(number);
        store.publishing.publish(directory, staged, key, () -> !control.isCancelled());
        published = true;
        store.reached(StoreStage.COPY_PUBLISHED);
        return manifest;
      } finally {
        if (!published) {
          store.publishing.remove(staged);
          if (publishing) {
            boolean unused = takeBack();
          }
        }
      }
    }

    /** Writes all files, which are not durable yet. */
    private Manifest write(Path staged, BytePace own) throws IOException, InterruptedException {
      ChunkChecksums.Builder log =
          read(source.log(), staged.resolve(ObjectType.LOG.fileName(key)), own);
      if (log.bytes() != segment.bytes()) {
        throw new SourceException(
            new IOException(
                """
                %s: found %s bytes, expected %s, as Kafka says: the segment was changed while it \
                was copied\
                """
                    .formatted(source.log(), log.bytes(), segment.bytes())));
      }
      store.reached(StoreStage.COPY_LOG_WRITTEN);
      List<StoredObject> objects = new ArrayList<>(List.of(log.object(ObjectType.LOG)));
      for (ObjectType type : ObjectType.values()) {
        Path index = source.indexes().get(type);
        if (index != null) {
          objects.add(read(index, staged.resolve(type.fileName(key)), own).object(type));
        }
      }
      ChunkChecksums.Builder epochs = new ChunkChecksums.Builder(chunkBytes);
      epochs.update(source.leaderEpochs());
      Disk.write(
          staged.resolve(ObjectType.LEADER_EPOCHS.fileName(key)),
          source.leaderEpochs().duplicate());
      objects.add(epochs.object(ObjectType.LEADER_EPOCHS));
      store.reached(StoreStage.COPY_INDEXES_WRITTEN);
      Manifest manifest =
          new Manifest(store.storeId(), segment, store.clock().millis(), objects, log.build());
      Disk.write(staged.resolve(StoreNames.MANIFEST), ByteBuffer.wrap(manifest.print()));
      store.reached(StoreStage.COPY_MANIFEST_WRITTEN);
      return manifest;
    }

    private ChunkChecksums.Builder read(Path file, Path target, BytePace own)
        throws IOException, InterruptedException {
      return store.files.read(file, Long.MAX_VALUE, Optional.of(target), chunkBytes, own);
    }

    /** Returns whether the copy cannot be seen any more; if not, it is to be deleted. */
    private boolean takeBack() {
      boolean done =
          store.publishing.takeBack(directory, key, identity, () -> mayBeTakenBack(number));
      if (!done) {
        leftBehind();
      }
      return done;
    }

    @Override
    public void undo(Manifest made) {
      if (takeBack()) {
        store.known.remove(key.id(), directory);
      }
    }
  }
}
