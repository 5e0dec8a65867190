package io.strata.kafka.tier;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.StrataConfig.AckDurability;
import io.strata.kafka.config.StrataConfig.SpillForce;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.SegmentSettings;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.KafkaLocks;
import io.strata.kafka.tier.directory.LogDirectories;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.LogDirectoryFailure;
import io.strata.kafka.tier.directory.Moments;
import io.strata.kafka.tier.directory.NewestLogFiles;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.PoolSet.PoolTier;
import io.strata.kafka.tier.directory.SegmentFiles;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.durable.BackgroundWork;
import io.strata.kafka.tier.durable.DurableNames;
import io.strata.kafka.tier.durable.ModificationTimes;
import io.strata.kafka.tier.durable.PrecedingLogFile;
import io.strata.kafka.tier.durable.SlotRelease;
import io.strata.kafka.tier.durable.UnsyncedRenames;
import io.strata.kafka.tier.durable.WholeLogFiles;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.moves.TierFigures;
import io.strata.kafka.tier.moves.TierMoves;
import io.strata.kafka.tier.moves.TierState;
import io.strata.kafka.tier.space.EmptySegments;
import io.strata.kafka.tier.space.PoolForcer;
import io.strata.kafka.tier.space.PoolSpace;
import io.strata.kafka.tier.spec.FailureText;
import io.strata.kafka.tier.spec.RecoveryReport;
import io.strata.kafka.tier.spec.TierCounts;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import io.strata.kafka.tier.start.LostPools;
import io.strata.kafka.tier.start.MissingLogFiles;
import io.strata.kafka.tier.start.MissingPools;
import io.strata.kafka.tier.start.Recovery;
import io.strata.kafka.tier.start.Trial;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.CopyOption;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The tier of a broker whose pools are open for writing: what is in the pools, and what happens to
 * it by way of the segments' files.
 *
 * <p>A file is hot when its extended attribute ({@link SegmentTag}) names a slot; its path never
 * decides that. The order of what is stored is that of the commit rules (docs/design/pool.md).
 *
 * <p>Thread safety: all methods may be called by any thread. Creation, deletion and renaming of one
 * name are serialised by {@link LogFileNames}; reading and appending take none of these locks.
 */
public final class HotTier implements SegmentFiles, AutoCloseable {

  /**
   * Interval in which the modification time of a hot segment's log file follows its appends. Kafka
   * reads that time past the provider, for records without a timestamp and for {@code
   * kafka-log-dirs.sh}.
   */
  private static final long MTIME_MILLIS = 1000;

  /** How long a broker runs before what its start has missed counts as removed. */
  static final long MISSING_MILLIS = 600_000;

  private static final long RESERVE_MILLIS = 200;
  private static final long RELEASE_MILLIS = 5000;

  private final TierCounts counts;
  private final PoolSet pools;
  private final LogDirectories logDirectories;
  private final Moments moments;

  /** The log directories whose moments no longer move on. */
  private final Set<UUID> stopped = ConcurrentHashMap.newKeySet();

  private final SegmentRegistry registry;
  private final UnsyncedRenames unsynced;

  /**
   * True if an append in a log file, or in a pool that needs a force, is forced before it is
   * acknowledged.
   */
  private volatile boolean forcesAppends;

  private final AckDurability durability;

  /** Log directories in which bytes acknowledged unforced could not be forced since. */
  private final Set<Path> unforced = ConcurrentHashMap.newKeySet();

  private volatile Predicate<SegmentName> wanted;

  private final SegmentFactory factory;
  private final LogFileNames names;
  private final BackgroundWork work;
  private final DurableNames durable;
  private final SlotRelease release;
  private final ModificationTimes times;
  private final PoolForcer poolForcer;
  private final PoolSpace space;
  private final SegmentFinder segments;
  private final Placement placement;
  private final Renames renames;
  private final TierMoves moves;
  private final EmptySegments empties;
  private RecoveryReport recovered = RecoveryReport.NONE;

