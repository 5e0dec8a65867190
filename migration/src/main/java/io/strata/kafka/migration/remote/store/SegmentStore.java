package io.strata.kafka.migration.remote.store;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.migration.remote.calls.CallControl;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * The store: segments in directories, in levels. What is on disk is all that there is; what is kept
 * in memory is made from it.
 *
 * <p>Thread safety: all methods may be called by any number of threads, and other brokers may use
 * the same directories.
 */
public final class SegmentStore implements AutoCloseable {

  private final StoreOptions options;
  private final List<StoreDirectory> directories;
  private final List<String> warnings;
  private final KnownSegments census;
  private final SharedSpace space;
  private final CopyPlacement placement;
  private final ReadHeat heat;
  private final Optional<ColdLevel> cold;
  private final String owner;
  private final AtomicLong trashed = new AtomicLong();
  private final CopyBuffers buffers = new CopyBuffers();
  private final Set<String> inMotion = ConcurrentHashMap.newKeySet();

  private SegmentStore(StoreOptions options, StoreOpener.Opened opened, Optional<ColdLevel> cold) {
    this.options = options;
    this.cold = cold;
    this.census = new KnownSegments(cold.map(ColdLevel::className));
    this.heat = new ReadHeat(options.clock());
    this.directories =
        opened.directories().stream()
            .sorted(Comparator.comparingInt(StoreDirectory::level))
            .toList();
    this.warnings = opened.warnings();
    this.owner = options.brokerId() + "-" + Ids.random();
    this.space = new SharedSpace(options.brokerId(), owner);
    this.placement = new CopyPlacement(directories, census, space);
  }

  /**
   * Opens the store for a broker: its directories are made the store's if they are used for the
   * first time.
   *
   * @param cold the lowest level, if another manager has it
   * @throws StoreRefusedException if a directory is not what it should be; nothing was changed in
   *     it
   * @throws IOException if the broker's own log directories cannot be read or written
   */
  public static SegmentStore open(StoreOptions options, Optional<ColdLevel> cold)
      throws IOException, StoreRefusedException {
    return new SegmentStore(options, StoreOpener.open(options), cold);
  }

  /** The directories, the fastest level first. */
  public List<StoreDirectory> directories() {
    return directories;
  }

  /** Directories that could not be used when the store was opened: a message each. */
  public List<String> warnings() {
    return warnings;
  }

  /** The store's id. */
  public String storeId() {
    return directories.get(0).identity().storeId();
  }

  /** The broker that opened it. */
  public int brokerId() {
    return options.brokerId();
  }

  /** How many levels it has of its own. */
  public int levels() {
    return options.levels().size();
  }

  /** How much is read from each segment. */
  public ReadHeat heat() {
    return heat;
  }

  /** The lowest level, if another manager has it. */
  Optional<ColdLevel> cold() {
    return cold;
  }

  /**
   * The manager that has the bytes of a segment.
   *
   * @param segmentDirectory for the message
   * @param mark which one has
   * @throws StoreUnavailableException if none is configured, or another
   */
  ColdLevel requireCold(Path segmentDirectory, ColdMark mark) throws StoreUnavailableException {
    if (cold.isPresent() && !cold.get().className().equals(mark.className())) {
      throw new StoreUnavailableException(
          segmentDirectory
              + ": its bytes are with the cold manager "
              + SegmentKey.printable(mark.className())
              + ", found rsm.config.cold.class.name="
              + cold.get().className()
              + ": set it as it was when they were moved there");
    }
    return requireCold(segmentDirectory);
  }

  private ColdLevel requireCold(Path segmentDirectory) throws StoreUnavailableException {
    return cold.orElseThrow(
        () ->
            new StoreUnavailableException(
                segmentDirectory
                    + ": its bytes are with the cold manager, and rsm.config.cold.class.name is not"
                    + " set: set it as it was when they were moved there"));
  }

  /** Whether the cold manager is copying a segment, be it that nobody waits for it any more. */
  public boolean isCopyingToCold() {
    return cold.map(ColdLevel::isCopying).orElse(false);
  }

