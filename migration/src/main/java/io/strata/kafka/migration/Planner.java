package io.strata.kafka.migration;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.MigrationSettings.Mode;
import io.strata.kafka.migration.Plan.Refusal;
import io.strata.kafka.migration.Plan.TierPlan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes a plan from a state: a pure function. What holds whatever the policy says is here: pins and
 * exclusions, marks, space, fairness, obstacles. {@code docs/design/migration.md} says why.
 *
 * <p>Thread safety: used by one thread.
 */
final class Planner {

  /** Promotions of pinned segments leave this much of a tier to all others. */
  private static final double SHARE_FOR_OTHERS = 0.1;

  /** A segment that spilled goes on in its tier when so much of that is free or clean again. */
  private static final double SHARE_TO_GO_ON = 0.25;

  /**
   * The input of a plan.
   *
   * <p>Immutable, but for what the policy and the obstacles are.
   *
   * @param before the tiers in the last plan
   * @param inFlight moves that wait or are being made; those of the state that are meant, too
   */
  record Input(
      TieredSegments.State state,
      long nowMillis,
      MigrationSettings settings,
      TopicRules rules,
      MigrationPolicy policy,
      List<TierPlan> before,
      List<PlannedMove> inFlight,
      Obstacles obstacles) {

    /** How a tier is kept below its marks. */
    Mode mode(int tier) {
      return settings.modeOf(tier, state.relocates());
    }

    /** Copies the lists. */
    Input {
      before = List.copyOf(before);
      inFlight = List.copyOf(inFlight);
      int tiers = state.tiers().size();
      if (settings.thresholds().size() != tiers) {
        throw new IllegalArgumentException(
            "thresholds %s: expected one for each of %s tiers"
                .formatted(settings.thresholds(), tiers));
      }
    }
  }

  private final Input in;
  private final RoundInventory inventory;
  private final Admission admission;
  private final int logDirs;
  private final List<TierPlan> tiers = new ArrayList<>();
  private final Comparator<SegmentView> giveWayOrder;
  private final long[] excess;
  private int refused;
  private Optional<Refusal> firstRefusal = Optional.empty();

  private Planner(Input in) {
    this.in = in;
    inventory = new RoundInventory(in);
    admission = new Admission(in, inventory);
    logDirs = in.state().tiers().size();
    giveWayOrder = in.policy().evictionOrder();
    excess = new long[logDirs];
  }

  static Plan plan(Input in) {
    return new Planner(in).plan();
  }

  private Plan plan() {
    List<SegmentView> order = new ArrayList<>(inventory.evictable);
    order.sort(giveWayOrder);
    admission.victims(order, giveWayOrder);
    measureTiers();
    removeExcluded();
    evictAboveMarks(order);
    goOnInPools();
    long[] promoted = new long[logDirs];
    List<Move> pinned = choosePinned(promoted);
    admit(pinned, allowed(in.policy().plan(snapshot(promoted))));
    return new Plan(
        admission.moves(),
        evictionOrder(order),
        tiers,
        inventory.directories(),
        refused,
        firstRefusal);
  }

  private List<Long> evictionOrder(List<SegmentView> evictable) {
    List<SegmentView> order = evictable;
    if (!inventory.destaging.isEmpty()) {
      order = new ArrayList<>(evictable);
      order.addAll(inventory.destaging);
      order.sort(giveWayOrder);
    }
    List<Long> ids = new ArrayList<>(order.size());
    order.forEach(segment -> ids.add(segment.id()));
    return ids;
  }

  private void measureTiers() {
    for (TierUsage tier : in.state().tiers()) {
      int t = tier.tier();
      Marks marks = Marks.of(in.settings(), in.mode(t), tier);
      long measured = Marks.measured(in.mode(t), tier);
      boolean before = t < in.before().size() && in.before().get(t).draining();
      boolean draining = marks.draining(before, measured, inventory.canLeave(t));
      long above = draining ? marks.above(measured, tier.activeBytes()) : 0;
      tiers.add(new TierPlan(draining, above));
      excess[t] = Math.max(0, above - inventory.leaving(t));
    }
  }

  private void removeExcluded() {
    inventory.excluded.sort(OldestFirst.ORDER);
    List<Move> moves = new ArrayList<>();
    for (SegmentView segment : inventory.excluded) {
      moves.add(segment.dirtyBytes() == 0 ? Move.evict(segment) : Move.destage(segment, logDirs));
    }
    for (Move move : Fairness.interleave(moves)) {
      admission.admit(move, true).ifPresent(this::cover);
    }
  }

  /** In threshold mode a clean copy above the mark has no right to stay. */
  private void evictAboveMarks(List<SegmentView> order) {
    for (SegmentView segment : order) {
      if (in.mode(segment.tier()) == Mode.THRESHOLD
          && excess[segment.tier()] > 0
          && !admission.isPlanned(segment)) {
        admission.admit(Move.evict(segment), false).ifPresent(this::cover);
      }
    }
  }

  /**
   * Has active segments that spilled, or found no space, go on in a pool when there is space again.
   * Not in a tier that drains: what is free there would be full at once.
   */
  private void goOnInPools() {
    for (SegmentView segment : inventory.displaced) {
      int first = segment.tier() < logDirs ? segment.tier() : 0;
      int last = Math.min(segment.tier(), logDirs - 1);
      for (int tier = first; tier <= last; tier++) {
        if (hasSpaceToGoOn(tier) && admission.goOn(Move.promote(segment, tier))) {
          break;
        }
      }
    }
  }

