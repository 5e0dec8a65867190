package io.strata.kafka.tier;

import io.strata.kafka.api.PlacementPolicy;
import io.strata.kafka.memory.PageCache;
import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.MoveControl;
import io.strata.kafka.migration.MoveResult;
import io.strata.kafka.migration.TieredSegments;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.segment.CopyResult;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Moves the tier's segments: what is made durable in which order, and how home is tied to it.
 *
 * <p>What each step leaves when the broker ends there is in docs/design/moves.md; a segment always
 * has a whole, durable copy that recovery finds.
 *
 * <p>Thread safety: as {@link TieredSegments} asks.
 */
final class TierMoves implements TieredSegments {

  /** Of home's file system, and at most so many bytes: what a destage leaves free there. */
  private static final int HOME_RESERVE_SHARE = 100;

  private static final long LARGEST_HOME_RESERVE = 1L << 30;

  private final PoolSet pools;
  private final LogDirectories logDirectories;
  private final SegmentRegistry registry;
  private final HomeNames names;
  private final HomeKeeper keeper;
  private final PressureRoom room;
  private final MoveStage.Hook hook;
  private final TierState state;

  TierMoves(
      PoolSet pools,
      LogDirectories logDirectories,
      SegmentRegistry registry,
      HomeNames names,
      HomeKeeper keeper,
      PressureRoom room,
      PlacementPolicy placement,
      MoveStage.Hook hook) {
    this.pools = pools;
    this.logDirectories = logDirectories;
    this.registry = registry;
    this.names = names;
    this.keeper = keeper;
    this.room = room;
    this.hook = hook;
    this.state = new TierState(pools, registry, placement, logDirectories.forcedPlacement());
  }

  @Override
  public State state() {
    return state.now();
  }

  @Override
  public void evictionOrder(List<Long> ids) {
    List<TieredSegment> order = new ArrayList<>(ids.size());
    for (long id : ids) {
      // One that is not clean yet may be when its room is needed.
      registry.find(id).ifPresent(order::add);
    }
    room.order(order);
  }

  @Override
  public void onDemand(Runnable wake) {
    room.onDemand(wake);
  }

  /** A segment was sealed, or found no room: there may be something to plan. */
  void sealedOrFull() {
    room.wake();
  }

  @Override
  public MoveResult destage(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    Optional<TieredSegment> found = registry.find(id);
    if (found.isEmpty() || found.get().atHome()) {
      return MoveResult.cancelled("it is gone, or at home");
    }
    TieredSegment segment = found.get();
    if (state.isActive(segment)) {
      return MoveResult.cancelled("it is being appended to");
    }
    if (Evictions.isClean(segment)) {
      return MoveResult.cancelled("it is clean already");
    }
    hook.reached(MoveStage.DESTAGE_STARTED);
    try {
      keeper.settleTag(segment);
      keeper.makeDurable(segment);
      // An empty one has nothing to copy; home is as good a place as any.
      boolean empty = segment.segment().size() == 0;
      return empty || toTier >= pools.tiers().size()
          ? destageHome(segment, control)
          : destageInto(pools.tiers().get(toTier), segment, control);
    } catch (NoSuchFileException e) {
      return MoveResult.cancelled("its file is gone: " + e.getMessage());
    }
  }

  private MoveResult destageHome(TieredSegment segment, MoveControl control)
      throws IOException, InterruptedException {
    Optional<Residence> old = segment.takeLower();
    if (old.isPresent()) {
      keeper.dropLower(segment, old.get());
    } else {
      // A tie that a crash has left: with it, home would not count.
      boolean unusedTie = names.with(segment, SegmentTag::removeBelow);
    }
    long missing = segment.segment().bytesInPool();
    boolean unused = names.with(segment, home -> refuseToFill(home, missing));
    keeper.refreshModificationTime(segment);
    FileTime modified = names.with(segment, Files::getLastModifiedTime);
    CopyResult copied;
    try (FileChannel home = names.with(segment, TierMoves::openToWrite)) {
      copied = segment.segment().copyHome(home, pace(control, hook, MoveStage.DESTAGE_COPIED));
    } finally {
      names.with(segment, home -> Files.setLastModifiedTime(home, modified));
    }
    Optional<MoveResult> ended = ended(copied, segment);
    if (ended.isPresent()) {
      return ended.get();
    }
    if (segment.residence().map(this::emptiedByPowerCut).orElse(true)) {
      // For a pool that a power cut empties nobody has cared so far; from now on home counts.
      HomeKeeper.forceEntries(segment.home());
    }
    return finishDestage(segment, copied);
  }