  KnownSegments census() {
    return census;
  }

  /** What the store may take in a level, as far as it is known. Does no I/O. */
  public long capacityBytes(int level) {
    return directories.stream()
        .filter(directory -> directory.level() == level)
        .mapToLong(StoreDirectory::capacityBytes)
        .sum();
  }

  /** Directories of the store were retired, as one of the others says. */
  void retired(Set<String> ids) {
    for (StoreDirectory directory : directories) {
      if (ids.contains(directory.identity().directoryId()) && !directory.access().isRetired()) {
        directory.retire();
      }
    }
  }

  /**
   * Whether a directory that cannot be used is left for good: it is retired, and what it had counts
   * as lost.
   */
  private boolean isLeft(StoreDirectory directory, StoreUnavailableException why) {
    if (!directory.access().isRetired()) {
      return false;
    }
    directory.access().suspend(String.valueOf(why.getMessage()));
    census.forget(directory);
    return true;
  }

  /** What the brokers note of the space that they take. */
  SharedSpace space() {
    return space;
  }

  CopyPlacement placement() {
    return placement;
  }

  String owner() {
    return owner;
  }

  /** A name in the trash that is given once. */
  String trashName() {
    return owner + "-" + trashed.incrementAndGet();
  }

  CopyBuffers buffers() {
    return buffers;
  }

  InstantSource clock() {
    return options.clock();
  }

  StoreStage.Hook stages() {
    return options.stages();
  }

  /** All segments that are known, in no particular order. */
  public List<KnownSegment> segments() {
    return census.entries();
  }

  /** What the store takes in a directory, as far as it is known. */
  public long usedBytes(StoreDirectory directory) {
    return census.usedBytes(directory);
  }

  /** The last offset that the store has of a partition, if it is known. */
  public Optional<Long> endOffset(String topicId, int partition) {
    return census.endOffset(topicId, partition);
  }

  /** Which directory a copy went to, and what its manifest says. */
  public record Copied(StoreDirectory directory, Manifest manifest) {
    /** Checks that nothing is null. */
    public Copied {
      requireNonNull(directory);
      requireNonNull(manifest);
    }
  }

  /**
   * Copies a segment into the store. When this returns, it is durable, and can be read by any
   * broker; when it throws, nothing of it can be seen.
   *
   * @param chunkBytes how the log is divided for its checksums
   * @param local what may share its bytes
   * @param pace waits for the rate limit
   * @throws StoreFullException if no level has space
   * @throws IOException if it failed
   */
  public Copied copy(
      SegmentInfo segment, LogSource source, int chunkBytes, LocalSegments local, BytePace pace)
      throws IOException, InterruptedException {
    long bytes = segment.bytes();
    // The broker's own files: the caller has a time for all of it.
    for (Path index : source.indexes().values()) {
      bytes += Files.size(index);
    }
    try (CopyPlacement.Reservation room =
        placement.reserve(bytes + source.leaderEpochs().remaining())) {
      StoreDirectory directory = room.directory();
      Manifest manifest =
          directory
              .access()
              .write(
                  "copying " + segment.key() + " to " + directory,
                  control -> copy(directory, segment, source, chunkBytes, local, pace, control));
      census.put(manifest, StoredCopy.whole(directory));
      return new Copied(directory, manifest);
    }
  }

  private Manifest copy(
      StoreDirectory directory,
      SegmentInfo segment,
      LogSource source,
      int chunkBytes,
      LocalSegments local,
      BytePace pace,
      CallControl control)
      throws IOException, InterruptedException {
    // Of this work: when nobody waits for it any more it may be using the buffer still.
    try (CopyBuffers.Lease lease = buffers.borrow(chunkBytes)) {
      SegmentCopy copy =
          new SegmentCopy(
              this,
              directory,
              segment,
              source,
              chunkBytes,
              pace.unlessGivenUp(control),
              lease.buffer());
      Manifest manifest = copy.make(local);
      if (control.givenUp()) {
        // Kafka was told that it failed, and will copy it again under another id.
        takeBack(directory, segment.key());
        throw new BytePace.CopyCancelledException("the copy came too late and was removed");
      }
      return manifest;
    }
  }

