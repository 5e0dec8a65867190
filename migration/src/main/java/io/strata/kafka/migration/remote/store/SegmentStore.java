package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.Reads;
import io.strata.kafka.migration.remote.store.ColdCopies.ColdStorage;
import io.strata.kafka.migration.remote.store.CopyPlacement.StoreFullException;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.Level.ColdLevel;
import io.strata.kafka.migration.remote.store.Level.DirectoryLevel;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.CopyPublishing;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.PendingDeletions;
import io.strata.kafka.migration.remote.store.disk.SourceException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.disk.WorkProgress;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The store: segments in directories, in levels. The disk has all that there is; the state in
 * memory is made from it. Other brokers may use the same directories.
 */
public final class SegmentStore implements AutoCloseable {

  public final StoreOptions options;
  public final KnownSegments known;
  public final CopyLookup lookup;
  public final CopyPlacement placement;
  public final CopyPublishing publishing;
  public final ObjectFiles files;
  public final PendingDeletions deletions;
  public final ColdCopies cold;

  /** Moves of this process that have not ended, by their segments' ids. */
  public final Map<String, WorkProgress> inMotion = new ConcurrentHashMap<>();

  /** The directories of segments that are being removed; one may hang for long. */
  private final Set<Path> inRemoval = ConcurrentHashMap.newKeySet();

  /** Directories that could not be used when the store was opened: a message each. */
  public final List<String> warnings;

  /** The directories that have become part of the store when this was opened, in words. */
  public final List<String> firstUses;

  /** The reads through this broker, by their segments' ids. */
  private final Map<String, Reads> reads = new ConcurrentHashMap<>();

  private final List<StoreDirectory> directories;

  /**
   * Opens the store for a broker: its directories are made the store's if they are used for the
   * first time.
   *
   * @param manager has the lowest level, if another manager does
   * @throws StoreRefusedException if a directory is not what it should be; nothing was changed in
   *     it
   * @throws IOException if the broker's own log directories cannot be read or written
   */
  public SegmentStore(StoreOptions options, Optional<ColdStorage> manager) throws IOException {
    StoreOpener.Opened opened = StoreOpener.open(options);
    this.options = options;
    warnings = opened.warnings();
    firstUses = opened.firstUses();
    directories =
        opened.directories().stream()
            .sorted(Comparator.comparingInt(StoreDirectory::level))
            .toList();
    cold = new ColdCopies(manager);
    known = new KnownSegments(cold, options.threads().nanoTime());
    lookup = new CopyLookup(directories, known, cold);
    placement = new CopyPlacement(directories, known);
    publishing = new CopyPublishing(options.brokerId() + "-" + StoreNames.randomId());
    files = new ObjectFiles(cold);
    deletions = new PendingDeletions(options.memory());
  }

  /** The directories, the fastest level first. */
  public List<StoreDirectory> directories() {
    return directories;
  }

  public String storeId() {
    return directories.get(0).identity().storeId();
  }

  /** The levels, the fastest first, the cold manager's included. */
  public List<Level> allLevels() {
    Stream<Level> own =
        IntStream.range(0, options.levels().size())
            .mapToObj(number -> new DirectoryLevel(this, number));
    return Stream.concat(own, cold.manager().map(manager -> new ColdLevel(this)).stream()).toList();
  }

  /** The segments' reads since this was opened, by their ids; may be changed. */
  public Map<String, Reads> reads() {
    return reads;
  }

  public InstantSource clock() {
    return options.clock();
  }

  public void reached(StoreStage stage) {
    options.stages().reached(stage);
  }

  /** Returns whether the cold manager is copying a segment, even if the caller no longer waits. */
  public boolean isCopyingToCold() {
    return cold.manager().map(ColdStorage::isCopying).orElse(false);
  }

  public int stuck() {
    return directories.stream().mapToInt(directory -> directory.stuck()).sum();
  }

  /**
   * Returns how many segments are known to have no copy that is right, those that no manifest says
   * anything about included.
   */
  public long damagedSegments() {
    return known.withoutManifest()
        + known.entries().stream()
            .filter(entry -> entry.copies().stream().allMatch(StoredCopy::damaged))
            .count();
  }

  /** Which directory a copy went to, and what its manifest says. */
  public record Copied(StoreDirectory directory, Manifest manifest) {}

  /**
   * Copies a segment into the store. When this returns, it is durable, and can be read by any
   * broker; when it throws, readers see no part of it.
   *
   * @param chunkBytes how the log is divided for its checksums
   * @throws StoreFullException if no level has space
   * @throws SourceException if the local files cannot be read
   */
  public Copied copy(SegmentInfo segment, LogSource source, int chunkBytes, BytePace pace)
      throws IOException, InterruptedException {
    return new NewCopy(this, segment, source, chunkBytes, pace).make();
  }

