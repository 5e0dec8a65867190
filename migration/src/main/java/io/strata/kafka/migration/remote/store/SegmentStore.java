package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.CopyBuffers;
import io.strata.kafka.migration.remote.store.disk.CopyPublishing;
import io.strata.kafka.migration.remote.store.disk.PendingDeletions;
import io.strata.kafka.migration.remote.store.disk.SourceException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreStage;
import io.strata.kafka.migration.remote.store.disk.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.StoredCopy;
import io.strata.kafka.migration.remote.store.disk.WorkProgress;
import io.strata.kafka.migration.remote.store.layout.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.ObjectType;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The store: segments in directories, in levels. The disk has all that there is; the state in
 * memory is made from it. Other brokers may use the same directories.
 */
public final class SegmentStore implements AutoCloseable {

  final StoreOptions options;
  public final KnownSegments known;
  public final CopyLookup lookup;
  public final CopyPlacement placement;
  public final CopyPublishing publishing;
  public final ObjectFiles files;
  public final PendingDeletions deletions;
  public final ColdCopies cold;

  /** Moves of this process, by their segments' ids; one that has ended may be among them. */
  public final Map<String, WorkProgress> inMotion = new ConcurrentHashMap<>();

  /** The directories of segments that are being removed; one may hang for long. */
  final Set<Path> inRemoval = ConcurrentHashMap.newKeySet();

  private final List<StoreDirectory> directories;
  private final List<String> warnings;
  private final List<String> firstUses;
  private final ReadHeat heat;

  private SegmentStore(StoreOptions options, Optional<OtherManager> manager)
      throws IOException, StoreRefusedException {
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
    files = new ObjectFiles(cold, new CopyBuffers());
    deletions = new PendingDeletions(options.memory());
    heat = new ReadHeat(options.clock());
  }

  /**
   * Opens the store for a broker: its directories are made the store's if they are used for the
   * first time.
   *
   * @param manager has the lowest level, if another manager does
   * @throws StoreRefusedException if a directory is not what it should be; nothing was changed in
   *     it
   * @throws IOException if the broker's own log directories cannot be read or written
   */
  public static SegmentStore open(StoreOptions options, Optional<OtherManager> manager)
      throws IOException, StoreRefusedException {
    return new SegmentStore(options, manager);
  }

  /** The directories, the fastest level first. */
  public List<StoreDirectory> directories() {
    return directories;
  }

  /** Directories that could not be used when the store was opened: a message each. */
  public List<String> warnings() {
    return warnings;
  }

  /** The directories that have become part of the store when this was opened, in words. */
  public List<String> firstUses() {
    return firstUses;
  }

  public String storeId() {
    return directories.get(0).identity().storeId();
  }

  public int brokerId() {
    return options.brokerId();
  }

  /** Returns how many levels it has of its own. */
  public int levels() {
    return options.levels().size();
  }

  /** The levels, the fastest first, the cold manager's included. */
  public List<Level> allLevels() {
    Stream<Level> own =
        IntStream.range(0, levels()).mapToObj(number -> new DirectoryLevel(this, number));
    return Stream.concat(own, cold.manager().map(manager -> new ColdLevel(this)).stream()).toList();
  }

  public InstantSource clock() {
    return options.clock();
  }

  public void reached(StoreStage stage) {
    options.stages().reached(stage);
  }

  /** Returns what the store may take in each level; 0 where another manager has it. Does no I/O. */
  public List<Long> capacities() {
    return allLevels().stream().map(Level::capacityBytes).toList();
  }

  /** Returns how much is read from each segment. */
  public ReadHeat heat() {
    return heat;
  }

  /** Returns whether the cold manager is copying a segment, even if the caller no longer waits. */
  public boolean isCopyingToCold() {
    return cold.manager().map(OtherManager::isCopying).orElse(false);
  }

  /** Returns how many calls hang in the directories. */
  public int stuck() {
    return directories().stream().mapToInt(directory -> directory.access().stuck()).sum();
  }

  /** All segments that are known, in no particular order. */
  public List<KnownSegment> segments() {
    return known.entries();
  }

  /**
   * Returns how many segments are known to have no copy that is right, those that no manifest says
   * anything about included.
   */
  public long damagedSegments() {
    return known.withoutManifest()
        + segments().stream()
            .filter(entry -> entry.copies().stream().allMatch(StoredCopy::damaged))
            .count();
  }

  /** Returns what the store takes in a directory, as far as it is known. */
  public long usedBytes(StoreDirectory directory) {
    return known.usedBytes(directory);
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
   * Finds a segment on disk, in the fastest level that has its bytes; empty if no directory has it.
   *
   * @throws StoreUnavailableException if it was not found, and a directory that may have it cannot
   *     be used
   * @throws CorruptManifestException if it is there, and its manifest is damaged
   */
  public Optional<Located> locate(SegmentKey key) throws IOException {
    return lookup.locate(key);
  }

  /**
   * All places that have a segment: first those with its bytes, the fastest first, those that are
   * not known to be damaged before the others; then those by which the cold manager can be asked;
   * then those with its indexes alone.
   *
   * @throws IOException if there are none, and a directory that may have one cannot be used
   */
  public List<Located> copies(SegmentKey key) throws IOException {
    return lookup.copies(key);
  }

  /**
   * Reads bytes of a segment that the cold manager has.
   *
   * @param target gets as many bytes as it has space for; they must be within the segment
   * @throws StoreUnavailableException if a directory that cannot be used may have the bytes, and
   *     the cold manager does not
   * @throws java.nio.file.NoSuchFileException if it does not, and they are not where they were
   */
  public void readCold(Located place, long position, ByteBuffer target)
      throws IOException, InterruptedException {
    lookup.readCold(place, position, target);
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
    return new SegmentDeletion(this).delete(segment);
  }

  /** Notes in the broker's log directories that a segment is to be removed, if that can be done. */
  public boolean deleteLater(SegmentInfo segment) {
    return deletions.add(segment);
  }

  /**
   * Notes beside a copy, if it can be noted, that it is not what its manifest says, until it is
   * repaired; {@code finding} is the whole sentence.
   */
  public void damaged(StoreDirectory directory, SegmentKey key, String finding) {
    lookup.damaged(directory, key, finding);
  }

  /** Begins nothing in its directories any more. */
  @Override
  public void close() {
    directories.forEach(directory -> directory.access().close());
  }
}
