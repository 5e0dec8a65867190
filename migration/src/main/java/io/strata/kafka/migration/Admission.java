package io.strata.kafka.migration;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.MigrationSettings.Mode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Lets moves into a plan: each segment once, none beyond a tier's space, none against an obstacle.
 *
 * <p>Thread safety: used by one thread.
 */
final class Admission {

  private final Planner.Input in;
  private final RoundInventory inventory;
  private final int logDirs;
  private final Set<Long> planned = new HashSet<>();
  private final List<PlannedMove> evictions = new ArrayList<>();
  private final List<PlannedMove> down = new ArrayList<>();
  private final List<PlannedMove> up = new ArrayList<>();

  /** By tier: clean segments that promotions may evict, the first one first. */
  private final List<List<SegmentView>> victims = new ArrayList<>();

  private final int[] nextVictim;
  private Comparator<SegmentView> giveWayOrder = OldestFirst.ORDER;

  Admission(Planner.Input in, RoundInventory inventory) {
    this.in = in;
    this.inventory = inventory;
    this.logDirs = in.state().tiers().size();
    nextVictim = new int[logDirs];
    for (int tier = 0; tier < logDirs; tier++) {
      victims.add(new ArrayList<>());
    }
  }

  /** Sets what may be evicted for promotions, in the order of eviction. */
  void victims(List<SegmentView> order, Comparator<SegmentView> comparator) {
    giveWayOrder = comparator;
    order.forEach(segment -> victims.get(segment.tier()).add(segment));
  }

  boolean isPlanned(SegmentView segment) {
    return planned.contains(segment.id());
  }

  int size() {
    return planned.size();
  }

  /**
   * Lets a move in that fits the segment.
   *
   * @return where its copy goes; empty if it cannot be made now, for an obstacle or want of space
   */
  Optional<PlannedMove> admit(Move move, boolean evictAfter) {
    if (planned.contains(move.segment().id())) {
      return Optional.empty();
    }
    Optional<PlannedMove> admitted =
        switch (move.kind()) {
          case EVICT -> evict(move);
          case DESTAGE ->
              destage(move, evictAfter || in.mode(move.segment().tier()) == Mode.THRESHOLD);
          case PROMOTE -> promote(move, false);
        };
    admitted.ifPresent(m -> planned.add(m.id()));
    return admitted;
  }

  /** A pinned segment takes the place of any that is not. */
  Optional<PlannedMove> promotePinned(Move move) {
    Optional<PlannedMove> admitted = promote(move, true);
    admitted.ifPresent(m -> planned.add(m.id()));
    return admitted;
  }

  /**
   * Lets an active segment go on in a tier; it takes an extent there, and a slot if it has none.
   *
   * @return whether the tier has both
   */
  boolean goOn(Move move) {
    SegmentView segment = move.segment();
    int tier = move.toTier();
    Target target = Target.of(move, logDirs);
    boolean hasSlot = segment.tier() == tier;
    if (planned.contains(segment.id())
        || !(hasSlot || inventory.space.missingSlots(tier) == 0)
        || !inventory.admit(target)) {
      return false;
    }
    long needed = hasSlot ? 0 : TierSpace.EXTENT_BYTES;
    if (hasSlot) {
      inventory.space.take(tier, in.state().tiers().get(tier).leastCopyBytes());
    } else {
      inventory.space.reserve(tier, needed);
    }
    planned.add(segment.id());
    up.add(new PlannedMove(move, target, needed, false));
    return true;
  }

  /** Takes no space and meets no obstacle. */
  private Optional<PlannedMove> evict(Move move) {
    PlannedMove eviction = new PlannedMove(move, Target.of(move, logDirs), 0, false);
    evictions.add(eviction);
    inventory.space.evict(move.segment());
    return Optional.of(eviction);
  }

  /**
   * To the tier that is asked for, or the next below that has space; the log directories always
   * have.
   */
  private Optional<PlannedMove> destage(Move move, boolean evictAfter) {
    SegmentView segment = move.segment();
    for (int tier = move.toTier(); tier <= logDirs; tier++) {
      long needed = tier == logDirs ? 0 : TierSpace.needed(segment);
      Target target = Target.down(tier, logDirs, segment.logDirectory());
      if ((tier == logDirs || inventory.space.fits(tier, needed)) && inventory.admit(target)) {
        if (tier < logDirs) {
          inventory.space.reserve(tier, needed);
        }
        PlannedMove admitted =
            new PlannedMove(
                Move.destage(segment, tier), target, needed, evictAfter && mayBeClean(tier));
        down.add(admitted);
        return Optional.of(admitted);
      }
    }
    return Optional.empty();
  }

  /** Whether a segment that is copied into a tier stays in its own, too. */
  private boolean mayBeClean(int tier) {
    return tier == logDirs || !in.state().relocates();
  }

  /**
   * Into free space, for which clean segments are evicted that come before it in the eviction
   * order: nothing that the policy would rather keep is evicted.
   */
  private Optional<PlannedMove> promote(Move move, boolean pinned) {
    SegmentView segment = move.segment();
    int tier = move.toTier();
    long needed = TierSpace.needed(segment);
    Target target = Target.of(move, logDirs);
    if (!in.settings().promote()
        || !mayLeaveBehind(move)
        || !inventory.mayAddLowerCopy(move)
        || !inventory.space.fits(tier, needed)
        || inventory.allowance(target) == 0) {
      return Optional.empty();
    }
    Optional<List<SegmentView>> giveWay = victimsFor(segment, tier, needed, pinned);
    if (giveWay.isEmpty()) {
      return Optional.empty();
    }
    for (SegmentView victim : giveWay.get()) {
      planned.add(victim.id());
      Optional<PlannedMove> unused = evict(Move.evict(victim));
    }
    boolean admittedToTarget = inventory.admit(target);
    inventory.addLowerCopy(move);
    inventory.space.reserve(tier, needed);
    if (!pinned && segment.clean() && segment.tier() > tier) {
      inventory.space.keep(segment);
    }
    PlannedMove admitted = new PlannedMove(move, target, needed, false);
    up.add(admitted);
    return admittedToTarget ? Optional.of(admitted) : Optional.empty();
  }

  /** Which clean segments make the space; empty if those that may be evicted are too few. */
  private Optional<List<SegmentView>> victimsFor(
      SegmentView segment, int tier, long needed, boolean pinned) {
    List<SegmentView> chosen = new ArrayList<>();
    long missing = inventory.space.missing(tier, needed);
    long missingSlots = inventory.space.missingSlots(tier);
    int next = nextVictim[tier];
    while (missing > 0 || missingSlots > 0) {
      if (next >= victims.get(tier).size()) {
        return Optional.empty();
      }
      SegmentView victim = victims.get(tier).get(next++);
      if (planned.contains(victim.id()) || victim.id() == segment.id()) {
        continue;
      }
      if (!pinned && giveWayOrder.compare(victim, segment) >= 0) {
        return Optional.empty();
      }
      chosen.add(victim);
      missing -= victim.cleanBytes();
      missingSlots -= victim.leavesWhole() ? 1 : 0;
    }
    nextVictim[tier] = next;
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
    List<PlannedMove> all = new ArrayList<>(planned.size());
    all.addAll(evictions);
    all.addAll(down);
    all.addAll(up);
    return all;
  }
}