  /**
   * Publishes a whole copy. A segment that is there already is replaced: Kafka may copy again what
   * it has copied.
   */
  void publish(StoreDirectory directory, Path staged, Manifest manifest) throws IOException {
    try {
      publishNew(directory, staged, manifest);
    } catch (FileAlreadyExistsException e) {
      SegmentKey key = manifest.segment().key();
      Optional<Path> old = directory.trash(key, trashName());
      publishNew(directory, staged, manifest);
      old.ifPresent(Disk::removeTreeIfPossible);
    }
  }

  /**
   * As {@link #publish}.
   *
   * @throws FileAlreadyExistsException if the segment is there already
   */
  void publishNew(StoreDirectory directory, Path staged, Manifest manifest) throws IOException {
    SegmentKey key = manifest.segment().key();
    directory.publish(staged, key);
    checkWhole(directory.segment(key), manifest);
  }

  /**
   * Looks at what was published: a file of it may have been taken for a leftover of a dead process
   * meanwhile, by a broker whose clock is wrong.
   */
  private static void checkWhole(Path published, Manifest manifest) throws IOException {
    SegmentKey key = manifest.segment().key();
    Manifest written = ManifestCodec.read(published, key);
    for (StoredObject object : written.objects()) {
      Path file = published.resolve(object.type().fileName(key));
      if (Files.size(file) < object.bytes()) {
        throw new IOException(
            file + ": found " + Files.size(file) + " bytes, expected " + object.bytes());
      }
    }
  }

  /**
   * Takes back what could not be published as a whole, as far as that can be done; the thread's
   * interrupt does not hinder it.
   *
   * @param published whether it may have got its name already
   */
  void takeBack(StoreDirectory directory, Path staged, SegmentKey key, boolean published) {
    boolean interrupted = Thread.interrupted();
    Disk.removeTreeIfPossible(staged);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (published) {
      takeBack(directory, key);
    }
  }

