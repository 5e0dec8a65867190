package io.strata.kafka.migration.plan;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import io.strata.kafka.api.TierUsage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;

/**
 * The common part of the built-in policies: sealed segments in an order, the demand of the tiers
 * met from its beginning, spare space filled from its end. Active segments meet the demand that
 * sealed ones leave, those first that have most to copy.
 */
final class OldestFirst {

  /** Changed longest ago first: the order of a policy that has none of its own. */
  static final Comparator<SegmentView> ORDER =
      ((MigrationPolicy) snapshot -> List.of()).evictionOrder();

  private final TierSnapshot snapshot;

  /** The sealed segments, the first to leave first. */
  final List<SegmentView> sealed;

  private final List<SegmentView> active = new ArrayList<>();
  private final Set<Long> planned = new HashSet<>();
  final List<Move> moves = new ArrayList<>();
  private final long[] excess;

  /** The bytes that may come up, by tier. */
  final long[] spare;

  OldestFirst(TierSnapshot snapshot, Comparator<SegmentView> order) {
    this.snapshot = snapshot;
    sealed = new ArrayList<>(snapshot.segments().size());
    for (SegmentView segment : snapshot.segments()) {
      if (!segment.active()) {
        sealed.add(segment);
      } else if (segment.tier() < snapshot.logDirs()
          && PlannedTier.worthACopy(segment, snapshot.tiers().get(segment.tier()))) {
        active.add(segment);
      }
    }
    sealed.sort(order);
    active.sort(Comparator.comparingLong(SegmentView::dirtyBytes).reversed().thenComparing(ORDER));
    excess = new long[snapshot.logDirs()];
    spare = new long[snapshot.logDirs()];
    for (TierUsage tier : snapshot.tiers()) {
      excess[tier.tier()] = tier.excessBytes();
      spare[tier.tier()] = tier.spareBytes();
    }
  }

  /**
   * The policy {@code newest}: the newest data stays. Above a tier's mark the oldest segments go
   * down, and spare space is filled with the newest from below, save with what was there before
   * Strata.
   */
  static List<Move> newestStay(TierSnapshot snapshot) {
    OldestFirst order = new OldestFirst(snapshot, ORDER);
    order.meetDemand();
    order.fillSpare((segment, tier) -> !segment.found());
    return order.moves;
  }

  boolean isPlanned(SegmentView segment) {
    return planned.contains(segment.id());
  }

  /**
   * The tier that the segment's only durable copy is in: the lower one of two. Its demand is what
   * the segment counts for.
   */
  static int lowest(SegmentView segment) {
    return segment.cleanTier().orElse(segment.tier());
  }

  /**
   * Has a segment go one step down. The upper copy of a clean one is discarded first: the lower one
   * can move on only when it is the one that is read.
   */
  void leave(SegmentView segment, int toTier) {
    int lowest = lowest(segment);
    if (lowest < snapshot.logDirs()) {
      excess[lowest] -=
          segment.tier() == lowest ? segment.poolBytes() - segment.cleanBytes() : segment.bytes();
    }
    planned.add(segment.id());
    moves.add(segment.clean() ? Move.evict(segment) : Move.destage(segment, toTier));
  }

  /** Has segments leave, the first first, until no tier has an excess any more. */
  void meetDemand() {
    int tiersInNeed = 0;
    for (long bytes : excess) {
      tiersInNeed += bytes > 0 ? 1 : 0;
    }
    for (List<SegmentView> segments : List.of(sealed, active)) {
      for (SegmentView segment : segments) {
        if (tiersInNeed == 0) {
          return;
        }
        int lowest = lowest(segment);
        if (lowest < snapshot.logDirs() && excess[lowest] > 0 && !isPlanned(segment)) {
          leave(segment, segment.active() ? snapshot.logDirs() : lowest + 1);
          tiersInNeed -= excess[lowest] > 0 ? 0 : 1;
        }
      }
    }
  }

  /**
   * Fills spare space: first makes whole what has spilled, then takes the last of the order from
   * below. Stops in a tier at the first that does not fit, so that nothing comes up before
   * something that is after it in the order.
   *
   * @param wanted which segments may be promoted to which tiers
   */
  void fillSpare(BiPredicate<SegmentView, Integer> wanted) {
    for (int tier = 0; tier < snapshot.logDirs(); tier++) {
      for (int i = sealed.size() - 1; i >= 0 && spare[tier] > 0; i--) {
        SegmentView segment = sealed.get(i);
        if (segment.spilled()
            && segment.tier() == tier
            && !isPlanned(segment)
            && wanted.test(segment, tier)) {
          boolean unused = promote(segment, tier);
        }
      }
      for (int i = sealed.size() - 1; i >= 0 && spare[tier] > 0; i--) {
        SegmentView segment = sealed.get(i);
        if (segment.tier() > tier
            && mayRise(segment)
            && wanted.test(segment, tier)
            && !promote(segment, tier)) {
          break;
        }
      }
    }
  }

  /**
   * Not out of a tier that wants to be rid of the segment: its copy there would stay. Nor while a
   * part of it is lower still.
   */
  boolean mayRise(SegmentView segment) {
    return !isPlanned(segment)
        && (!segment.spilled() || segment.clean())
        && (segment.tier() == snapshot.logDirs()
            || segment.clean()
            || snapshot.tiers().get(segment.tier()).excessBytes() == 0);
  }

  private boolean promote(SegmentView segment, int tier) {
    long needed = PlannedTier.needed(segment);
    if (needed > spare[tier]) {
      return false;
    }
    spare[tier] -= needed;
    promoteBeyondSpare(segment, tier);
    return true;
  }

  void promoteBeyondSpare(SegmentView segment, int tier) {
    planned.add(segment.id());
    moves.add(Move.promote(segment, tier));
  }
}
