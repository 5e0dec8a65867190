package io.strata.kafka.migration.plan;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.Plan.Refusal;
import io.strata.kafka.migration.plan.Plan.TierPlan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes a plan from a state: a pure function. The rules that hold whatever the policy says are
 * here: pins and exclusions, marks, space, fairness, obstacles. {@code docs/design/migration.md}
 * says why.
 */
public final class Planner {

  /** Promotions of pinned segments leave this much of a tier to all others. */
  private static final double SHARE_FOR_OTHERS = 0.1;

  /** A segment that spilled goes on in its tier when so much of that is free or clean again. */
  private static final double SHARE_TO_GO_ON = 0.25;

  /**
   * The input of a plan.
   *
   * <p>Immutable, but for what the policy and the waits are.
   *
   * @param pinned by the topic, whether a segment stays where it is, and comes up before all others
   * @param inFlight moves that wait or are being made; those of the state that are meant too
   * @param backOffs the moves that must not be tried at present
   */
  public record Input(
      TieredSegments.State state,
      long nowMillis,
      MigrationSettings settings,
      Predicate<String> pinned,
      MigrationPolicy policy,
      List<TierPlan> before,
      List<PlannedMove> inFlight,
      BackOffs backOffs) {

    /** Copies the lists. */
    public Input {
      before = List.copyOf(before);
      inFlight = List.copyOf(inFlight);
    }
  }

  private final Input in;
  private final Comparator<SegmentView> giveWayOrder;
  private final RoundInventory inventory;
  private final Admission admission;
  private final List<PlannedTier> tiers;
  private final int logDirs;
  private final List<Refusal> refused = new ArrayList<>();

  private Planner(Input in) {
    this.in = in;
    giveWayOrder = in.policy().evictionOrder();
    inventory = new RoundInventory(in);
    admission = new Admission(in, inventory, giveWayOrder);
    tiers = inventory.tiers;
    logDirs = tiers.size();
  }

  public static Plan plan(Input in) {
    return new Planner(in).plan();
  }

  private Plan plan() {
    List<SegmentView> order = new ArrayList<>(inventory.evictable);
    order.sort(giveWayOrder);
    order.forEach(segment -> tiers.get(segment.tier()).victims.add(segment));
    List<TierPlan> found = tiers.stream().map(this::measure).toList();
    removeExcluded();
    evictAboveMarks(order);
    goOnInPools(found);
    List<Move> pinned = choosePinned();
    admit(pinned, allowed(in.policy().plan(snapshot())));
    return new Plan(
        admission.moves(), evictionOrder(order), found, inventory.directories(), refused);
  }

  private TierPlan measure(PlannedTier tier) {
    int number = tier.usage.tier();
    boolean before = number < in.before().size() && in.before().get(number).draining();
    TierPlan found = tier.measure(before, tier.canLeave);
    tier.excess = Math.max(0, found.backlogBytes() - tier.leaving);
    return found;
  }

  private List<Long> evictionOrder(List<SegmentView> evictable) {
    List<SegmentView> order = evictable;
    if (!inventory.destaging.isEmpty()) {
      order = new ArrayList<>(evictable);
      order.addAll(inventory.destaging);
      order.sort(giveWayOrder);
    }
    return order.stream().map(SegmentView::id).toList();
  }

  private void removeExcluded() {
    inventory.excluded.sort(OldestFirst.ORDER);
    List<Move> moves = new ArrayList<>();
    for (SegmentView segment : inventory.excluded) {
      moves.add(segment.dirtyBytes() == 0 ? Move.evict(segment) : Move.destage(segment, logDirs));
    }
    admission.admitInTurn(moves, true).forEach(this::cover);
  }

  /** In threshold mode a clean copy above the mark has no right to stay. */
  private void evictAboveMarks(List<SegmentView> order) {
    for (SegmentView segment : order) {
      PlannedTier tier = tiers.get(segment.tier());
      if (tier.mode == Mode.THRESHOLD && tier.excess > 0 && !admission.isPlanned(segment)) {
        admission.admit(Move.evict(segment), false).ifPresent(this::cover);
      }
    }
  }