  /** A segment that was found. */
  public record Located(StoreDirectory directory, Path path, Manifest manifest, boolean hasLog) {

    public SegmentKey key() {
      return manifest.segment().key();
    }

    public Path file(ObjectType type) {
      return path.resolve(type.fileName(key()));
    }

    Located withoutLog() {
      return new Located(directory, path, manifest, false);
    }
  }

  /**
   * Removes a segment from all directories and the cold manager. When this returns, nothing of it
   * is there; or it is noted in the broker's log directories that the rest is to be removed later.
   *
   * @return how many bytes were removed, by directory
   * @throws IOException if neither could be done; what could be removed is
   */
  public Map<StoreDirectory, Long> delete(SegmentInfo segment)
      throws IOException, InterruptedException {
    reached(StoreStage.DELETE_STARTED);
    Set<StoreDirectory> removed = new HashSet<>();
    Optional<KnownSegment> entry = known.find(segment.key().id());
    try {
      removeAll(segment, removed);
      deletions.done(List.of(segment));
    } catch (InterruptedIOException | ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      if (!deletions.add(segment)) {
        throw e;
      }
    }
    return removed.stream()
        .collect(
            Collectors.toMap(d -> d, d -> entry.flatMap(e -> e.in(d).map(e::bytesIn)).orElse(0L)));
  }

  /**
   * Does what was taken over, as far as that can be done now; nothing while a directory is
   * suspended.
   *
   * @param calls make the deletions: one that hangs keeps no other from being tried
   * @param limit the longest that one of them may take
   * @param until asked before each: whether it is time for something else
   * @return what keeps the first of those that are left; empty if it is the time, or none is left
   */
  public Optional<IOException> deletePending(Deadlines calls, Duration limit, BooleanSupplier until)
      throws InterruptedException {
    if (directories.stream().anyMatch(directory -> directory.isSuspended())) {
      return Optional.empty();
    }
    List<SegmentInfo> done = new ArrayList<>();
    Optional<IOException> problem = Optional.empty();
    for (SegmentInfo segment : deletions.due(options.clock().millis())) {
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
        deletions.failed(segment, options.clock().millis());
        problem = problem.isPresent() ? problem : Optional.of(e);
      }
    }
    deletions.done(done);
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
    for (StoreDirectory directory : directories) {
      try {
        // It is short, and stopped half-way it would leave its rest in the trash.
        Deadlines.Uninterrupted<Boolean> removal = control -> removeAlone(directory, segment);
        if (directory.write("removing %s from %s".formatted(segment.key(), directory), removal)) {
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

  private boolean removeAlone(StoreDirectory directory, SegmentInfo segment)
      throws IOException, InterruptedException {
    Path place = directory.segment(segment.key());
    if (!inRemoval.add(place)) { // Each attempt would leave one more thread that hangs.
      throw new IOException(place + ": an earlier deletion has not come back");
    }
    try {
      return remove(directory, segment, place);
    } finally {
      inRemoval.remove(place);
    }
  }

  private boolean remove(StoreDirectory directory, SegmentInfo segment, Path place)
      throws IOException, InterruptedException {
    SegmentKey key = segment.key();
    try {
      // Before the look for what the cold manager has: a copy to it that begins later sees this
      // mark, and one that began before is seen by its own.
      CopyMarks.going(place);
    } catch (IOException e) {
      // It is not there; or the disk is full or fails, and the deletion goes on as far as it can.
    }
    // Before the mark of it goes: a deletion that fails here is repeated.
    try {
      cold.deleteMarked(place, segment);
    } catch (StoreUnavailableException e) {
      throw new IOException(e.getMessage(), e); // The manager is not at hand: the directory is.
    }
    Optional<Path> trashed = publishing.trash(directory, key);
    known.remove(key.id(), directory);
    if (trashed.isPresent()) {
      reached(StoreStage.DELETE_TRASHED);
      publishing.remove(trashed.get());
      reached(StoreStage.DELETE_EMPTIED);
    }
    directory.removeEmptyParents(key);
    return trashed.isPresent();
  }

  @Override
  public void close() {
    directories.forEach(directory -> directory.close());
  }

  /**
   * The files of a local segment that are to be copied.
   *
   * <p>Immutable; as safe as the buffer.
   *
   * @param indexes the index files that there are, by type
   * @param leaderEpochs the content of the leader epoch checkpoint
   */
  public record LogSource(Path log, Map<ObjectType, Path> indexes, ByteBuffer leaderEpochs) {
    /** Copies the map, and keeps its own position of the buffer. */
    public LogSource {
      indexes = Map.copyOf(indexes);
      leaderEpochs = leaderEpochs.asReadOnlyBuffer();
    }
  }

  /** The directories are not what they were configured as; nothing was changed in them. */
  public static final class StoreRefusedException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    public StoreRefusedException(String message) {
      super(message);
    }
  }
}