  /** Kafka's indexes are on the same disk, and do not bear one that is full to the last byte. */
  private static boolean refuseToFill(Path home, long bytes) throws IOException {
    FileStore store = Files.getFileStore(home);
    long usable = store.getUsableSpace();
    long reserve = Math.min(store.getTotalSpace() / HOME_RESERVE_SHARE, LARGEST_HOME_RESERVE);
    if (usable - bytes < reserve) {
      throw new FileSystemException(
          home.toString(),
          null,
          "No space left on device for a copy: found "
              + usable
              + " bytes, expected "
              + bytes
              + " and "
              + reserve
              + " that are kept for Kafka's indexes; the copy in the pool stays");
    }
    return true;
  }

  private boolean emptiedByPowerCut(Residence in) {
    return !HomeKeeper.survivesPowerCut(in);
  }

  private MoveResult finishDestage(TieredSegment segment, CopyResult copied) throws IOException {
    if (!segment.segment().markClean(copied)) {
      return MoveResult.cancelled("it was changed meanwhile");
    }
    // Read from the pool until it is evicted, and cold after that.
    PageCache.drop(segment.home());
    hook.reached(MoveStage.DESTAGE_CLEAN);
    room.becameClean(segment);
    return MoveResult.done(copied.bytes());
  }

  private MoveResult destageInto(PoolTier tier, TieredSegment segment, MoveControl control)
      throws IOException, InterruptedException {
    Optional<Residence> old = segment.takeLower();
    if (old.isPresent()) {
      keeper.dropLower(segment, old.get());
    }
    Optional<Residence> target = allocate(tier, segment, true);
    if (target.isEmpty()) {
      return MoveResult.noRoom("no pool of tier " + tier.name() + " has room for it");
    }
    Residence copy = target.get();
    boolean done = false;
    try {
      CopyResult copied;
      try (FileChannel home = names.with(segment, TierMoves::openToRead)) {
        copied =
            segment.segment().copyInto(copy, home, pace(control, hook, MoveStage.DESTAGE_COPIED));
      }
      Optional<MoveResult> ended = ended(copied, segment);
      if (ended.isPresent()) {
        return ended.get();
      }
      boolean unused =
          names.with(
              segment,
              home -> {
                copy.tag().writeBelow(home);
                Directories.force(home);
                return true;
              });
      hook.reached(MoveStage.DESTAGE_LINKED);
      segment.lower(target);
      // From here on an exception does not tell whether the segment is clean: the copy stays, and
      // recovery finds out.
      done = true;
      MoveResult result = finishDestage(segment, copied);
      if (result.outcome() != MoveResult.Outcome.DONE && segment.takeLower(copy)) {
        keeper.dropLower(segment, copy);
      }
      return result;
    } finally {
      if (!done) {
        keeper.dropLower(segment, copy);
      }
    }
  }

  @Override
  public MoveResult evict(long id) throws IOException {
    Optional<TieredSegment> found = registry.find(id);
    if (found.isEmpty()) {
      return MoveResult.cancelled("it is gone");
    }
    TieredSegment segment = found.get();
    Optional<Residence> in = segment.residence();
    if (in.isEmpty() || !Evictions.isClean(segment)) {
      return MoveResult.cancelled("it is not clean any more");
    }
    hook.reached(MoveStage.EVICT_STARTED);
    try {
      if (segment.segment().size() == 0) {
        return evictEmpty(segment, in.get());
      }
      Optional<Long> freed = room.evictNow(segment);
      if (freed.isEmpty()) {
        return MoveResult.cancelled("it is not clean any more");
      }
      hook.reached(MoveStage.EVICT_FREED);
      try {
        keeper.retag(segment, in.get());
      } catch (NoSuchFileException e) {
        throw e;
      } catch (IOException e) {
        keeper.failed("remove the tag of " + segment.home(), e);
        keeper.retagLater(segment, in.get());
      }
      hook.reached(MoveStage.EVICT_UNTAGGED);
      return MoveResult.done(freed.get());
    } catch (NoSuchFileException e) {
      return MoveResult.cancelled("its file is gone: " + e.getMessage());
    }
  }