  private void takeBack(StoreDirectory directory, SegmentKey key) {
    boolean interrupted = Thread.interrupted();
    try {
      directory.trash(key, trashName()).ifPresent(Disk::removeTreeIfPossible);
      directory.removeEmptyParents(key);
    } catch (IOException e) {
      // Kafka deletes it with the rest of what it did not finish, at the latest by retention.
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Segments that a move of this process is about, by their ids. */
  Set<String> inMotion() {
    return inMotion;
  }

  /** A segment that was found. */
  public record Located(StoreDirectory directory, Path path, Manifest manifest, boolean hasLog) {
    /** Checks that nothing is null. */
    public Located {
      requireNonNull(directory);
      requireNonNull(path);
      requireNonNull(manifest);
    }

    /** One of its files. */
    public Path file(ObjectType type) {
      return path.resolve(type.fileName(manifest.segment().key()));
    }
  }

  /**
   * Finds a segment on disk, in the fastest level that has its bytes.
   *
   * @return empty if no directory has it, and all can be used
   * @throws StoreUnavailableException if it was not found, and a directory that may have it cannot
   *     be used
   * @throws CorruptManifestException if it is there, and its manifest is damaged
   */
  public Optional<Located> locate(SegmentKey key) throws IOException {
    // A segment that moves between two looks is in neither: the second round finds it.
    List<Located> found = copies(key, true);
    return (found.isEmpty() ? copies(key, true) : found).stream().findFirst();
  }

  private void noteDamage(StoreDirectory directory, SegmentKey key, IOException problem) {
    if (problem instanceof CorruptManifestException) {
      damaged(directory, key, String.valueOf(problem.getMessage()));
    }
  }

  /**
   * All places that have a segment: first those with its bytes, the fastest first, those that are
   * not known to be damaged before the others; then those by which the cold manager can be asked;
   * then those with its indexes alone.
   *
   * @throws IOException if there are none, and a directory that may have one cannot be used
   */
  public List<Located> copies(SegmentKey key) throws IOException {
    return copies(key, false);
  }

  /**
   * As the other one.
   *
   * @param one whether one with its bytes, which is not known to be damaged, is enough
   */
  private List<Located> copies(SegmentKey key, boolean one) throws IOException {
    List<Located> whole = new ArrayList<>();
    List<Located> damaged = new ArrayList<>();
    List<Located> withCold = new ArrayList<>();
    List<Located> without = new ArrayList<>();
    Optional<IOException> problem = Optional.empty();
    for (StoreDirectory directory : directories) {
      try {
        Optional<Located> found = lookIn(directory, key);
        if (found.isPresent()) {
          Located copy = found.get();
          boolean isDamaged = copy.hasLog() && CopyMarks.isDamaged(copy.path());
          if (one && copy.hasLog() && !isDamaged) {
            return List.of(copy);
          }
          if (isCold(copy)) {
            withCold.add(new Located(directory, copy.path(), copy.manifest(), false));
          } else if (!copy.hasLog()) {
            without.add(copy);
          }
          if (copy.hasLog()) {
            (isDamaged ? damaged : whole).add(copy);
          }
        }
      } catch (IOException e) {
        noteDamage(directory, key, e);
        problem = problem.isPresent() ? problem : Optional.of(e);
      }
    }
    List<Located> copies = new ArrayList<>(whole);
    copies.addAll(damaged);
    copies.addAll(withCold);
    copies.addAll(without);
    if (copies.isEmpty() && problem.isPresent()) {
      throw problem.get();
    }
    return copies;
  }

  /**
   * Of two copies without the log the one by which the cold manager can be asked: a copy to it that
   * failed leaves a mark, too.
   */
  Optional<Located> betterStub(Optional<Located> first, Optional<Located> second)
      throws IOException {
    return first.isEmpty() || (second.isPresent() && isCold(second.get()) && !isCold(first.get()))
        ? second
        : first;
  }

  /**
   * Whether the configured cold manager has the bytes, by the mark of this copy. A damaged mark
   * says no and hides nothing else of the copy: whoever asks for the bytes learns of it.
   */
  private boolean isCold(Located copy) throws IOException {
    try {
      return ColdMark.isDone(copy.path(), cold.map(ColdLevel::className));
    } catch (CorruptManifestException e) {
      return false;
    }
  }

  /**
   * Reads bytes of a segment that the cold manager has.
   *
   * @param target gets as many bytes as it has space for; they must be within the segment
   * @throws StoreUnavailableException if a directory that cannot be used may have the bytes, and
   *     the cold manager does not
   * @throws NoSuchFileException if it does not, and they are not where they were
   */
  public void readCold(Located place, long position, ByteBuffer target)
      throws IOException, InterruptedException {
    Optional<ColdMark> mark;
    try {
      mark =
          place
              .directory()
              .access()
              .read("reading " + place.path().resolve(StoreNames.COLD), c -> ColdMark.find(place));
    } catch (CorruptManifestException e) {
      noteDamage(place.directory(), place.manifest().segment().key(), e);
      throw e;
    }
    if (mark.isEmpty() || !mark.get().done()) {
      throw notCold(place);
    }
    requireCold(place.path(), mark.get())
        .read(place.manifest(), mark.get().customMetadataBytes(), position, target);
  }

  /** Why a copy without the bytes was asked for them. */
  private IOException notCold(Located place) {
    SegmentKey key = place.manifest().segment().key();
    for (StoreDirectory directory : directories) {
      try {
        Optional<Located> there = lookIn(directory, key);
        if (there.isPresent() && there.get().hasLog()) {
          return new NoSuchFileException(place.file(ObjectType.LOG).toString());
        }
      } catch (IOException e) {
        return new StoreUnavailableException(
            "%s has the indexes of %s alone, and %s, which may have its bytes, cannot be used: %s"
                .formatted(place.path(), key, directory, e.getMessage()));
      }
    }
    return new NoSuchFileException(
        place.file(ObjectType.LOG).toString(),
        null,
        "is not there, and no other copy of the segment has it: check the store with"
            + " 'strata remote scrub'");
  }

  /**
   * Looks for a segment in one directory.
   *
   * @return empty if it is not there, or the directory is left for good
   * @throws StoreUnavailableException if the directory cannot be used
   */
  Optional<Located> lookIn(StoreDirectory directory, SegmentKey key) throws IOException {
    try {
      return directory
          .access()
          .read("looking for " + key + " in " + directory, control -> lookThere(directory, key));
    } catch (StoreUnavailableException e) {
      if (isLeft(directory, e)) {
        return Optional.empty();
      }
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while " + key + " was looked for");
    }
  }

  private static Optional<Located> lookThere(StoreDirectory directory, SegmentKey key)
      throws IOException {
    Path path = directory.segment(key);
    try {
      Manifest manifest = ManifestCodec.read(path, key);
      boolean hasLog = Disk.isThere(path.resolve(ObjectType.LOG.fileName(key)));
      return Optional.of(new Located(directory, path, manifest, hasLog));
    } catch (NoSuchFileException e) {
      directory.checkAvailable();
      return Optional.empty();
    }
  }

  /** As {@link #delete(SegmentInfo, Optional)}, of a segment of which no more is known. */
  public Map<StoreDirectory, Long> delete(SegmentInfo segment)
      throws IOException, InterruptedException {
    return delete(segment, Optional.empty());
  }

  /**
   * Removes a segment from all directories. When this returns, nothing of it is there.
   *
   * @param writtenTo the id of the directory that it was copied to, if that is known
   * @return how many bytes were removed, by directory
   * @throws IOException if a directory cannot be used that may have it, or is not configured here;
   *     what could be removed is
   */
  public Map<StoreDirectory, Long> delete(SegmentInfo segment, Optional<String> writtenTo)
      throws IOException, InterruptedException {
    options.stages().reached(StoreStage.DELETE_STARTED);
    Set<StoreDirectory> removed = new HashSet<>();
    Optional<KnownSegment> known = census.find(segment.key().id());
    // A move may publish where this has looked already: then it did so before its source was
    // removed, and the next pass finds it. What is published later finds no source any more.
    boolean again = true;
    while (again) {
      List<StoreDirectory> now = removeOnce(segment);
      removed.addAll(now);
      again = !now.isEmpty();
    }
    checkReach(segment.key(), writtenTo);
    return removed.stream()
        .collect(
            Collectors.toMap(d -> d, d -> known.flatMap(e -> e.in(d).map(e::bytesIn)).orElse(0L)));
  }

  /** Checks that no directory may have the segment that this broker is not configured with. */
  private void checkReach(SegmentKey key, Optional<String> writtenTo)
      throws IOException, InterruptedException {
    StoreMembers.View view = StoreMembers.NONE;
    for (StoreDirectory directory : directories) {
      if (!directory.access().isLeft()) {
        view = view.and(members(directory));
      }
    }
    Set<String> expected = new TreeSet<>(view.members());
    writtenTo.ifPresent(expected::add);
    expected.removeAll(view.retired());
    directories.forEach(directory -> expected.remove(directory.identity().directoryId()));
    if (!expected.isEmpty()) {
      throw new StoreUnavailableException(
          key
              + ": this broker is not configured with "
              + String.join(", ", expected)
              + ", which the store has or which the segment was written to, and which may have it"
              + " still: it was deleted in "
              + directories
              + " alone, and Kafka tries again. Give rsm.config.levels and its directories the"
              + " same values on all brokers. If the directory is lost, or was taken out for good,"
              + " say so: strata remote retire "
              + expected.iterator().next());
    }
  }

  private static StoreMembers.View members(StoreDirectory directory)
      throws IOException, InterruptedException {
    return directory
        .access()
        .read(
            "reading which directories " + directory + " knows",
            control -> {
              StoreMembers.View view = StoreMembers.read(directory.path());
              if (view.members().isEmpty()) {
                directory.checkAvailable(); // Not there, or not written yet.
              }
              return view;
            });
  }

  /** Looks whether one that cannot be used was retired, wherever that can be read. */
  private void learnOfRetired() throws InterruptedException {
    for (StoreDirectory directory : directories) {
      try {
        retired(members(directory).retired());
      } catch (IOException e) {
        // Another one says it, too.
      }
    }
  }

  private List<StoreDirectory> removeOnce(SegmentInfo segment)
      throws IOException, InterruptedException {
    List<StoreDirectory> removed = new ArrayList<>();
    Optional<IOException> problem = Optional.empty();
    for (StoreDirectory directory : directories) {
      if (directory.access().isLeft()) {
        continue;
      }
      try {
        if (directory
            .access()
            .write(
                "removing " + segment.key() + " from " + directory,
                control -> remove(directory, segment))) {
          removed.add(directory);
        }
      } catch (StoreUnavailableException e) {
        learnOfRetired();
        if (!isLeft(directory, e)) {
          problem = problem.isPresent() ? problem : Optional.of(e);
        }
      } catch (IOException e) {
        problem = problem.isPresent() ? problem : Optional.of(e);
      }
    }
    if (problem.isPresent()) {
      throw problem.get();
    }
    return removed;
  }

  private boolean remove(StoreDirectory directory, SegmentInfo segment)
      throws IOException, InterruptedException {
    SegmentKey key = segment.key();
    Path place = directory.segment(key);
    markGoing(place);
    // Before the mark of it goes: a deletion that fails here is repeated by Kafka.
    deleteCold(place, segment);
    Optional<Path> trashed = directory.trash(key, trashName());
    census.remove(key.id(), directory);
    if (trashed.isPresent()) {
      options.stages().reached(StoreStage.DELETE_TRASHED);
      Disk.removeTreeIfPossible(trashed.get());
      options.stages().reached(StoreStage.DELETE_EMPTIED);
    }
    directory.removeEmptyParents(key);
    return trashed.isPresent();
  }

  /** Begins nothing in its directories any more. */
  @Override
  public void close() {
    directories.forEach(directory -> directory.access().close());
  }

  /**
   * Before the look for what the cold manager has: a copy to it that begins later sees this mark,
   * and one that began before is seen by its own.
   */
  private static void markGoing(Path place) {
    try {
      CopyMarks.going(place);
    } catch (IOException e) {
      // It is not there; or the disk is full or fails, and the deletion goes on as far as it can.
      return;
    }
  }

  /**
   * Has the cold manager delete what it has of a segment, or may have. What Kafka says of the
   * segment is enough for that: a damaged manifest, or a damaged mark, keeps no segment for ever.
   */
  private void deleteCold(Path place, SegmentInfo segment)
      throws IOException, InterruptedException {
    if (!Disk.isThere(place.resolve(StoreNames.COLD))) {
      return;
    }
    ColdLevel manager;
    Optional<byte[]> custom = Optional.empty();
    try {
      ColdMark mark = ColdMark.read(place);
      manager = requireCold(place, mark);
      custom = mark.customMetadataBytes();
    } catch (CorruptManifestException e) {
      manager = requireCold(place);
    } catch (NoSuchFileException e) {
      return; // Another deletion has been faster.
    }
    manager.delete(segment, custom);
  }

  /**
   * A copy was found not to be what its manifest says: that is noted beside it, if it can be, until
   * it is repaired.
   *
   * @param finding the whole sentence
   */
  public void damaged(StoreDirectory directory, SegmentKey key, String finding) {
    try {
      boolean unused =
          directory
              .access()
              .brief(
                  "noting damage of " + key + " in " + directory,
                  control -> {
                    CopyMarks.damaged(directory.segment(key), finding);
                    return true;
                  });
    } catch (IOException e) {
      // It was deleted just now, or cannot be written to: whoever relies on a copy reads it first.
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    census.change(key.id(), directory, copy -> copy.withDamage(true));
  }
}
