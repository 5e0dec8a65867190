package io.strata.kafka.migration.plan;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.Plan.PlannedMove.Target;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Lets moves into a plan: each segment once, none beyond a tier's space, none against an obstacle.
 * The moves that a policy asks for are shared between log directories, and in each between
 * partitions.
 */
final class Admission {

  private final Planner.Input in;
  private final RoundInventory inventory;
  private final int logDirs;
  private final Comparator<SegmentView> giveWayOrder;
  private final Set<Long> planned = new HashSet<>();
  private final Map<Move.Kind, List<PlannedMove>> admitted = new EnumMap<>(Move.Kind.class);

  Admission(Planner.Input in, RoundInventory inventory, Comparator<SegmentView> giveWayOrder) {
    this.in = in;
    this.inventory = inventory;
    this.giveWayOrder = giveWayOrder;
    logDirs = inventory.tiers.size();
  }

  boolean isPlanned(SegmentView segment) {
    return planned.contains(segment.id());
  }

  private PlannedMove add(Move move, Target target, long needed, boolean evictAfter) {
    PlannedMove added = new PlannedMove(move, target, needed, evictAfter);
    planned.add(added.id());
    admitted.computeIfAbsent(move.kind(), kind -> new ArrayList<>()).add(added);
    return added;
  }

  /** Lets moves in, one of each log directory in turn, and in each one of each partition. */
  List<PlannedMove> admitInTurn(List<Move> moves, boolean evictAfter) {
    List<Move> fair =
        inTurn(inTurn(moves, Admission::partition), move -> move.segment().logDirectory());
    return fair.stream().flatMap(move -> admit(move, evictAfter).stream()).toList();
  }

  /** Equal for segments of one replica in one log directory alone. */
  private static Object partition(Move move) {
    SegmentName name = move.segment().name();
    return List.of(
        move.segment().logDirectory(), name.id().topic(), name.id().partition(), name.replica());
  }

  /** One move of each group in turn; within a group the order stays. */
  private static List<Move> inTurn(List<Move> moves, Function<Move, Object> group) {
    Map<Object, Deque<Move>> groups = new LinkedHashMap<>();
    for (Move move : moves) {
      groups.computeIfAbsent(group.apply(move), key -> new ArrayDeque<>()).add(move);
    }
    Deque<Deque<Move>> turns = new ArrayDeque<>(groups.values());
    List<Move> fair = new ArrayList<>(moves.size());
    while (!turns.isEmpty()) {
      Deque<Move> next = turns.remove();
      fair.add(next.remove());
      if (!next.isEmpty()) {
        turns.add(next);
      }
    }
    return fair;
  }

  /**
   * Lets a move in that fits the segment.
   *
   * @return where its copy goes; empty if it cannot be made now, for an obstacle or want of space
   */
  Optional<PlannedMove> admit(Move move, boolean evictAfter) {
    if (isPlanned(move.segment())) {
      return Optional.empty();
    }
    return switch (move.kind()) {
      case EVICT -> Optional.of(evict(move));
      case DESTAGE -> destage(move, evictAfter);
      case PROMOTE -> promote(move, false);
    };
  }

  /**
   * Lets an active segment go on in a tier; it takes an extent there, and a slot if it has none.
   */
  boolean goOn(Move move) {
    PlannedTier tier = inventory.tiers.get(move.toTier());
    Target target = Target.of(move, logDirs);
    boolean hasSlot = move.segment().tier() == move.toTier();
    if (isPlanned(move.segment())
        || !(hasSlot || tier.missingSlots() == 0)
        || !inventory.admit(target)) {
      return false;
    }
    long needed = hasSlot ? 0 : PlannedTier.EXTENT_BYTES;
    tier.reserve(hasSlot ? tier.usage.leastCopyBytes() : needed, hasSlot ? 0 : 1);
    PlannedMove unused = add(move, target, needed, false);
    return true;
  }

