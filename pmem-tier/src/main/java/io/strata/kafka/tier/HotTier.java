package io.strata.kafka.tier;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.migration.TieredSegments;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolException;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.CopyOption;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The tier of a broker whose pools are open for writing: what is in the pools, and what happens to
 * it by way of the segments' files.
 *
 * <p>A file is hot when its extended attribute ({@link SegmentTag}) names a slot; its path never
 * decides that. The order of what is stored is that of the commit rules (docs/design/pool.md).
 *
 * <p>Thread safety: all methods may be called by any thread. Creation, deletion and renaming of one
 * name are serialised by {@link PathLocks}; reading and appending take none of these locks.
 */
public final class HotTier implements SegmentFiles, AutoCloseable {

  private static final long RESERVE_MILLIS = 200;

  /** What the channel of a segment at home knows how to do; the JDK's own has the rest. */
  private static final Set<OpenOption> OPTIONS_AT_HOME =
      Set.of(
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          StandardOpenOption.APPEND,
          StandardOpenOption.CREATE,
          StandardOpenOption.TRUNCATE_EXISTING,
          StandardOpenOption.SPARSE,
          StandardOpenOption.SYNC,
          StandardOpenOption.DSYNC);

  private final TierSpec spec;
  private final TierCounts counts;
  private final PoolSet pools;
  private final LogDirectories logDirectories;
  private final SegmentRegistry registry;
  private final SegmentFactory factory;
  private final HomeNames names;
  private final HomeKeeper keeper;
  private final Traffic traffic;
  private final PressureRoom room;
  private final TierMoves moves;
  private RecoveryReport recovered = RecoveryReport.NONE;

  private HotTier(
      TierSpec spec,
      TierEvents events,
      SegmentEvents segmentEvents,
      PoolSet pools,
      LogDirectories logDirectories) {
    this.spec = spec;
    this.counts = new TierCounts(events);
    this.pools = pools;
    this.logDirectories = logDirectories;
    this.registry = new SegmentRegistry();
    this.names = new HomeNames();
    this.traffic = new Traffic(pools);
    this.keeper = new HomeKeeper(registry, names, counts);
    this.room = new PressureRoom(new CleanSegments(), traffic, keeper);
    this.factory =
        new SegmentFactory(
            spec.config().forcesSpills(pools.survivesPowerCut()),
            room,
            segmentEvents,
            events,
            traffic,
            new SegmentNotice.Listener() {
              @Override
              public void madeDirty(TieredSegment segment) {
                segment.takeLower().ifPresent(copy -> keeper.dropLowerLater(segment, copy));
              }

              @Override
              public void truncating(TieredSegment segment) throws IOException {
                // A tag that an eviction has left behind says that home is whole: that must not be
                // doubted for its being short.
                if (segment.atHome() && segment.tagged()) {
                  keeper.settleTag(segment);
                }
              }

              @Override
              public void idle(TieredSegment segment) {
                if (segment.atHome()) {
                  registry.removeIfIdle(segment);
                }
              }
            });
    this.moves =
        new TierMoves(
            pools,
            logDirectories,
            registry,
            names,
            keeper,
            room,
            spec.placement(),
            spec.moveHook());
  }