  /**
   * Has active segments that spilled, or found no space, go on in a pool when there is space again.
   * Not in a tier that drains: what is free there would be full at once.
   */
  private void goOnInPools(List<TierPlan> found) {
    for (SegmentView segment : inventory.displaced) {
      int first = segment.tier() < logDirs ? segment.tier() : 0;
      int last = Math.min(segment.tier(), logDirs - 1);
      for (int tier = first; tier <= last; tier++) {
        if (!found.get(tier).draining()
            && tiers.get(tier).bytes() >= SHARE_TO_GO_ON * tiers.get(tier).usage.capacityBytes()
            && admission.goOn(Move.promote(segment, tier))) {
          break;
        }
      }
    }
  }

  private void cover(PlannedMove move) {
    SegmentView segment = move.move().segment();
    PlannedTier tier = tiers.get(segment.tier());
    if (move.kind() == Move.Kind.DESTAGE) {
      tier.cover(segment.poolBytes() - (tier.mode == Mode.EAGER ? segment.cleanBytes() : 0));
    } else if (tier.mode == Mode.THRESHOLD) {
      tier.cover(segment.cleanBytes());
    }
  }

  /** Newest first, each as high as there is space for; unpinned clean copies are evicted. */
  private List<Move> choosePinned() {
    List<Move> chosen = new ArrayList<>();
    if (!in.settings().promote()) {
      return chosen;
    }
    inventory.pinned.sort(OldestFirst.ORDER.reversed());
    for (SegmentView segment : inventory.pinned) {
      int below = segment.spilled() ? segment.tier() + 1 : segment.tier();
      for (PlannedTier tier : tiers.subList(0, Math.min(below, logDirs))) {
        Move move = Move.promote(segment, tier.usage.tier());
        long needed = PlannedTier.needed(segment);
        if (leavesSpace(tier, tier.pinnedBytes + needed) && Admission.mayLeaveBehind(move)) {
          tier.pinnedBytes += needed;
          chosen.add(move);
          break;
        }
      }
    }
    return chosen;
  }

  private static boolean leavesSpace(PlannedTier tier, long promoted) {
    return tier.bytes() - (long) (SHARE_FOR_OTHERS * tier.usage.capacityBytes()) >= promoted;
  }

  private TierSnapshot snapshot() {
    List<TierUsage> usages = tiers.stream().map(PlannedTier::demand).toList();
    List<SegmentView> free =
        inventory.free.stream().filter(segment -> !admission.isPlanned(segment)).toList();
    return new TierSnapshot(in.nowMillis(), usages, free);
  }

  /** The policy's moves that are allowed, in its order. */
  private List<Move> allowed(List<Move> wanted) {
    if (wanted.isEmpty()) {
      return wanted;
    }
    Map<Long, SegmentView> known = new HashMap<>();
    inventory.free.forEach(segment -> known.put(segment.id(), segment));
    List<Move> allowed = new ArrayList<>();
    for (Move move : wanted) {
      requireNonNull(move, "a move of the policy");
      check(move, known.remove(move.segment().id())).ifPresent(allowed::add);
    }
    return allowed;
  }

  /**
   * Copies down before copies up: they are carried out in this order, and take the free space that
   * they find.
   */
  private void admit(List<Move> pinned, List<Move> wanted) {
    admitInTurn(Move.Kind.EVICT, wanted);
    admitInTurn(Move.Kind.DESTAGE, wanted);
    for (Move move : pinned) {
      if (leavesSpace(tiers.get(move.toTier()), PlannedTier.needed(move.segment()))) {
        Optional<PlannedMove> unused = admission.promote(move, true);
      }
    }
    admitInTurn(Move.Kind.PROMOTE, wanted);
  }

  private void admitInTurn(Move.Kind kind, List<Move> wanted) {
    List<Move> moves = wanted.stream().filter(move -> move.kind() == kind).toList();
    List<PlannedMove> unused = admission.admitInTurn(moves, false);
  }

  /** The move of the segment as it is in this snapshot, if that is allowed. */
  private Optional<Move> check(Move move, @Nullable SegmentView segment) {
    if (segment == null) {
      return refuse(move, "the segment is not in the snapshot, or has been planned already");
    }
    boolean evicts = move.kind() == Move.Kind.EVICT;
    if (segment.active()
        && !evicts
        && (move.kind() == Move.Kind.PROMOTE || move.toTier() < logDirs)) {
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
          evicts ? Move.evict(segment) : new Move(move.kind(), segment, move.toTier()));
    } catch (IllegalArgumentException e) {
      return refuse(move, String.valueOf(e.getMessage()));
    }
  }

  private Optional<Move> refuse(Move move, String reason) {
    refused.add(new Refusal(move, reason));
    return Optional.empty();
  }
}
