package io.strata.kafka.tier;

import io.strata.kafka.api.PlacementPolicy;
import io.strata.kafka.migration.MoveControl;
import io.strata.kafka.migration.MoveResult;
import io.strata.kafka.migration.TieredSegments;
import io.strata.kafka.segment.Residence;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the migration engine sees of the tier's segments, and has moved: which segment is meant and
 * whether it may be moved now. The moves themselves, what is made durable in which order and how
 * home is tied to it, are {@link DestageMove}'s, {@link EvictMove}'s and {@link PromoteMove}'s.
 *
 * <p>What each step leaves when the broker ends there is in docs/design/moves.md; a segment always
 * has a whole, durable copy that recovery finds.
 *
 * <p>Thread safety: as {@link TieredSegments} asks.
 */
final class TierMoves implements TieredSegments {

  private final PoolSet pools;
  private final SegmentRegistry registry;
  private final PressureRoom room;
  private final MoveStage.Hook hook;
  private final TierState state;
  private final HomeNames names;
  private final HomeKeeper keeper;
  private final DestageMove destage;
  private final EvictMove eviction;
  private final PromoteMove promotion;

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
    this.registry = registry;
    this.room = room;
    this.hook = hook;
    this.state = new TierState(pools, registry, placement, logDirectories.forcedPlacement());
    CopySlots slots = new CopySlots(logDirectories, room);
    this.names = names;
    this.keeper = keeper;
    this.destage = new DestageMove(names, keeper, room, slots, hook);
    this.eviction = new EvictMove(names, keeper, room, hook);
    this.promotion = new PromoteMove(registry, names, room, slots, hook);
  }

  @Override
  public State state() {
    return state.now();
  }

  TierFigures figures() {
    return state.figures();
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
    Optional<Residence> in = segment.residence();
    if (in.isEmpty() || in.get().isClean()) {
      return MoveResult.cancelled("it is clean already");
    }
    if (toTier <= pools.tierOf(in.get().pool())) {
      // Since it was planned, an append has evicted the copy above.
      return MoveResult.cancelled("it is there already");
    }
    hook.reached(MoveStage.DESTAGE_STARTED);
    try {
      return destage.run(segment, poolTier(toTier), control);
    } catch (NoSuchFileException e) {
      return MoveResult.cancelled("its file is gone: " + e.getMessage());
    }
  }

  /** Empty for home. */
  private Optional<PoolTier> poolTier(int tier) {
    List<PoolTier> tiers = pools.tiers();
    return tier < tiers.size() ? Optional.of(tiers.get(tier)) : Optional.empty();
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
      return eviction.run(segment, in.get());
    } catch (NoSuchFileException e) {
      return MoveResult.cancelled("its file is gone: " + e.getMessage());
    }
  }

  @Override
  @SuppressWarnings("try") // what is held is only to be released
  public MoveResult promote(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
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
        return promote(segment, toTier, control);
      } finally {
        registry.moveEnds(segment);
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
    hook.reached(MoveStage.PROMOTE_STARTED);
    if (in.isPresent() && segment.segment().spilled()) {
      return promotion.mend(segment, in.get(), control);
    }
    if (toTier >= tier) {
      return MoveResult.cancelled("it is there already");
    }
    keeper.makeDurable(segment);
    return promotion.into(pools.tiers().get(toTier), segment, control);
  }
}
