package io.strata.kafka.tier.moves;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.tier.directory.LogDirectories;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.PoolSet.PoolTier;
import io.strata.kafka.tier.directory.SegmentFiles;
import io.strata.kafka.tier.durable.DurableNames;
import io.strata.kafka.tier.durable.ModificationTimes;
import io.strata.kafka.tier.durable.SlotRelease;
import io.strata.kafka.tier.files.LogFile;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.space.CopySlots;
import io.strata.kafka.tier.space.EmptySegments;
import io.strata.kafka.tier.space.Evictions;
import io.strata.kafka.tier.space.LogDiskReserve;
import io.strata.kafka.tier.space.PoolSpace;
import io.strata.kafka.tier.spec.MoveStage;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The migration engine's view of the tier's segments, and its moves: finds the segment that is
 * meant and says whether it may be moved now. The moves themselves, what is made durable in which
 * order and how the log file is tied to it, are {@link DestageMove}'s, {@link RelocateMove}'s and
 * {@link UnspillMove}'s, and {@link PoolSpace}'s of an eviction.
 *
 * <p>What each step leaves when the broker ends there is in docs/design/moves.md; a segment always
 * has a whole, durable copy that recovery finds.
 *
 * <p>Thread safety: as {@link TieredSegments} asks.
 */
public final class TierMoves implements TieredSegments {

  private final PoolSet pools;
  private final SegmentRegistry registry;
  private final PoolSpace space;
  private final EmptySegments empties;
  private final MoveStage.Hook hook;
  private final TierState state;
  private final LogFileNames names;
  private final SlotRelease release;
  private final DestageMove destage;
  private final RelocateMove relocation;
  private final UnspillMove unspilling;
  private volatile boolean logsLoaded;

  /** Makes the moves of a tier. */
  public TierMoves(
      PoolSet pools,
      LogDirectories logDirectories,
      DurableNames durable,
      SlotRelease release,
      ModificationTimes times,
      PoolSpace space,
      EmptySegments empties,
      TierState state,
      MoveStage.Hook hook) {
    this.pools = pools;
    this.registry = durable.registry();
    this.space = space;
    this.empties = empties;
    this.hook = hook;
    this.state = state;
    CopySlots slots = new CopySlots(logDirectories, space);
    this.names = durable.names();
    this.release = release;
    this.destage =
        new DestageMove(names, durable, times, space, new LogDiskReserve(), this::scarcity, hook);
    this.relocation = new RelocateMove(registry, names, durable, release, space, slots, hook);
    this.unspilling = new UnspillMove(registry, names, durable, space, slots, destage, hook);
  }

  /** {@inheritDoc} See {@link SegmentFiles#logsLoaded}. */
  @Override
  public boolean mayMove() {
    return logsLoaded;
  }

  @Override
  public State state() {
    return state.now();
  }

  /** Notes that Kafka has loaded its logs, before which nothing moves. */
  public void logsLoaded() {
    if (!logsLoaded) {
      logsLoaded = true;
      space.wake();
    }
  }

  @Override
  public List<TierUsage> usages() {
    return state.usagesNow();
  }

  /** Looks at all segments again: what is wanted of them has changed. */
  public void lookAgain() {
    state.lookAgain();
  }

  private double scarcity(TieredSegment segment) {
    return segment.residence().map(in -> space.scarcity().of(pools.tierOf(in.pool()))).orElse(1.0);
  }

  public TierFigures figures() {
    return state.figures();
  }

  @Override
  public void evictionOrder(List<Long> ids) {
    List<TieredSegment> order = new ArrayList<>(ids.size());
    for (long id : ids) {
      // A segment that is not clean yet may be when its space is needed.
      registry.find(id).ifPresent(order::add);
    }
    space.order(order);
  }

  @Override
  public void onDemand(Runnable wake) {
    space.onDemand(wake);
  }

  @Override
  public MoveResult destage(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    Optional<TieredSegment> found = registry.find(id);
    if (found.isEmpty() || !found.get().inPool()) {
      return MoveResult.cancelled("it is gone, or in the log file");
    }
    TieredSegment segment = found.get();
    Optional<Residence> in = segment.residence();
    boolean toLogFile = toTier >= pools.tiers().size();
    if (!toLogFile && state.isActive(segment)) {
      return MoveResult.cancelled("it is being appended to");
    }
    if (in.isEmpty() || (toLogFile && in.get().isClean())) {
      return MoveResult.cancelled("it is clean already");
    }
    if (toTier <= pools.tierOf(in.get().pool())) {
      // Since it was planned, it has been moved.
      return MoveResult.cancelled("it is there already");
    }
    try {
      if (toLogFile || segment.segment().size() == 0) {
        return destage(segment, control);
      }
      return relocate(segment, in, toTier, true, control);
    } catch (NoSuchFileException e) {
      return MoveResult.cancelled("its file is gone: " + e.getMessage());
    } finally {
      segment.changed();
    }
  }

  private MoveResult destage(TieredSegment segment, MoveControl control)
      throws IOException, InterruptedException {
    hook.reached(MoveStage.DESTAGE_STARTED);
    return destage.run(segment, control);
  }