  /**
   * Home of a segment without bytes is as hollow as one that has lost its own: it must not be found
   * with a tag whose slot is free.
   */
  private MoveResult evictEmpty(TieredSegment segment, Residence in) throws IOException {
    boolean evicted =
        names.with(
            segment,
            home -> {
              SegmentTag.remove(home);
              Directories.force(home);
              boolean left = room.evictNow(segment).isPresent();
              if (!left) {
                in.tag().write(home);
              }
              return left;
            });
    if (!evicted) {
      return MoveResult.cancelled("it is not clean any more");
    }
    keeper.retag(segment, in);
    return MoveResult.done(0);
  }

  @Override
  public MoveResult promote(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    Optional<TieredSegment> found = registry.find(id);
    if (found.isEmpty()) {
      return MoveResult.cancelled("it is gone");
    }
    TieredSegment segment = found.get();
    if (state.isActive(segment)) {
      return MoveResult.cancelled("it is being appended to");
    }
    Optional<Residence> in = segment.residence();
    int tier = in.map(at -> pools.tierOf(at.pool())).orElse(pools.tiers().size());
    hook.reached(MoveStage.PROMOTE_STARTED);
    try {
      if (in.isPresent() && segment.segment().spilled()) {
        return mend(segment, in.get(), control);
      }
      if (toTier >= tier) {
        return MoveResult.cancelled("it is there already");
      }
      return promoteInto(pools.tiers().get(toTier), segment, control);
    } catch (NoSuchFileException e) {
      return MoveResult.cancelled("its file is gone: " + e.getMessage());
    }
  }

  private MoveResult promoteInto(PoolTier tier, TieredSegment segment, MoveControl control)
      throws IOException, InterruptedException {
    Optional<Residence> target = allocate(tier, segment, false);
    if (target.isEmpty()) {
      return MoveResult.noRoom("no pool of tier " + tier.name() + " has room for it");
    }
    Residence copy = target.get();
    boolean done = false;
    try {
      CopyResult copied;
      try (FileChannel home = names.with(segment, TierMoves::openToRead)) {
        if (segment.atHome()) {
          // Home is the copy below from now on.
          home.force(true);
          HomeKeeper.forceEntries(segment.home());
        }
        copied =
            segment.segment().copyInto(copy, home, pace(control, hook, MoveStage.PROMOTE_COPIED));
      }
      Optional<MoveResult> ended = ended(copied, segment);
      if (ended.isPresent()) {
        return ended.get();
      }
      copy.slot().set(SlotFlag.CLEAN);
      hook.reached(MoveStage.PROMOTE_COMMITTED);
      registry.addTag(copy.tag(), segment);
      Optional<Residence> before = segment.residence();
      done =
          names.with(
              segment,
              home -> segment.segment().moveUp(copied, copy, () -> link(segment, copy, home)));
      if (!done) {
        return MoveResult.cancelled("it was changed meanwhile");
      }
      if (before.isPresent() && !segment.lower().equals(before)) {
        // Home has it, too: the copy between is of no use.
        segment.segment().freeCopy(before.get());
      }
      segment.segment().clear(SlotFlag.COPY);
      hook.reached(MoveStage.PROMOTE_DONE);
      room.becameClean(segment);
      return MoveResult.done(copied.bytes());
    } finally {
      if (!done) {
        registry.removeTag(copy.tag(), segment);
        Copies.free(copy);
      }
    }
  }

  /** Ties home to the upper copy, and to the one below if that is in a pool. */
  private void link(TieredSegment segment, Residence upper, Path home) throws IOException {
    // Not what was copied from: an append may have evicted that since.
    Optional<Residence> from = segment.residence();
    boolean homeHasIt = from.isPresent() && isClean(from.get()) && segment.lower().isEmpty();
    Optional<Residence> lower = homeHasIt ? Optional.empty() : from;
    if (from.isEmpty() && Files.size(home) != segment.segment().size()) {
      throw new FileSystemException(
          home.toString(), null, "it was written past this broker's channels while it was copied");
    }
    boolean linked = false;
    try {
      if (from.isPresent()) {
        // Nothing is lost with it from here on: recovery is to drop it unless home names it.
        from.get().slot().set(SlotFlag.COPY);
      }
      if (lower.isPresent()) {
        lower.get().tag().writeBelow(home);
      } else {
        boolean unused = SegmentTag.removeBelow(home);
      }
      upper.tag().write(home);
      Directories.force(home);
      segment.lower(lower);
      from.ifPresent(left -> registry.removeTag(left.tag(), segment));
      linked = true;
      hook.reached(MoveStage.PROMOTE_TAGGED);
    } finally {
      if (!linked) {
        unlink(from, home);
      }
    }
  }