  private boolean hasSpaceToGoOn(int tier) {
    double share = SHARE_TO_GO_ON * in.state().tiers().get(tier).capacityBytes();
    return !tiers.get(tier).draining() && inventory.space.bytes(tier) >= share;
  }

  private void cover(PlannedMove move) {
    SegmentView segment = move.move().segment();
    int tier = segment.tier();
    long covered = 0;
    if (move.move().kind() == Move.Kind.DESTAGE) {
      covered = segment.poolBytes() - (in.mode(tier) == Mode.EAGER ? segment.cleanBytes() : 0);
    } else if (in.mode(tier) == Mode.THRESHOLD) {
      covered = segment.cleanBytes();
    }
    excess[tier] = Math.max(0, excess[tier] - covered);
  }

  /** Newest first, each as high as there is space for; unpinned clean copies are evicted. */
  private List<Move> choosePinned(long[] promoted) {
    List<Move> chosen = new ArrayList<>();
    if (!in.settings().promote()) {
      return chosen;
    }
    inventory.pinned.sort(OldestFirst.ORDER.reversed());
    for (SegmentView segment : inventory.pinned) {
      int below = segment.spilled() ? segment.tier() + 1 : segment.tier();
      for (int tier = 0; tier < Math.min(below, logDirs); tier++) {
        Move move = Move.promote(segment, tier);
        long needed = TierSpace.needed(segment);
        if (leavesRoom(tier, promoted[tier] + needed) && Admission.mayLeaveBehind(move)) {
          promoted[tier] += needed;
          chosen.add(move);
          break;
        }
      }
    }
    return chosen;
  }

  private boolean leavesRoom(int tier, long promoted) {
    long reserve = (long) (SHARE_FOR_OTHERS * in.state().tiers().get(tier).capacityBytes());
    return inventory.space.bytes(tier) - reserve >= promoted;
  }

  private TierSnapshot snapshot(long[] promoted) {
    List<TierUsage> usages = new ArrayList<>(logDirs);
    for (TierUsage tier : in.state().tiers()) {
      int t = tier.tier();
      long used = tier.usedBytes() + inventory.arriving(t) + promoted[t];
      usages.add(tier.withDemand(excess[t], Marks.of(in.settings(), in.mode(t), tier).spare(used)));
    }
    List<SegmentView> free = inventory.free;
    if (admission.size() > 0) {
      free = new ArrayList<>(free);
      free.removeIf(admission::isPlanned);
    }
    return new TierSnapshot(in.nowMillis(), usages, free);
  }

  /** The policy's moves that are allowed, by their kind, in its order. */
  private Map<Move.Kind, List<Move>> allowed(List<Move> wanted) {
    Map<Move.Kind, List<Move>> allowed = new EnumMap<>(Move.Kind.class);
    if (wanted.isEmpty()) {
      return allowed;
    }
    Map<Long, SegmentView> known = new HashMap<>();
    inventory.free.forEach(segment -> known.put(segment.id(), segment));
    for (Move move : wanted) {
      requireNonNull(move, "a move of the policy");
      check(move, known.remove(move.segment().id()))
          .ifPresent(m -> allowed.computeIfAbsent(m.kind(), kind -> new ArrayList<>()).add(m));
    }
    return allowed;
  }

  /**
   * Copies down before copies up: they are carried out in this order, and take the free space that
   * they find.
   */
  private void admit(List<Move> pinned, Map<Move.Kind, List<Move>> wanted) {
    for (Move.Kind kind : List.of(Move.Kind.EVICT, Move.Kind.DESTAGE)) {
      for (Move move : Fairness.interleave(wanted.getOrDefault(kind, List.of()))) {
        admission.admit(move, false);
      }
    }
    for (Move move : pinned) {
      if (leavesRoom(move.toTier(), TierSpace.needed(move.segment()))) {
        admission.promotePinned(move);
      }
    }
    for (Move move : Fairness.interleave(wanted.getOrDefault(Move.Kind.PROMOTE, List.of()))) {
      admission.admit(move, false);
    }
  }

  /** The move of the segment as it is in this snapshot, if that is allowed. */
  private Optional<Move> check(Move move, @Nullable SegmentView segment) {
    if (segment == null) {
      return refuse(move, "the segment is not in the snapshot, or has been planned already");
    }
    if (segment.active() && (move.kind() == Move.Kind.PROMOTE || move.toTier() < logDirs)) {
      return refuse(move, "the segment is active: it goes to logdirs alone, which is " + logDirs);
    }
    if (move.toTier() > logDirs) {
      return refuse(move, "there is no tier " + move.toTier() + ", logdirs is " + logDirs);
    }
    if (move.kind() == Move.Kind.DESTAGE && segment.clean()) {
      return refuse(move, "the segment is clean already");
    }
    try {
      return Optional.of(
          move.kind() == Move.Kind.EVICT
              ? Move.evict(segment)
              : new Move(move.kind(), segment, move.toTier()));
    } catch (IllegalArgumentException e) {
      return refuse(move, String.valueOf(e.getMessage()));
    }
  }

  private Optional<Move> refuse(Move move, String reason) {
    refused++;
    if (firstRefusal.isEmpty()) {
      firstRefusal = Optional.of(new Refusal(move, reason));
    }
    return Optional.empty();
  }
}
