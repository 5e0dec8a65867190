package io.strata.kafka.migration;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.MigrationSettings.Mode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The segments of one round, told apart by what may become of them, and what they add up to.
 *
 * <p>Thread safety: used by one thread.
 */
final class RoundInventory {

  private final Planner.Input in;
  private final int logDirs;

  /** The segments that the policy may see. */
  final List<SegmentView> free = new ArrayList<>();

  final List<SegmentView> pinned = new ArrayList<>();
  final List<SegmentView> excluded = new ArrayList<>();

  /** Clean in a pool, all or a part of them, and not pinned, in no order. */
  final List<SegmentView> evictable = new ArrayList<>();

  /** On the way down just now: clean, perhaps, by the time that the order of eviction is set. */
  final List<SegmentView> destaging = new ArrayList<>();

  /** Active ones whose new bytes go to the log file, for there was no space for them. */
  final List<SegmentView> displaced = new ArrayList<>();

  final TierSpace space;
  private final Set<String> directories = new HashSet<>();
  private final boolean[] canLeave;
  private final long[] leaving;
  private final long[] arriving;
  private final long[] lowerCopies;
  private final Map<Target, Integer> underWay = new HashMap<>();
  private final Map<Target, Integer> allowances = new HashMap<>();

  RoundInventory(Planner.Input in) {
    this.in = in;
    List<TierUsage> tiers = in.state().tiers();
    logDirs = tiers.size();
    space = new TierSpace(tiers);
    canLeave = new boolean[logDirs + 1];
    leaving = new long[logDirs + 1];
    arriving = new long[logDirs + 1];
    lowerCopies = new long[logDirs + 1];
    Set<Long> moving = new HashSet<>();
    for (PlannedMove move : in.inFlight()) {
      moving.add(move.id());
      addInFlight(move);
    }
    List<SegmentView> undecided = new ArrayList<>(in.state().segments().size());
    for (SegmentView segment : in.state().segments()) {
      directories.add(segment.logDirectory());
      if (moving.isEmpty() || !moving.contains(segment.id())) {
        sort(segment, undecided);
      }
    }
    chooseFree(undecided);
  }

  private void addInFlight(PlannedMove planned) {
    Move move = planned.move();
    SegmentView segment = move.segment();
    underWay.merge(planned.target(), 1, Integer::sum);
    if (move.kind() == Move.Kind.PROMOTE) {
      addLowerCopy(move);
    }
    if (planned.spaceBytes() > 0) {
      space.reserve(move.toTier(), planned.spaceBytes());
      arriving[move.toTier()] += planned.spaceBytes();
    }
    boolean leaves =
        move.kind() == Move.Kind.DESTAGE
            || (move.kind() == Move.Kind.EVICT && in.mode(segment.tier()) == Mode.THRESHOLD);
    if (move.kind() == Move.Kind.DESTAGE && ruleOf(segment) != TopicRules.Rule.PINNED) {
      destaging.add(segment);
    }
    if (leaves) {
      leaving[segment.tier()] +=
          move.kind() == Move.Kind.EVICT
              ? segment.cleanBytes()
              : Math.max(0, segment.poolBytes() - segment.cleanBytes() - planned.copiedBytes());
      canLeave[segment.tier()] = true;
    }
  }

  private TopicRules.Rule ruleOf(SegmentView segment) {
    return in.state().unwanted().contains(segment.id())
        ? TopicRules.Rule.EXCLUDED
        : in.rules().of(segment.name().id().topic());
  }

  private void sort(SegmentView segment, List<SegmentView> undecided) {
    TopicRules.Rule rule = ruleOf(segment);
    boolean inPool = segment.tier() < logDirs;
    if (rule != TopicRules.Rule.PINNED) {
      if (inPool && segment.evictable()) {
        evictable.add(segment);
        space.addEvictable(segment);
        canLeave[segment.tier()] |= in.mode(segment.tier()) == Mode.THRESHOLD;
      }
      if (!segment.active() || (inPool && mayCopyDown(segment))) {
        canLeave[segment.cleanTier().orElse(segment.tier())] = true;
      }
    }
    if (in.obstacles().waits(segment.id())) {
      return;
    }
    if (rule != TopicRules.Rule.EXCLUDED && isDisplaced(segment)) {
      displaced.add(segment);
    }
    switch (rule) {
      case PINNED -> {
        if (!segment.active()) {
          pinned.add(segment);
        }
      }
      case EXCLUDED -> {
        boolean leaves = segment.dirtyBytes() == 0 ? segment.evictable() : mayCopyDown(segment);
        if (inPool && (!segment.active() || leaves)) {
          excluded.add(segment);
        }
      }
      default -> undecided.add(segment);
    }
  }