  private static boolean isClean(Residence in) {
    return in.slot().has(SlotFlag.CLEAN);
  }

  private static void unlink(Optional<Residence> lower, Path home) throws IOException {
    if (lower.isPresent()) {
      lower.get().tag().write(home);
      SegmentTag.removeBelow(home);
      lower.get().slot().clear(SlotFlag.COPY);
    } else {
      SegmentTag.remove(home);
    }
  }

  private MoveResult mend(TieredSegment segment, Residence in, MoveControl control)
      throws IOException, InterruptedException {
    long missing = segment.segment().size() - in.roomBytes();
    if (missing > in.pool().usage().freeBytes()) {
      return MoveResult.noRoom("its pool has no room for its tail");
    }
    CopyResult copied;
    try (FileChannel home = names.with(segment, TierMoves::openToRead)) {
      copied = segment.segment().copyTailIntoPool(home, pace(control, hook, MoveStage.MEND_COPIED));
    }
    Optional<MoveResult> ended = ended(copied, segment);
    if (ended.isPresent()) {
      return ended.get();
    }
    hook.reached(MoveStage.MEND_COMMITTED);
    if (!segment.segment().finishTail(copied)) {
      return MoveResult.cancelled("it was changed meanwhile");
    }
    hook.reached(MoveStage.MEND_DONE);
    return MoveResult.done(copied.bytes());
  }

  /**
   * A slot for a copy of the segment, flagged so that recovery drops it if nothing leads to it.
   *
   * @param evict whether clean segments may give way
   */
  private Optional<Residence> allocate(PoolTier tier, TieredSegment segment, boolean evict)
      throws IOException {
    Optional<SegmentPlace> place = placeOf(segment);
    if (place.isEmpty()) {
      throw new FileSystemException(
          segment.home().toString(),
          null,
          "it is outside the log directories, by a symbolic link: it cannot be placed in a pool");
    }
    long bytes = segment.segment().size();
    for (Pool pool : PressureRoom.byFreeRoom(tier)) {
      if (pool.usage().freeBytes() >= bytes || (evict && room.reserve(pool, bytes))) {
        Optional<Slot> slot =
            pool.allocateSlot(place.get().directoryId(), place.get().relativePath());
        if (slot.isPresent()) {
          Residence copy = new Residence(slot.get(), pool);
          slot.get().set(SlotFlag.COPY);
          slot.get().set(SlotFlag.HOME_DURABLE);
          return Optional.of(copy);
        }
      }
    }
    return Optional.empty();
  }

  /** As the slot says that it is in; a partition behind a symbolic link is known by that alone. */
  private Optional<SegmentPlace> placeOf(TieredSegment segment) {
    Path home = segment.home();
    return logDirectories
        .placeOf(home)
        .or(
            () ->
                segment
                    .residence()
                    .map(
                        in ->
                            new SegmentPlace(
                                in.slot().directoryId(), in.slot().relativePath(), home)));
  }

  private static FileChannel openToWrite(Path home) throws IOException {
    return FileChannel.open(home, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  private static FileChannel openToRead(Path home) throws IOException {
    return FileChannel.open(home, StandardOpenOption.READ);
  }

  private static MovePace pace(MoveControl control, MoveStage.Hook hook, MoveStage copied) {
    return new MovePace(control, hook, copied);
  }

  /** What a copy that did not come to its end means; empty for one that did. */
  private static Optional<MoveResult> ended(CopyResult copied, TieredSegment segment)
      throws CorruptSegmentException {
    return switch (copied.outcome()) {
      case COPIED -> Optional.empty();
      case CHANGED -> Optional.of(MoveResult.cancelled("it was changed or deleted meanwhile"));
      case STOPPED -> Optional.of(MoveResult.cancelled("the engine stops"));
      case NO_ROOM -> Optional.of(MoveResult.noRoom("the pool's room is in too many pieces"));
      case CORRUPT ->
          throw new CorruptSegmentException(
              segment.home()
                  + ": "
                  + copied.problem()
                  + "; it is copied nowhere and stays where it is: look at the medium of "
                  + segment.segment().name()
                  + ", and have Kafka replicate the partition again if it is damaged");
    };
  }
}