  private PlannedMove evict(Move move) {
    inventory.tiers.get(move.segment().tier()).evict(move.segment());
    return add(move, Target.of(move, logDirs), 0, false);
  }

  /**
   * To the tier that is asked for, or the next below that has space; the log directories always
   * have.
   */
  private Optional<PlannedMove> destage(Move move, boolean evictAfter) {
    SegmentView segment = move.segment();
    boolean leaves = evictAfter || inventory.tiers.get(segment.tier()).mode == Mode.THRESHOLD;
    long needed = PlannedTier.needed(segment);
    for (int to = move.toTier(); to < logDirs; to++) {
      PlannedTier tier = inventory.tiers.get(to);
      Target target = Target.down(to, logDirs, "");
      if (tier.fits(needed) && inventory.admit(target)) {
        tier.reserve(needed, 1);
        boolean staysInBoth = !in.state().relocates();
        return Optional.of(add(Move.destage(segment, to), target, needed, leaves && staysInBoth));
      }
    }
    Target target = Target.down(logDirs, logDirs, segment.logDirectory());
    return inventory.admit(target)
        ? Optional.of(add(Move.destage(segment, logDirs), target, 0, leaves))
        : Optional.empty();
  }

  /**
   * Into free space, for which clean segments are evicted that come before it in the eviction
   * order: nothing that the policy would rather keep is evicted. A pinned segment takes the place
   * of any that is not.
   */
  Optional<PlannedMove> promote(Move move, boolean pinned) {
    SegmentView segment = move.segment();
    PlannedTier tier = inventory.tiers.get(move.toTier());
    long needed = PlannedTier.needed(segment);
    Target target = Target.of(move, logDirs);
    if (!in.settings().promote()
        || !mayLeaveBehind(move)
        || !inventory.mayAddLowerCopy(move)
        || !tier.fits(needed)
        || inventory.allowance(target) == 0) {
      return Optional.empty();
    }
    Optional<List<SegmentView>> giveWay = victimsFor(segment, tier, needed, pinned);
    if (giveWay.isEmpty() || !inventory.admit(target)) {
      return Optional.empty();
    }
    giveWay.get().forEach(victim -> evict(Move.evict(victim)));
    inventory.addLowerCopy(move);
    tier.reserve(needed, 1);
    if (!pinned && segment.clean() && segment.tier() > move.toTier()) {
      inventory.tiers.get(segment.tier()).keep(segment);
    }
    return Optional.of(add(move, target, needed, false));
  }

  /** Which clean segments make the space; empty if those that may be evicted are too few. */
  private Optional<List<SegmentView>> victimsFor(
      SegmentView segment, PlannedTier tier, long needed, boolean pinned) {
    List<SegmentView> chosen = new ArrayList<>();
    long missing = tier.missing(needed);
    long missingSlots = tier.missingSlots();
    int next = tier.nextVictim;
    while (missing > 0 || missingSlots > 0) {
      if (next >= tier.victims.size()) {
        return Optional.empty();
      }
      SegmentView victim = tier.victims.get(next++);
      if (isPlanned(victim) || victim.id() == segment.id()) {
        continue;
      }
      if (!pinned && giveWayOrder.compare(victim, segment) >= 0) {
        return Optional.empty();
      }
      chosen.add(victim);
      missing -= victim.cleanBytes();
      missingSlots -= PlannedTier.slots(victim);
    }
    tier.nextVictim = next;
    return Optional.of(chosen);
  }

  /**
   * Keeps what is left below whole: a dirty segment with its tail in the log file goes down, or
   * becomes whole in its own tier, before it can go up.
   */
  static boolean mayLeaveBehind(Move move) {
    SegmentView segment = move.segment();
    return !segment.spilled() || segment.clean() || move.toTier() == segment.tier();
  }

  List<PlannedMove> moves() {
    return Stream.of(Move.Kind.EVICT, Move.Kind.DESTAGE, Move.Kind.PROMOTE)
        .flatMap(kind -> admitted.getOrDefault(kind, List.of()).stream())
        .toList();
  }
}