  /**
   * Moves a segment into another tier's pool. Bytes that only the pool has are first copied into
   * the log file if a reboot would take them there and not where they are.
   */
  private MoveResult relocate(
      TieredSegment segment, Optional<Residence> in, int toTier, boolean evict, MoveControl control)
      throws IOException, InterruptedException {
    PoolTier tier = pools.tiers().get(toTier);
    if (in.isPresent()
        && !in.get().isClean()
        && tier.pools().stream().anyMatch(pool -> RelocateMove.survivesLess(pool, in.get()))) {
      hook.reached(MoveStage.DESTAGE_STARTED);
      MoveResult copied = destage.all(segment, control);
      if (copied.outcome() != MoveResult.Outcome.DONE) {
        return copied;
      }
    }
    hook.reached(MoveStage.RELOCATE_STARTED);
    return relocation.into(tier, segment, evict, control);
  }

  @Override
  public MoveResult evict(long id) throws IOException {
    Optional<TieredSegment> found = registry.find(id);
    if (found.isEmpty()) {
      return MoveResult.cancelled("it is gone");
    }
    TieredSegment segment = found.get();
    Optional<Residence> in = segment.residence();
    boolean active = state.isActive(segment);
    boolean whole = Evictions.isClean(segment) && !active;
    if (in.isEmpty() || (!whole && !active && in.get().evictableBytes(false) == 0)) {
      return MoveResult.cancelled("it is not clean any more");
    }
    hook.reached(MoveStage.EVICT_STARTED);
    try {
      if (whole && segment.segment().size() == 0) {
        return evictEmpty(segment, in.get());
      }
      return whole ? evictWhole(segment, in.get()) : evictPart(segment);
    } catch (NoSuchFileException e) {
      return MoveResult.cancelled("its file is gone: " + e.getMessage());
    }
  }

  /** Evicts the clean extents, if there are any, of a segment that stays in its pool. */
  private MoveResult evictPart(TieredSegment segment) throws IOException {
    long freed = space.evictPartNow(segment);
    hook.reached(MoveStage.EVICT_PART_FREED);
    return MoveResult.done(freed);
  }

  /** A log file without bytes cannot show that its tag was left behind: the tag goes first. */
  private MoveResult evictEmpty(TieredSegment segment, Residence in) throws IOException {
    long bytes = in.spaceBytes();
    empties.letGo(segment);
    return segment.inPool()
        ? MoveResult.cancelled("it is not clean any more")
        : MoveResult.done(bytes);
  }

  /**
   * Frees the slot of a segment that was clean in it, and removes the log file's tag at once. The
   * slot of a spilled one stays until its end is forced, as it soon is.
   */
  private MoveResult evictWhole(TieredSegment segment, Residence in) throws IOException {
    Optional<Long> freed = space.evictNow(segment);
    if (freed.isEmpty()) {
      long part = segment.segment().spilled() ? space.evictPartNow(segment) : 0;
      return part > 0
          ? MoveResult.done(part)
          : MoveResult.cancelled("it is not clean any more, or its end is not forced yet");
    }
    hook.reached(MoveStage.EVICT_FREED);
    try {
      release.untag(segment, in);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      release.untagAgain(segment, in, e);
    }
    hook.reached(MoveStage.EVICT_UNTAGGED);
    return MoveResult.done(freed.get());
  }

  @Override
  public MoveResult promote(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    return moveUp(id, (segment, held) -> promote(segment, toTier, control));
  }

  @Override
  public MoveResult goOn(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    return moveUp(
        id,
        (segment, held) ->
            state.isActive(segment) && segment.segment().spilled()
                ? unspilling.run(segment, held, pools.tiers().get(toTier), control)
                : MoveResult.cancelled("it is not appended to, or has not spilled any more"));
  }

  /** A move of a segment that may be in the log file. */
  private interface MoveUp {
    MoveResult run(TieredSegment segment, LogFile held) throws IOException, InterruptedException;
  }

  private MoveResult moveUp(long id, MoveUp move) throws IOException, InterruptedException {
    Optional<TieredSegment> found = registry.find(id);
    if (found.isEmpty()) {
      return MoveResult.cancelled("it is gone");
    }
    TieredSegment segment = found.get();
    // Held all the while: no other file gets its inode before it has a tag.
    try (LogFile held = names.hold(segment)) {
      if (!registry.moveBegins(segment)) {
        return MoveResult.cancelled("it is gone");
      }
      try {
        return move.run(segment, held);
      } finally {
        segment.moveEnds();
        release.forgetIfIdle(segment);
        segment.changed();
      }
    } catch (NoSuchFileException e) {
      return MoveResult.cancelled("its file is gone: " + e.getMessage());
    }
  }

  private MoveResult promote(TieredSegment segment, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    if (state.isActive(segment)) {
      return MoveResult.cancelled("it is being appended to");
    }
    Optional<Residence> in = segment.residence();
    int tier = in.map(at -> pools.tierOf(at.pool())).orElse(pools.tiers().size());
    // A spilled segment becomes whole in another slot of its tier.
    int highest = in.isPresent() && segment.segment().spilled() ? tier : tier - 1;
    if (toTier > highest) {
      return MoveResult.cancelled("it is there already");
    }
    return relocate(segment, in, toTier, false, control);
  }
}