  /** The slots of log files that the start has missed. */
  private List<Slot> missing = List.of();

  private HotTier(
      TierSpec spec,
      TierEvents events,
      SegmentEvents segmentEvents,
      PoolSet pools,
      LogDirectories logDirectories,
      TierParts parts) {
    this.counts = new TierCounts(events, pools.tiers().size(), pools::tierOf);
    this.pools = pools;
    this.logDirectories = logDirectories;
    this.moments = new Moments(pools, System::currentTimeMillis);
    this.registry = new SegmentRegistry();
    this.unsynced =
        new UnsyncedRenames(
            pools.all().stream().anyMatch(pool -> pool.memory().durability().survivesReboot()));
    this.durability = spec.config().durability();
    PrecedingLogFile preceding = new PrecedingLogFile(forcesBy(SpillForce.AUTO), registry);
    this.names = new LogFileNames(registry);
    this.work = new BackgroundWork(counts, logDirectories, parts);
    this.durable = new DurableNames(registry, names, unsynced, preceding, work);
    this.release = new SlotRelease(registry, names, unsynced, work);
    this.times = new ModificationTimes(registry, names, counts, work);
    WholeLogFiles wholes = new WholeLogFiles(names, work);
    this.poolForcer = new PoolForcer(registry, counts);
    this.space = new PoolSpace(pools, spec.config().migration().thresholds(), release, counts);
    this.wanted = spec.placement();
    this.forcesAppends = forcesBy(spec.config().spillForce());
    this.factory =
        new SegmentFactory(
            new SegmentSettings(this::forcesAppends, InstantSource.system(), space),
            segmentEvents,
            events,
            counts,
            registry,
            times,
            unsynced,
            durable,
            release,
            wholes,
            work::disk);
    this.segments =
        new SegmentFinder(pools, logDirectories, this::mayBeHot, registry, names, factory);
    this.placement =
        new Placement(
            pools,
            logDirectories,
            this::mayBeHot,
            registry,
            segments,
            durable,
            unsynced,
            preceding,
            space,
            counts);
    this.empties = new EmptySegments(pools, registry, names, release, work);
    this.renames = new Renames(names, registry, segments, durable, release, this::forcesAppends);
    this.moves =
        new TierMoves(
            pools,
            logDirectories,
            durable,
            release,
            times,
            space,
            empties,
            new TierState(
                pools,
                registry,
                this::mayBeHot,
                logDirectories.forcedPlacement(),
                wholes::settleSoon,
                InstantSource.system()),
            spec.moveHook());
  }

  /**
   * Opens a broker's tier: creates the pools that the configuration wants created, then opens all
   * as {@link #open} does. Changes nothing while another broker runs on a log directory.
   *
   * @throws IOException as {@link #open}; the pools that were created are removed then, unless a
   *     log directory refers to them by now
   */
  public static HotTier start(TierSpec spec, TierEvents events, SegmentEvents segmentEvents)
      throws IOException {
    refuseMemory(spec);
    KafkaLocks.requireFree(spec.logDirectories());
    List<Path> created = new ArrayList<>();
    try {
      MissingPools.create(spec, events, created, TierParts.STANDARD.pools());
      return open(spec, events, segmentEvents);
    } catch (IOException | RuntimeException e) {
      MissingPools.remove(spec, created, e);
      throw e;
    }
  }

  private static void refuseMemory(TierSpec spec) throws IOException {
    for (Path file : spec.pools()) {
      Optional<String> refusal = spec.config().poolType(file).refusal(file);
      if (refusal.isPresent()) {
        throw FailureText.at(file, refusal.get());
      }
    }
  }

  /**
   * Opens the pools for writing, and brings them and the log directories into agreement.
   *
   * @param segmentEvents is notified of every append and read
   * @throws IOException if a pool or a log directory must be refused; the message names it, what
   *     was found and expected, and what to do. Nothing has been dropped then.
   */
  public static HotTier open(TierSpec spec, TierEvents events, SegmentEvents segmentEvents)
      throws IOException {
    return open(spec, events, segmentEvents, TierParts.STANDARD);
  }

