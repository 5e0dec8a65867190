package io.strata.kafka.migration.plan;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.Plan.PlannedMove.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The segments of one round, sorted by what may become of them, with their sums. */
final class RoundInventory {

  private final Planner.Input in;
  private final int logDirs;

  /** The tiers that have pools. */
  final List<PlannedTier> tiers = new ArrayList<>();

  /** The segments that the policy may see. */
  final List<SegmentView> free = new ArrayList<>();

  final List<SegmentView> pinned = new ArrayList<>();

  /** Leave the pools as soon as they are sealed, or as far as they can. */
  final List<SegmentView> excluded = new ArrayList<>();

  /** Clean in a pool, all or a part of them, and not pinned, in no order. */
  final List<SegmentView> evictable = new ArrayList<>();

  /** On the way down just now: clean, perhaps, by the time that the order of eviction is set. */
  final List<SegmentView> destaging = new ArrayList<>();

  /** Active ones whose new bytes go to the log file, for there was no space for them. */
  final List<SegmentView> displaced = new ArrayList<>();

  private final Set<String> directories = new HashSet<>();
  private final Map<Target, Integer> underWay = new HashMap<>();
  private final Map<Target, Integer> allowances = new HashMap<>();

  RoundInventory(Planner.Input in) {
    this.in = in;
    for (TierUsage tier : in.state().tiers()) {
      tiers.add(new PlannedTier(in.settings(), in.state().relocates(), tier));
    }
    logDirs = tiers.size();
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
    if (planned.spaceBytes() > 0) {
      tiers.get(move.toTier()).reserve(planned.spaceBytes(), 1);
      tiers.get(move.toTier()).arriving += planned.spaceBytes();
    }
    switch (move.kind()) {
      case PROMOTE -> addLowerCopy(move);
      case DESTAGE -> {
        if (!isPinned(segment)) {
          destaging.add(segment);
        }
        long left = segment.poolBytes() - segment.cleanBytes() - planned.copiedBytes();
        leaves(tiers.get(segment.tier()), Math.max(0, left));
      }
      default -> {
        if (tiers.get(segment.tier()).mode == Mode.THRESHOLD) {
          leaves(tiers.get(segment.tier()), segment.cleanBytes());
        }
      }
    }
  }

  private static void leaves(PlannedTier tier, long bytes) {
    tier.leaving += bytes;
    tier.canLeave = true;
  }

  private boolean isExcluded(SegmentView segment) {
    return in.state().unwanted().contains(segment.id());
  }

  private boolean isPinned(SegmentView segment) {
    return !isExcluded(segment) && in.pinned().test(segment.name().id().topic());
  }

  private void sort(SegmentView segment, List<SegmentView> undecided) {
    boolean isPinned = isPinned(segment);
    boolean inPool = segment.tier() < logDirs;
    if (!isPinned) {
      if (inPool && segment.evictable()) {
        PlannedTier tier = tiers.get(segment.tier());
        evictable.add(segment);
        tier.addEvictable(segment);
        tier.canLeave |= tier.mode == Mode.THRESHOLD;
      }
      int lowest = OldestFirst.lowest(segment);
      if (lowest < logDirs && (!segment.active() || mayCopyDown(segment))) {
        tiers.get(lowest).canLeave = true;
      }
    }
    if (in.backOffs().waits(segment.id())) {
      return;
    }
    boolean isExcluded = isExcluded(segment);
    if (!isExcluded && isDisplaced(segment)) {
      displaced.add(segment);
    }
    if (isPinned) {
      if (!segment.active()) {
        pinned.add(segment);
      }
    } else if (!isExcluded) {
      undecided.add(segment);
    } else if (inPool) {
      boolean leavesInPart = segment.dirtyBytes() == 0 ? segment.evictable() : mayCopyDown(segment);
      if (!segment.active() || leavesInPart) {
        excluded.add(segment);
      }
    }
  }

  /** A segment without bytes needs no slot yet. */
  private boolean isDisplaced(SegmentView segment) {
    return segment.active()
        && segment.bytes() > 0
        && (segment.tier() < logDirs ? segment.spilled() : !segment.found());
  }

  private boolean mayCopyDown(SegmentView segment) {
    return PlannedTier.worthACopy(segment, in.state().tiers().get(segment.tier()));
  }

  /**
   * Hides segments that cannot get down at present, since a policy would count on them: a full disk
   * must not hold up what goes to others. For a target that is tried again, shows the oldest
   * segment of each tier that a policy may copy there.
   */
  private void chooseFree(List<SegmentView> undecided) {
    Map<Probe, SegmentView> probes = new HashMap<>();
    for (SegmentView segment : undecided) {
      int lowest = OldestFirst.lowest(segment);
      if (lowest >= logDirs || (!segment.active() && spaceBetween(lowest))) {
        free.add(segment);
        continue;
      }
      Target target = Target.down(logDirs, logDirs, segment.logDirectory());
      int allowance = allowance(target);
      if (allowance == Integer.MAX_VALUE) {
        free.add(segment);
      } else if (allowance > 0 && (!segment.active() || mayCopyDown(segment))) {
        probes.merge(
            new Probe(target, lowest),
            segment,
            (a, b) -> OldestFirst.ORDER.compare(a, b) <= 0 ? a : b);
      }
    }
    free.addAll(probes.values());
  }

  /** A target that is tried again, and the tier from which it gets a segment. */
  private record Probe(Target target, int tier) {}

  private boolean spaceBetween(int lowest) {
    for (int tier = lowest + 1; tier < logDirs; tier++) {
      if (tiers.get(tier).bytes() > 0 && allowance(Target.down(tier, logDirs, "")) > 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns how many more moves to a target may be planned. */
  int allowance(Target target) {
    return allowances.computeIfAbsent(
        target,
        to -> {
          int allowed = in.backOffs().allowance(to);
          return allowed == Integer.MAX_VALUE
              ? allowed
              : Math.max(0, allowed - underWay.getOrDefault(to, 0));
        });
  }

  /** Takes one from a target's allowance. */
  boolean admit(Target target) {
    int left = allowance(target);
    if (left > 0 && left < Integer.MAX_VALUE) {
      allowances.put(target, left - 1);
    }
    return left > 0;
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
    PlannedTier tier = tiers.get(segment.tier());
    return tier.usage.dirtyBytes() + tier.lowerCopies + segment.poolBytes() <= tier.low;
  }

  /** A promotion is planned. */
  void addLowerCopy(Move move) {
    if (leavesLowerCopy(move.segment())) {
      tiers.get(move.segment().tier()).lowerCopies += move.segment().poolBytes();
    }
  }

  /** Returns whether a copy of the segment stays in its tier, and counts there, when it goes up. */
  private boolean leavesLowerCopy(SegmentView segment) {
    return !in.state().relocates() && segment.clean() && segment.tier() < logDirs;
  }

  int directories() {
    return Math.max(1, directories.size());
  }
}