  private boolean isDisplaced(SegmentView segment) {
    return segment.active() && (segment.tier() < logDirs ? segment.spilled() : !segment.found());
  }

  private boolean mayCopyDown(SegmentView segment) {
    return Marks.worthACopy(segment, in.state().tiers().get(segment.tier()));
  }

  /**
   * Hides what cannot get down at present, since a policy would count on it: a full disk must not
   * hold up what goes to others. Of those for a target that is tried again, the oldest is shown.
   */
  private void chooseFree(List<SegmentView> undecided) {
    Map<Target, SegmentView> probes = new HashMap<>();
    for (SegmentView segment : undecided) {
      int lowest = segment.cleanTier().orElse(segment.tier());
      if (lowest >= logDirs || (!segment.active() && roomBetween(lowest))) {
        free.add(segment);
        continue;
      }
      Target target = Target.down(logDirs, logDirs, segment.logDirectory());
      int allowance = allowance(target);
      if (allowance == Integer.MAX_VALUE) {
        free.add(segment);
      } else if (allowance > 0) {
        probes.merge(target, segment, (a, b) -> OldestFirst.ORDER.compare(a, b) <= 0 ? a : b);
      }
    }
    free.addAll(probes.values());
  }

  private boolean roomBetween(int lowest) {
    for (int tier = lowest + 1; tier < logDirs; tier++) {
      if (space.bytes(tier) > 0 && allowance(Target.down(tier, logDirs, "")) > 0) {
        return true;
      }
    }
    return false;
  }

  /** How many more moves to a target may be planned. */
  int allowance(Target target) {
    Integer known = allowances.get(target);
    if (known == null) {
      int allowed = in.obstacles().allowance(target);
      known =
          allowed == Integer.MAX_VALUE
              ? allowed
              : Math.max(0, allowed - underWay.getOrDefault(target, 0));
      allowances.put(target, known);
    }
    return known;
  }

  /** Takes one from a target's allowance. */
  boolean admit(Target target) {
    int left = allowance(target);
    if (left == 0) {
      return false;
    }
    if (left != Integer.MAX_VALUE) {
      allowances.put(target, left - 1);
    }
    return true;
  }

  /**
   * A clean segment that goes up leaves a copy that counts for the tier it comes from: not if that
   * would begin to drain, and have the segment down again.
   */
  boolean mayAddLowerCopy(Move move) {
    SegmentView segment = move.segment();
    if (!leavesLowerCopy(segment) || move.toTier() == segment.tier()) {
      return true;
    }
    TierUsage tier = in.state().tiers().get(segment.tier());
    long dirty = tier.dirtyBytes() + lowerCopies[segment.tier()] + segment.poolBytes();
    return dirty <= Marks.of(in.settings(), in.mode(segment.tier()), tier).low();
  }

  /** A promotion is planned. */
  void addLowerCopy(Move move) {
    if (leavesLowerCopy(move.segment())) {
      lowerCopies[move.segment().tier()] += move.segment().poolBytes();
    }
  }

  /** Tells whether a copy of the segment stays in its tier, and counts there, when it goes up. */
  private boolean leavesLowerCopy(SegmentView segment) {
    return !in.state().relocates() && segment.clean() && segment.tier() < logDirs;
  }

  int directories() {
    return Math.max(1, directories.size());
  }

  boolean canLeave(int tier) {
    return canLeave[tier];
  }

  /** Bytes of a tier that moves under way are about to take off the measured ones. */
  long leaving(int tier) {
    return leaving[tier];
  }

  /** Bytes that moves under way are about to add to a tier. */
  long arriving(int tier) {
    return arriving[tier];
  }
}