  /** As {@link #open(TierSpec, TierEvents, SegmentEvents)}, with other parts. */
  public static HotTier open(
      TierSpec spec, TierEvents events, SegmentEvents segmentEvents, TierParts parts)
      throws IOException {
    return open(spec, events, segmentEvents, parts, false);
  }

  /**
   * As {@link #open(TierSpec, TierEvents, SegmentEvents)}, for what is no start of a broker: keeps
   * the slots of all log files that are missing.
   */
  public static HotTier openToDrain(TierSpec spec, TierEvents events, TierParts parts)
      throws IOException {
    return open(spec, events, SegmentEvents.NONE, parts, true);
  }

  private static HotTier open(
      TierSpec spec,
      TierEvents events,
      SegmentEvents segmentEvents,
      TierParts parts,
      boolean keepsMissing)
      throws IOException {
    Moments.refuseOthers(spec);
    PoolSet pools = openPools(spec, events, parts.pools());
    try {
      LogDirectories directories = LogDirectories.open(spec, pools.paths(), events, parts.pools());
      HotTier tier = new HotTier(spec, events, segmentEvents, pools, directories, parts);
      tier.recover(events, keepsMissing);
      return tier;
    } catch (IOException | RuntimeException | Error e) {
      try {
        pools.close();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /**
   * Returns why {@link #start} would refuse these pools and log directories; empty if it would not.
   * Does what a start does until the first thing is changed, and changes nothing. No broker may run
   * on them.
   *
   * @param found is given the log files that are missing, if it would not
   */
  public static Optional<IOException> refusal(TierSpec spec, Consumer<MissingLogFiles> found) {
    Trial trial = new Trial();
    try {
      refuseMemory(spec);
      MissingPools.create(spec, TierEvents.NONE, new ArrayList<>(), trial);
      return refusal(spec, trial, found);
    } catch (IOException e) {
      return Optional.of(e);
    }
  }

  /**
   * Returns why {@link #open} would refuse these pools and log directories, as {@link
   * #refusal(TierSpec, Consumer)} does of a start.
   */
  public static Optional<IOException> refusalToOpen(TierSpec spec) {
    return refusal(spec, new Trial(), found -> {});
  }

  private static Optional<IOException> refusal(
      TierSpec spec, Trial trial, Consumer<MissingLogFiles> found) {
    try {
      Moments.refuseOthers(spec);
      PoolSet pools = openPools(spec, TierEvents.NONE, trial);
      try {
        found.accept(
            refuse(pools, LogDirectories.open(spec, pools.paths(), TierEvents.NONE, trial)));
      } finally {
        pools.close();
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(e);
    }
  }

  private static MissingLogFiles refuse(PoolSet pools, LogDirectories directories)
      throws IOException {
    while (true) {
      try {
        return Recovery.refuse(pools, directories, new Moments(pools, System::currentTimeMillis));
      } catch (LogDirectoryFailure e) {
        directories.skip(e.directory(), String.valueOf(e.getMessage()));
      }
    }
  }

  private void recover(TierEvents events, boolean keepsMissing) throws IOException {
    if (forcesAppends) {
      NewestLogFiles.forceIn(logDirectories);
    }
    recovered = recoverWithoutFailures(keepsMissing);
    // Before anything is appended: what is acknowledged from here on is in no older copy.
    logDirectories.recordPools(
        pools.all().stream().map(pool -> pool.info().id()).toList(), moments);
    events.recovered(recovered);
    for (TieredSegment segment : registry.all()) {
      makeDurable(segment);
      space.becameClean(segment);
    }
    pools.all().forEach(Pool::keepPagesPresent);
    settleRenamesOfBefore();
    for (BackgroundWork.Lane lane : work.lanes()) {
      work.every(MTIME_MILLIS, lane, "refresh modification times", () -> times.refresh(lane));
    }
    for (LogDirectory directory : logDirectories.all()) {
      work.every(
          Moments.INTERVAL_MILLIS,
          work.of(directory.path()),
          "record the moment of " + directory.path(),
          () -> moveOn(directory));
    }
    work.every(
        EmptySegments.INTERVAL_MILLIS, work.pools(), "keep slots free in the pools", empties::look);
    work.every(PoolForcer.INTERVAL_MILLIS, work.pools(), "force the pools", poolForcer::run);
    List<Pool> forced =
        pools.all().stream().filter(pool -> pool.memory().durability().needsForce()).toList();
    if (!forced.isEmpty()) {
      work.every(
          RESERVE_MILLIS,
          work.pools(),
          "keep space free in the pools",
          () -> space.keepReserve(forced));
      work.every(
          RELEASE_MILLIS,
          work.pools(),
          "give back what could not be given back before",
          () -> forced.forEach(HotTier::releaseAgain));
    }
  }

  /**
   * Flags the slots whose log files the start has missed. The background does so when a broker has
   * run for {@link #MISSING_MILLIS} with its logs: a broker that something else ends at once, again
   * and again, must not free them. Also for tests, whose brokers run for a shorter time.
   */
  public void noteMissing() {
    try {
      for (Slot slot : missing) {
        if (!slot.has(SlotFlag.ORPHANED)) {
          slot.set(SlotFlag.ORPHANED);
        }
      }
    } catch (IOException e) {
      counts.failed("note which log files are missing", e);
    }
  }

  private static void releaseAgain(Pool pool) {
    try {
      pool.releaseAgain();
    } catch (IOException again) {
      return; // The first failure was reported.
    }
  }

  /**
   * The process before this one may have been killed after a rename; see {@link UnsyncedRenames}.
   */
  private void settleRenamesOfBefore() {
    for (LogDirectory directory : logDirectories.all()) {
      try {
        List<Path> partitions = NewestLogFiles.partitions(directory.path());
        durable.settleSoon(unsynced.found(directory.path(), partitions));
      } catch (IOException e) {
        // Its directories stay unknown, and a change of a segment there forces them first.
        counts.failed("list the partitions in " + directory.path(), e);
      }
    }
  }

  /** A log directory that fails, or cannot be marked, is skipped, as Kafka runs without it. */
  private RecoveryReport recoverWithoutFailures(boolean keepsMissing) throws IOException {
    while (true) {
      try {
        Recovery recovery =
            new Recovery(pools, logDirectories, moments, registry, factory::inPool, keepsMissing);
        RecoveryReport report = recovery.run();
        logDirectories.mark();
        missing = recovery.missing();
        return report;
      } catch (LogDirectoryFailure e) {
        logDirectories.skip(e.directory(), String.valueOf(e.getMessage()));
        registry.clear();
      }
    }
  }

  /**
   * Before Kafka loads the logs: what it then deletes past the provider must not be restored at the
   * next start.
   */
  private void makeDurable(TieredSegment segment) {
    try {
      durable.makeDurableIfThere(segment);
    } catch (Directories.ForceFailedException e) {
      counts.failed("make durable the directory entry of " + segment.logFile(), e);
    } catch (IOException e) {
      counts.failed("make durable the directory entry of " + segment.logFile(), e);
      durable.makeDurableLater(segment);
    }
  }

  private static PoolSet openPools(TierSpec spec, TierEvents events, TierParts.PoolOpening opening)
      throws IOException {
    try {
      return PoolSet.open(spec, events, opening);
    } catch (PoolException e) {
      throw e.kind() == PoolException.Kind.MISSING ? LostPools.explain(e, spec) : e;
    }
  }

  @Override
  @SuppressWarnings("try") // what is held is only to be released
  public Optional<FileChannel> open(
      Path file, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    Optional<Path> located = Directories.located(file);
    if (located.isEmpty()) {
      return Optional.empty();
    }
    Path name = located.get();
    boolean mayBePlaced = placement.forcePreceding(name, options);
    try (LogFileNames.Held held = names.lock(name)) {
      Optional<TieredSegment> known = segments.findHot(name);
      if (known.isPresent()) {
        if (options.contains(StandardOpenOption.CREATE_NEW)) {
          throw new FileAlreadyExistsException(file.toString());
        }
        return Optional.of(segments.openHot(known.get(), name, options));
      }
      deleteReplaced(name);
      Placement.Placed placed =
          segments.findInLogFile(name).isPresent()
              ? Placement.Placed.NO
              : placement.open(name, mayBePlaced, options, attributes);
      if (placed.channel().isPresent()) {
        return placed.channel();
      }
      Optional<FileChannel> opened = segments.openInLogFile(name, options, attributes);
      if (placed.refused() && opened.isPresent()) {
        segments.findInLogFile(name).ifPresent(this::goesOnInItsLogFile);
      }
      return opened;
    }
  }

  /**
   * Deletes a segment whose log file Kafka has replaced past the provider: while it loads the logs
   * it puts what a compaction had written, when the broker was killed, in the place of what that
   * was made of. The next start would take the new file for the segment's, without its tag.
   */
  private void deleteReplaced(Path name) throws IOException {
    if (moves.mayMove()) {
      return;
    }
    Path directory = Directories.of(name);
    for (TieredSegment known : registry.in(directory)) {
      if (known.inPool()
          && known.logFile().equals(name)
          && FileStatus.isThere(name)
          && !LogFileNames.leadsTo(name, known)) {
        // First: with the replacement undone the segment must be whole.
        durable.forceDirectory(directory);
        known.segment().markDeleting();
        release.freeAfterUnlink(known, directory);
      }
    }
  }

  private void goesOnInItsLogFile(TieredSegment segment) {
    segment.refuse();
    if (forcesAppends) {
      durable.forceNameLater(segment);
    }
  }

  @Override
  public OptionalLong size(Path file) throws IOException {
    Optional<TieredSegment> known = segments.findHot(file);
    return known.isPresent() ? OptionalLong.of(known.get().segment().size()) : OptionalLong.empty();
  }

  @Override
  public Optional<FileTime> lastModified(Path file) throws IOException {
    Optional<TieredSegment> known = segments.findHot(file);
    if (known.isEmpty()) {
      return Optional.empty();
    }
    times.refresh(known.get());
    return Optional.of(Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS));
  }

  @Override
  public boolean setLastModified(Path file, FileTime time) throws IOException {
    Optional<TieredSegment> known = segments.findHot(file);
    if (known.isEmpty()) {
      return false;
    }
    long before = known.get().segment().lastChangeMillis();
    Files.setLastModifiedTime(file, time);
    known.get().shows(before);
    return true;
  }

  @Override
  @SuppressWarnings("try") // what is held is only to be released
  public boolean delete(Path file) throws IOException {
    Optional<Path> located = Directories.located(file);
    if (located.isEmpty()) {
      return false;
    }
    Path name = located.get();
    try (LogFileNames.Held held = names.lock(name)) {
      if (segments.isOther(name)) {
        return false;
      }
      Optional<TieredSegment> known = segments.findHot(name);
      Path directory = name.getParent();
      if (directory == null || !Files.isWritable(directory)) {
        // The JDK will say why it cannot be deleted.
        return false;
      }
      if (known.isEmpty()) {
        Optional<TieredSegment> inLogFile = segments.findInLogFile(name);
        if (inLogFile.isPresent() && LogFileNames.isOtherName(name, inLogFile.get())) {
          return false;
        }
        if (inLogFile.isPresent()) {
          Files.delete(name);
          inLogFile.get().segment().markDeleting();
          release.freeAfterUnlink(inLogFile.get(), directory);
        }
        return inLogFile.isPresent();
      }
      unsynced.settleReplacements(name);
      known.get().segment().markDeleting();
      Files.delete(name);
      release.freeAfterUnlink(known.get(), directory);
      return true;
    }
  }

  @Override
  @SuppressWarnings("try") // what is held is only to be released
  public boolean move(Path source, Path target, CopyOption... options) throws IOException {
    Optional<Path> from = Directories.located(source);
    Optional<Path> to = Directories.located(target);
    if (from.isEmpty() || to.isEmpty()) {
      return false;
    }
    // Files that are not ours are renamed here too: that has to be durable before what comes next.
    if (FileStatus.isDirectory(from.get(), LinkOption.NOFOLLOW_LINKS)) {
      unsynced.directoryRenamed(from.get(), to.get());
      if (!renames.directory(from.get(), to.get(), options)) {
        Files.move(source, target, options);
      }
      unsynced.directoryRenamed(from.get(), to.get());
    } else {
      boolean last = !registry.hasRecordsBehind(from.get());
      unsynced.fileRenamed(from.get(), to.get(), last);
      try (LogFileNames.Held held = names.lock(from.get(), to.get())) {
        if (!renames.file(from.get(), to.get(), options)) {
          Files.move(source, target, options);
        }
      }
      unsynced.fileRenamed(from.get(), to.get(), last);
    }
    durable.settleSoon(unsynced.directoriesOf(from.get(), to.get()));
    return true;
  }

  @Override
  public void logsLoaded() {
    boolean first = !moves.mayMove();
    moves.logsLoaded();
    if (first && !missing.isEmpty()) {
      work.every(
          MISSING_MILLIS, work.pools(), "note which log files are missing", this::noteMissing);
    }
  }

  boolean forcesAppends() {
    return forcesAppends;
  }

  private boolean forcesBy(SpillForce spillForce) {
    return spillForce.forces(durability, pools.durableOnPersist());
  }

  private boolean mayBeHot(SegmentName segment) {
    return wanted.test(segment);
  }

  /** Works by what the operator has changed on the live broker. */
  public void reconfigure(StrataConfig settings) {
    wanted = settings.placement();
    space.scarcity().thresholds(settings.migration().thresholds());
    moves.lookAgain();
    forceAppends(forcesBy(settings.spillForce()));
  }

  /**
   * Forces what spills, or stops to, from the next append on. Records that were acknowledged
   * unforced are forced in the background, since Kafka may acknowledge it once more without an
   * append.
   */
  void forceAppends(boolean now) {
    boolean before = forcesAppends;
    forcesAppends = now;
    if (!forcesAppends) {
      unforced.clear();
    } else if (!before) {
      for (LogDirectory directory : logDirectories.all()) {
        work.soon(
            directory.path(),
            "force the newest log files in " + directory.path(),
            () -> forceNewest(directory.path()));
      }
    }
  }

  private void forceNewest(Path logDirectory) throws IOException {
    try {
      NewestLogFiles.force(logDirectory);
    } catch (IOException e) {
      unforced.add(logDirectory);
      throw e;
    }
  }

  /**
   * The log directories whose newest files could not be forced when appends were to be forced from
   * then on: acknowledged records there may not survive a power failure. They stay named until the
   * restart: the kernel reports a failed force once, so that a second one that succeeds proves
   * nothing.
   */
  public List<Path> unforcedLogDirectories() {
    return unforced.stream().sorted().toList();
  }

  /** Returns what recovery found when the tier was opened. */
  public RecoveryReport recoveryReport() {
    return recovered;
  }

  /** Returns what the tier has counted since it was opened. */
  public TierCounts counts() {
    return counts;
  }

  /** The tiers' names, fastest first, the log directories excepted. */
  public List<String> tierNames() {
    return pools.tiers().stream().map(PoolTier::name).toList();
  }

  /** Returns what the migration engine moves. */
  public TieredSegments tieredSegments() {
    return moves;
  }

  /** The pools, in the configuration's order. */
  public List<Pool> pools() {
    return pools.all();
  }

  /**
   * Returns what is where, as sums. Costs time for the segments that have changed since the last
   * call.
   */
  public TierFigures figures() {
    return moves.figures();
  }

  /**
   * Returns whether appends that spill are not forced, though acknowledged records of the pools
   * survive a power failure without a force.
   */
  public boolean spillsUnforced() {
    return !forcesAppends && pools.durableOnPersist();
  }

  /**
   * The pools that were used on DAX before and are not on it now, where the configuration does not
   * say that they are to be of type {@code file}.
   */
  public List<Path> daxLost() {
    return pools.daxLost();
  }

  /** The log directories that were skipped when the tier was opened, each with the reason. */
  public List<String> skippedLogDirectories() {
    return logDirectories.skippedReasons();
  }

  /**
   * Brings every log file's modification time up to date with its last append; a disk that hangs is
   * waited for ten seconds.
   */
  public void refreshModificationTimes() {
    await(refreshTimesSoon());
  }

  /**
   * Kafka has closed its logs, and the process ends: has the next start refuse what was copied
   * before. A disk that hangs is waited for ten seconds.
   */
  public void noteEnd() {
    await(noteEndSoon());
  }

  /** Counts down when the work has ended, however it did. */
  private static BackgroundWork.Work counted(CountDownLatch ended, BackgroundWork.Work work) {
    return () -> {
      try {
        work.run();
      } finally {
        ended.countDown();
      }
    };
  }

  private static void await(CountDownLatch done) {
    try {
      boolean unused = done.await(BackgroundWork.CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** On each disk's own thread. */
  private CountDownLatch refreshTimesSoon() {
    List<BackgroundWork.Lane> lanes = work.lanes();
    CountDownLatch refreshed = new CountDownLatch(lanes.size());
    for (BackgroundWork.Lane lane : lanes) {
      work.soon(
          lane, "refresh modification times", counted(refreshed, () -> times.refreshAll(lane)));
    }
    return refreshed;
  }

  ModificationTimes modificationTimes() {
    return times;
  }

  public Collection<TieredSegment> segments() {
    return registry.inPools();
  }

  public SegmentRegistry registry() {
    return registry;
  }

  public LogDirectories logDirectories() {
    return logDirectories;
  }

  public LogFileNames names() {
    return names;
  }

  public BackgroundWork backgroundWork() {
    return work;
  }

  public DurableNames durableNames() {
    return durable;
  }

  public EmptySegments emptySegments() {
    return empties;
  }

  PoolForcer poolForcer() {
    return poolForcer;
  }

  /** Closes the pools, ten seconds later if a disk hangs. */
  @Override
  public void close() throws IOException {
    CountDownLatch unused = refreshTimesSoon();
    try {
      // Has the tags say which log files are whole.
      TierFigures unusedToo = figures();
      CountDownLatch unusedEnd = noteEndSoon();
    } finally {
      work.close();
      pools.close();
    }
  }

  private CountDownLatch noteEndSoon() {
    List<LogDirectory> all = List.copyOf(logDirectories.all());
    CountDownLatch noted = new CountDownLatch(all.size());
    for (LogDirectory directory : all) {
      work.soon(
          directory.path(),
          "record the moment of " + directory.path(),
          counted(noted, () -> moveOn(directory)));
    }
    return noted;
  }

  /** Removes what Strata keeps on a log directory, for good. */
  public void release(LogDirectory directory) throws IOException {
    stopped.add(directory.id());
    moments.end(directory);
  }

  /** Takes a log directory and the pools on to another moment. */
  public void moveOn(LogDirectory directory) {
    if (stopped.contains(directory.id())) {
      return;
    }
    String what = "record the moment of " + directory.path();
    try {
      moments.refuseReplaced(directory);
    } catch (IOException e) {
      counts.failed(what, e);
      return;
    }
    try {
      moments.advance(directory);
    } catch (IOException e) {
      // A later force that succeeds proves nothing: what it has stays permitted until the restart.
      stopped.add(directory.id());
      counts.failed(what, e);
    }
  }
}