  /**
   * Opens the pools for writing, and brings them and the log directories into agreement.
   *
   * @param segmentEvents told of every append and read
   * @throws IOException if a pool or a log directory must be refused; the message names it, what
   *     was found and expected, and what to do. Nothing has been dropped then.
   */
  public static HotTier open(TierSpec spec, TierEvents events, SegmentEvents segmentEvents)
      throws IOException {
    PoolSet pools = openPools(spec, events);
    try {
      LogDirectories directories = LogDirectories.open(spec, pools.paths(), events);
      HotTier tier = new HotTier(spec, events, segmentEvents, pools, directories);
      tier.recover(events);
      return tier;
    } catch (IOException | RuntimeException e) {
      try {
        pools.close();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  private void recover(TierEvents events) throws IOException {
    recovered = new Recovery(pools, logDirectories, registry, factory).run();
    logDirectories.recordPools();
    events.recovered(recovered);
    for (TieredSegment segment : registry.all()) {
      keeper.makeDurableLater(segment);
      room.becameClean(segment);
    }
    keeper.start(spec.config().homeMtimeInterval().toMillis());
    keeper.every(RESERVE_MILLIS, () -> room.keepReserve(pools));
  }

  private static PoolSet openPools(TierSpec spec, TierEvents events) throws IOException {
    try {
      return PoolSet.open(spec, events);
    } catch (PoolException e) {
      throw e.kind() == PoolException.Kind.MISSING ? LostPools.explain(e, spec) : e;
    }
  }

  @Override
  @SuppressWarnings("try") // what is held is only to be released
  public Optional<FileChannel> open(
      Path file, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    Optional<Path> located = locate(file);
    if (located.isEmpty()) {
      return Optional.empty();
    }
    Path name = located.get();
    try (PathLocks.Held held = names.lock(name)) {
      Optional<TieredSegment> hot = find(name);
      if (hot.isPresent()) {
        if (options.contains(StandardOpenOption.CREATE_NEW)) {
          throw new FileAlreadyExistsException(file.toString());
        }
        return Optional.of(openHot(hot.get(), name, options));
      }
      Optional<SegmentPlace> place =
          findAtHome(name).isPresent() ? Optional.empty() : placeFor(name, options);
      if (place.isPresent()) {
        Optional<FileChannel> placed = place(place.get(), options, attributes);
        if (placed.isPresent()) {
          return placed;
        }
        moves.sealedOrFull();
      }
      return openAtHome(name, options, attributes);
    }
  }

  @Override
  public OptionalLong size(Path file) throws IOException {
    Optional<TieredSegment> hot = find(file);
    return hot.isPresent() ? OptionalLong.of(hot.get().segment().size()) : OptionalLong.empty();
  }

  @Override
  public Optional<FileTime> lastModified(Path file) throws IOException {
    Optional<TieredSegment> hot = find(file);
    if (hot.isEmpty()) {
      return Optional.empty();
    }
    keeper.refreshModificationTime(hot.get());
    return Optional.of(Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS));
  }

  @Override
  public boolean setLastModified(Path file, FileTime time) throws IOException {
    Optional<TieredSegment> hot = find(file);
    if (hot.isEmpty()) {
      return false;
    }
    hot.get().takeChange();
    Files.setLastModifiedTime(file, time);
    return true;
  }

  @Override
  @SuppressWarnings("try") // what is held is only to be released
  public boolean delete(Path file) throws IOException {
    Optional<Path> located = locate(file);
    if (located.isEmpty()) {
      return false;
    }
    Path name = located.get();
    try (PathLocks.Held held = names.lock(name)) {
      Optional<TieredSegment> hot = find(name);
      Path directory = name.getParent();
      if (directory == null || !Files.isWritable(directory)) {
        // The JDK will say why it cannot be deleted.
        return false;
      }
      if (hot.isEmpty()) {
        Optional<TieredSegment> cold = findAtHome(name);
        if (cold.isPresent()) {
          Files.delete(name);
          cold.get().segment().markDeleting();
          registry.remove(cold.get());
        }
        return cold.isPresent();
      }
      hot.get().segment().markDeleting();
      Files.delete(name);
      registry.remove(hot.get());
      keeper.freeAfterUnlink(hot.get(), directory);
      return true;
    }
  }

  @Override
  @SuppressWarnings("try") // what is held is only to be released
  public boolean move(Path source, Path target, CopyOption... options) throws IOException {
    Optional<Path> from = locate(source);
    Optional<Path> to = locate(target);
    if (from.isEmpty() || to.isEmpty()) {
      return false;
    }
    if (Files.isDirectory(from.get(), LinkOption.NOFOLLOW_LINKS)) {
      return moveDirectory(from.get(), to.get(), options);
    }
    try (PathLocks.Held held = names.lock(from.get(), to.get())) {
      return moveFile(from.get(), to.get(), options);
    }
  }

  /** What recovery found when the tier was opened. */
  public RecoveryReport recoveryReport() {
    return recovered;
  }

  /** What the tier has counted since it was opened. */
  public TierCounts counts() {
    return counts;
  }

  /** What has gone through each tier since it was opened. */
  public Traffic traffic() {
    return traffic;
  }

  /** The tiers' names, fastest first, home excepted. */
  public List<String> tierNames() {
    return pools.tiers().stream().map(PoolTier::name).toList();
  }

  /** What the migration engine moves. */
  public TieredSegments tieredSegments() {
    return moves;
  }

  /** The pools, in the configuration's order. */
  public List<Pool> pools() {
    return pools.all();
  }

  /** How many segments have bytes in the pools, or a slot at least. */
  public int hotSegments() {
    return registry.size();
  }

  /** How many of the hot segments have their tail at home. */
  public int spilledSegments() {
    int spilled = 0;
    for (TieredSegment segment : registry.inPools()) {
      if (segment.segment().spilled()) {
        spilled++;
      }
    }
    return spilled;
  }

  /** Brings every home's modification time up to date with its last append. */
  public void refreshModificationTimes() {
    keeper.refreshModificationTimes();
  }

  Collection<TieredSegment> segments() {
    return registry.inPools();
  }

  SegmentRegistry registry() {
    return registry;
  }

  PressureRoom room() {
    return room;
  }

  LogDirectories logDirectories() {
    return logDirectories;
  }

  HomeKeeper keeper() {
    return keeper;
  }

  void forget(TieredSegment segment) {
    registry.remove(segment);
  }

  @Override
  public void close() throws IOException {
    keeper.close();
    pools.close();
  }

  /** The name below its directory's real path; empty when there is no such directory. */
  private static Optional<Path> locate(Path file) throws IOException {
    Path absolute = file.toAbsolutePath();
    Path parent = absolute.getParent();
    Path name = absolute.getFileName();
    if (parent == null || name == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(parent.toRealPath().resolve(name));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private Optional<TieredSegment> find(Path file) throws IOException {
    Optional<SegmentTag> tag = Tags.of(file);
    while (tag.isPresent()) {
      Optional<TieredSegment> found = find(tag.get(), file);
      if (found.isPresent()) {
        return found;
      }
      // An eviction's new tag, or the removal of the old one, may have come in between.
      Optional<SegmentTag> again = Tags.of(file);
      if (again.equals(tag)) {
        throw lost(tag.get(), file);
      }
      tag = again;
    }
    return Optional.empty();
  }

  /** The segment that a tag names; empty if none does, or none any more. */
  private Optional<TieredSegment> find(SegmentTag tag, Path home) throws IOException {
    Optional<TieredSegment> known = registry.find(tag);
    if (known.isPresent()) {
      return known;
    }
    Optional<Residence> live = pools.live(tag);
    return live.isPresent()
        ? Optional.of(registry.add(factory.inPool(live.get(), home)))
        : Optional.empty();
  }

  /** Home has the tag, and so cannot be read without what that names. */
  private FileSystemException lost(SegmentTag tag, Path home) {
    return new FileSystemException(
        home.toString(),
        null,
        "its extended attribute says that its bytes are in "
            + tag
            + ", and no open pool has them there: "
            + pools.describe()
            + "; restart the broker, whose recovery says what to do");
  }

  private FileChannel openHot(TieredSegment hot, Path name, Set<? extends OpenOption> options)
      throws IOException {
    boolean write =
        options.contains(StandardOpenOption.WRITE) || options.contains(StandardOpenOption.APPEND);
    FileChannel home =
        write
            ? FileChannel.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE)
            : FileChannel.open(name, StandardOpenOption.READ);
    FileChannel channel = hot.segment().open(home, options);
    registry.moved(hot, name);
    return channel;
  }

  /**
   * A segment that is at home, and that a policy may want in a pool some day: its channels must
   * then follow it there. Others are the JDK's business.
   */
  private boolean mayBecomeHot(Path name) throws IOException {
    // Whatever it is called now: a replica that moves between log directories and what compaction
    // writes become segments by a rename, with their channels open.
    Optional<SegmentName> segment = SegmentNames.of(name);
    return segment.isPresent()
        ? logDirectories.placeOf(name).isPresent()
            && spec.placement()
                .mayBeHot(
                    new SegmentName(
                        segment.get().id(), SegmentName.Replica.CURRENT, SegmentName.Stage.LIVE))
        : logDirectories.place(name, spec.placement()).isPresent();
  }

  private Optional<FileChannel> openAtHome(
      Path name, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    if (!OPTIONS_AT_HOME.containsAll(options) || !mayBecomeHot(name)) {
      return Optional.empty();
    }
    boolean write =
        options.contains(StandardOpenOption.WRITE) || options.contains(StandardOpenOption.APPEND);
    if (!Files.exists(name, LinkOption.NOFOLLOW_LINKS)) {
      if (!write || !options.contains(StandardOpenOption.CREATE)) {
        return Optional.empty();
      }
      boolean unused = createHome(name, attributes);
    } else if (!Files.isRegularFile(name, LinkOption.NOFOLLOW_LINKS)) {
      return Optional.empty();
    }
    while (true) {
      FileChannel home =
          write
              ? FileChannel.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE)
              : FileChannel.open(name, StandardOpenOption.READ);
      TieredSegment segment;
      try {
        Optional<TieredSegment> known = findAtHome(name);
        segment = known.isPresent() ? known.get() : factory.atHome(name);
      } catch (IOException | RuntimeException e) {
        home.close();
        throw e;
      }
      FileChannel channel = segment.segment().open(home, options);
      if (registry.addAtHome(segment) == segment) {
        registry.moved(segment, name);
        return Optional.of(channel);
      }
      // Somebody opened the file by another name meanwhile: one object must stand for it.
      channel.close();
    }
  }

  private Optional<TieredSegment> findAtHome(Path name) throws IOException {
    try {
      return registry.findAtHome(HomeNames.keyOf(name));
    } catch (NoSuchFileException absent) {
      return Optional.empty();
    }
  }

  /**
   * Placed is what is opened as Kafka opens a segment that it will append to, for reading and for
   * writing. A file that is only made or written (as a copy or a restored backup is) stays at home,
   * and may become hot when Kafka opens it, if it is still empty then.
   */
  private Optional<SegmentPlace> placeFor(Path name, Set<? extends OpenOption> options)
      throws IOException {
    if (!options.contains(StandardOpenOption.READ) || !options.contains(StandardOpenOption.WRITE)) {
      return Optional.empty();
    }
    boolean create =
        options.contains(StandardOpenOption.CREATE)
            || options.contains(StandardOpenOption.CREATE_NEW);
    if (Files.exists(name, LinkOption.NOFOLLOW_LINKS)) {
      if (options.contains(StandardOpenOption.CREATE_NEW)
          || !Files.isRegularFile(name, LinkOption.NOFOLLOW_LINKS)
          || Files.size(name) > 0) {
        return Optional.empty();
      }
    } else if (!create) {
      return Optional.empty();
    }
    return logDirectories.place(name, spec.placement());
  }

  /** Commit rule 3: the slot first, then home, then home's tag. */
  private Optional<FileChannel> place(
      SegmentPlace place, Set<? extends OpenOption> options, FileAttribute<?>... attributes) {
    Optional<Residence> allocated;
    try {
      allocated = room.place(pools, place);
    } catch (IOException e) {
      counts.failed("place " + place.file() + " in a pool; it goes home", e);
      return Optional.empty();
    }
    if (allocated.isEmpty()) {
      counts.refused(place.file());
      return Optional.empty();
    }
    Residence residence = allocated.get();
    boolean created = false;
    Optional<TieredSegment> registered = Optional.empty();
    try {
      created = createHome(place.file(), attributes);
      // Known before it can be found by its tag: one object must stand for it.
      TieredSegment hot = registry.add(factory.inPool(residence, place.file()));
      registered = Optional.of(hot);
      residence.tag().write(place.file());
      FileChannel channel = openHot(hot, place.file(), options);
      counts.placed();
      keeper.makeDurableLater(hot);
      moves.sealedOrFull();
      return Optional.of(channel);
    } catch (IOException e) {
      // Home will do without the pool; and if it is home that fails, the JDK says so best.
      registered.ifPresent(registry::remove);
      withdraw(residence, place.file(), created, e);
      counts.failed("place " + place.file() + " in a pool; it goes home", e);
      return Optional.empty();
    } catch (RuntimeException e) {
      registered.ifPresent(registry::remove);
      withdraw(residence, place.file(), created, e);
      throw e;
    }
  }

  /** Undoes a placement of which nobody has been told. */
  private void withdraw(Residence residence, Path home, boolean created, Exception cause) {
    try {
      residence.slot().markDeleting();
      if (created) {
        Files.deleteIfExists(home);
        Directories.forceNearest(directoryOf(home));
      } else if (Files.exists(home)) {
        SegmentTag.remove(home);
        Directories.force(home);
      }
      Copies.free(residence);
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  private static Path directoryOf(Path file) {
    Path parent = file.getParent();
    return parent == null ? file : parent;
  }

  private static boolean createHome(Path home, FileAttribute<?>... attributes) throws IOException {
    try {
      FileChannel.open(
              home, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW), attributes)
          .close();
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  @SuppressWarnings("try") // what is held is only to be released
  private boolean moveDirectory(Path source, Path target, CopyOption... options)
      throws IOException {
    try (PathLocks.Held held = names.lockDirectories()) {
      List<TieredSegment> inside = registry.in(source);
      if (inside.isEmpty()) {
        return false;
      }
      // The slots keep the old path: from here on only the homes' tags lead to them.
      for (TieredSegment segment : inside) {
        keeper.makeDurable(segment);
      }
      Files.move(source, target, options);
      Path real = target.toRealPath();
      for (TieredSegment segment : inside) {
        renamed(segment, real.resolve(source.relativize(segment.home())));
      }
      return true;
    }
  }

  private boolean moveFile(Path source, Path target, CopyOption... options) throws IOException {
    Optional<TieredSegment> moved = find(source);
    // A symbolic link is replaced itself: the segment that it leads to stays.
    Optional<TieredSegment> replaced =
        Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS) ? find(target) : Optional.empty();
    if (moved.isEmpty() && replaced.isEmpty()) {
      return moveAtHome(source, target, options);
    }
    if (moved.isPresent() && !Arrays.asList(options).contains(StandardCopyOption.ATOMIC_MOVE)) {
      throw new IllegalArgumentException(
          source + ": a hot segment is renamed, or copied; it is not moved any other way");
    }
    if (replaced.isPresent() && Files.isSameFile(source, target)) {
      return true;
    }
    Optional<TieredSegment> cold = moved.isPresent() ? Optional.empty() : findAtHome(source);
    // It may have come here past the provider, by java.io.File.
    moved.ifPresent(segment -> registry.moved(segment, source));
    List<TieredSegment> both = new ArrayList<>();
    moved.ifPresent(both::add);
    replaced.ifPresent(both::add);
    for (TieredSegment segment : both) {
      keeper.makeDurable(segment);
    }
    Files.move(source, target, options);
    if (replaced.isPresent()) {
      // Its home is gone with the rename, and its slot says that home was durable: a crash before
      // the next line frees it all the same.
      registry.remove(replaced.get());
      replaced.get().segment().markDeleting();
      keeper.freeAfterUnlink(replaced.get(), directoryOf(target));
    }
    moved.or(() -> cold).ifPresent(segment -> renamed(segment, target));
    return true;
  }

  private boolean moveAtHome(Path source, Path target, CopyOption... options) throws IOException {
    Optional<TieredSegment> moved = findAtHome(source);
    Optional<TieredSegment> replaced = findAtHome(target);
    if (moved.isEmpty() && replaced.isEmpty()) {
      return false;
    }
    if (replaced.isPresent() && Files.isSameFile(source, target)) {
      return true;
    }
    Files.move(source, target, options);
    if (replaced.isPresent()) {
      replaced.get().segment().markDeleting();
      registry.remove(replaced.get());
    }
    moved.ifPresent(segment -> renamed(segment, target));
    return true;
  }

  private void renamed(TieredSegment segment, Path target) {
    registry.moved(segment, target);
    if (!segment.isCurrent()) {
      // About to be deleted, most likely.
      segment.segment().cancelMoves();
    }
  }
}
