package io.strata.kafka.migration.plan;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import io.strata.kafka.api.TierUsage;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Keeps what is used: the order is by the last use, which is the last change, or the last read if a
 * noteworthy part of the segment has been read recently. One stray read of an old segment is no
 * use.
 *
 * <p>A segment in use below comes up, into spare space or in place of clean ones whose last use is
 * longer ago: a consumer that lags has its data hot from the first part of each segment on.
 */
final class AccessPolicy implements MigrationPolicy {

  /** The part of a segment that must have been read recently. */
  static final String READ_SHARE = "read.share";

  private static final double LEAST_READ_SHARE = 0.001;
  private static final double HIGHEST_READ_SHARE = 100;

  /**
   * The time by which a segment must have been used later to take another's place, or the two would
   * take turns.
   */
  static final long LATER_MILLIS = 60_000;

  /** The part of a tier that may be exchanged in one round. */
  private static final int EXCHANGE_PART = 16;

  private final double readShare;
  private final Comparator<SegmentView> order;

  /** With the values of the parameters; throws IllegalArgumentException if one is no share. */
  AccessPolicy(Map<String, String> parameters) {
    readShare = share(parameters.getOrDefault(READ_SHARE, "0.1"));
    order = Comparator.comparingLong(this::lastUse).thenComparing(OldestFirst.ORDER);
  }

  private static double share(String text) {
    double value;
    try {
      value = Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      value = Double.NaN;
    }
    if (!(value >= LEAST_READ_SHARE && value <= HIGHEST_READ_SHARE)) {
      throw new IllegalArgumentException(
          "strata.migration.policy.%s: '%s', expected a number from %s to %s"
              .formatted(READ_SHARE, text, LEAST_READ_SHARE, HIGHEST_READ_SHARE));
    }
    return value;
  }

  private boolean isRead(SegmentView segment) {
    return segment.recentReadBytes() >= readShare * Math.max(1, segment.bytes());
  }

  private long lastUse(SegmentView segment) {
    return isRead(segment)
        ? Math.max(segment.changedMillis(), segment.readMillis())
        : segment.changedMillis();
  }

  @Override
  public Comparator<SegmentView> evictionOrder() {
    return order;
  }

  @Override
  public List<Move> plan(TierSnapshot snapshot) {
    OldestFirst plan = new OldestFirst(snapshot, order);
    plan.meetDemand();
    plan.fillSpare(
        (segment, tier) -> segment.tier() == tier || isRead(segment)); // to be whole needs no reads
    for (TierUsage tier : snapshot.tiers()) {
      exchange(plan, tier);
    }
    return plan.moves;
  }

  /** Plans promotions that evict clean segments which come first in the eviction order. */
  private void exchange(OldestFirst plan, TierUsage tier) {
    List<SegmentView> all = plan.sealed;
    List<SegmentView> clean =
        all.stream()
            .filter(s -> s.tier() == tier.tier() && s.clean() && !plan.isPlanned(s))
            .toList();
    long budget = tier.capacityBytes() / EXCHANGE_PART;
    long found = plan.spare[tier.tier()];
    int next = 0;
    for (int i = all.size() - 1; i >= 0 && budget > 0; i--) {
      SegmentView segment = all.get(i);
      if (segment.tier() <= tier.tier() || !isRead(segment) || !plan.mayRise(segment)) {
        continue;
      }
      long needed = PlannedTier.needed(segment);
      while (found < needed
          && next < clean.size()
          && lastUse(clean.get(next)) + LATER_MILLIS < lastUse(segment)) {
        found += clean.get(next++).cleanBytes();
      }
      if (found < needed) {
        return; // The rest was used longer ago still.
      }
      found -= needed;
      budget -= needed;
      plan.promoteBeyondSpare(segment, tier.tier());
    }
  }
}
