package com.example.strata;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import io.strata.kafka.api.TierUsage;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Copies segments down in quiet hours, when the disks have nothing else to do: then all that is
 * sealed goes. At other times only what is above the tier's mark does, so that space never runs out.
 *
 * <p>A pure function of the snapshot: the time is the snapshot's, nothing is remembered. Immutable,
 * and so safe for use by any thread.
 */
final class QuietHours implements MigrationPolicy {

  private static final Comparator<SegmentView> OLDEST_FIRST =
      Comparator.comparingLong(SegmentView::changedMillis).thenComparingLong(SegmentView::id);

  private final LocalTime from;
  private final LocalTime to;
  private final ZoneId zone;

  /** Quiet from {@code from} on and before {@code to}, perhaps over midnight. */
  QuietHours(LocalTime from, LocalTime to, ZoneId zone) {
    this.from = from;
    this.to = to;
    this.zone = zone;
  }

  @Override
  public List<Move> plan(TierSnapshot snapshot) {
    boolean quiet = isQuiet(snapshot.nowMillis());
    List<SegmentView> oldestFirst = new ArrayList<>(snapshot.segments());
    oldestFirst.sort(OLDEST_FIRST);
    List<Move> moves = new ArrayList<>();
    for (TierUsage tier : snapshot.tiers()) {
      addMovesOf(tier, oldestFirst, quiet ? Long.MAX_VALUE : tier.excessBytes(), moves);
    }
    return moves;
  }

  private static void addMovesOf(
      TierUsage tier, List<SegmentView> oldestFirst, long wantedBytes, List<Move> moves) {
    long left = wantedBytes;
    for (SegmentView segment : oldestFirst) {
      if (left <= 0) {
        return;
      }
      if (segment.active()) {
        continue; // Kafka appends to it: left until it is sealed.
      }
      if (segment.tier() == tier.tier() && !segment.clean()) {
        moves.add(Move.destage(segment, tier.tier() + 1));
        left -= segment.poolBytes() - segment.cleanBytes();
      } else if (segment.cleanTier().orElse(-1) == tier.tier() && tier.excessBytes() > 0) {
        // Its only durable copy is here, and it is read from a tier above: that copy goes first.
        moves.add(Move.evict(segment));
        left -= segment.bytes();
      }
    }
  }

  boolean isQuiet(long millis) {
    LocalTime time = Instant.ofEpochMilli(millis).atZone(zone).toLocalTime();
    boolean afterFrom = !time.isBefore(from);
    boolean beforeTo = time.isBefore(to);
    return from.isBefore(to) ? afterFrom && beforeTo : afterFrom || beforeTo;
  }
}
