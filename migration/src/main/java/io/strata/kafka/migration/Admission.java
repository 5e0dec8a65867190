package io.strata.kafka.migration;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.MigrationSettings.Mode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Lets moves into a plan: each segment once, none beyond a tier's room, none against an obstacle.
 *
 * <p>Thread safety: used by one thread.
 */
final class Admission {

  private final Planner.Input in;
  private final Census census;
  private final int home;
  private final Set<Long> planned = new HashSet<>();
  private final List<PlannedMove> evictions = new ArrayList<>();
  private final List<PlannedMove> down = new ArrayList<>();
  private final List<PlannedMove> up = new ArrayList<>();

  Admission(Planner.Input in, Census census) {
    this.in = in;
    this.census = census;
    this.home = in.state().tiers().size();
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
   * @return where its copy goes; empty if it cannot be made now, for an obstacle or want of room
   */
  Optional<PlannedMove> admit(Move move, boolean evictAfter) {
    if (planned.contains(move.segment().id())) {
      return Optional.empty();
    }
    Optional<PlannedMove> admitted =
        switch (move.kind()) {
          case EVICT -> evict(move);
          case DESTAGE -> destage(move, evictAfter || in.settings().mode() == Mode.THRESHOLD);
          case PROMOTE -> promote(move);
        };
    admitted.ifPresent(m -> planned.add(m.id()));
    return admitted;
  }

  private Optional<PlannedMove> evict(Move move) {
    PlannedMove eviction = eviction(move.segment(), home);
    evictions.add(eviction);
    return Optional.of(eviction);
  }

  /** An eviction, which takes no room and meets no obstacle. */
  static PlannedMove eviction(SegmentView segment, int home) {
    Move move = Move.evict(segment);
    return new PlannedMove(move, Target.of(move, home), 0, false);
  }

  /** To the tier that is asked for, or the next below that has room; home always has. */
  private Optional<PlannedMove> destage(Move move, boolean evictAfter) {
    SegmentView segment = move.segment();
    for (int tier = move.toTier(); tier <= home; tier++) {
      long needed = tier == home ? 0 : Room.needed(segment, tier);
      Target target = Target.down(tier, home, segment.logDirectory());
      if ((tier == home || census.room.fits(tier, needed)) && census.admit(target)) {
        if (tier < home) {
          census.room.reserve(tier, needed);
        }
        PlannedMove admitted =
            new PlannedMove(Move.destage(segment, tier), target, needed, evictAfter);
        down.add(admitted);
        return Optional.of(admitted);
      }
    }
    return Optional.empty();
  }

  private Optional<PlannedMove> promote(Move move) {
    long needed = Room.needed(move.segment(), move.toTier());
    Target target = Target.of(move, home);
    if (!in.settings().promote()
        || !mayLeaveBehind(move)
        || !census.room.fits(move.toTier(), needed)
        || !census.admit(target)) {
      return Optional.empty();
    }
    census.room.reserve(move.toTier(), needed);
    PlannedMove admitted = new PlannedMove(move, target, needed, false);
    up.add(admitted);
    return Optional.of(admitted);
  }

  /**
   * What is left below must be whole: a dirty segment with its tail at home goes down, or becomes
   * whole in its own tier, before it can go up.
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
