package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.FailureCause;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.MigrationStats.Latency;
import io.strata.kafka.migration.MigrationStats.TierStats;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Adds what ended engines have counted to the counts of the present one: a broker that moves
 * segments again has a new engine, and its counters go on.
 */
final class MoveTotals {
  private MoveTotals() {}

  /** The state of {@code now}, with the counts of both. */
  static MigrationStats plus(MigrationStats before, MigrationStats now) {
    List<TierStats> tiers = new ArrayList<>();
    for (int tier = 0; tier < now.tiers().size(); tier++) {
      tiers.add(plus(before.tiers().get(tier), now.tiers().get(tier)));
    }
    Map<FailureCause, Long> failures = new EnumMap<>(now.failures());
    before.failures().forEach((cause, count) -> failures.merge(cause, count, Long::sum));
    return new MigrationStats(
        tiers,
        now.queued(),
        now.inFlight(),
        now.threads(),
        now.downBytesPerSecond(),
        now.upBytesPerSecond(),
        plus(before.destageLatency(), now.destageLatency()),
        plus(before.promoteLatency(), now.promoteLatency()),
        failures,
        before.cancelled() + now.cancelled(),
        before.refusedMoves() + now.refusedMoves(),
        now.backingOff(),
        plus(before.roundLatency(), now.roundLatency()),
        before.failedRounds() + now.failedRounds(),
        now.failedRoundsInARow(),
        now.lastRoundCpuNanos());
  }

  private static TierStats plus(TierStats before, TierStats now) {
    return new TierStats(
        now.tier(),
        before.destagedBytes() + now.destagedBytes(),
        before.destagedSegments() + now.destagedSegments(),
        before.promotedBytes() + now.promotedBytes(),
        before.promotedSegments() + now.promotedSegments(),
        before.evictedBytes() + now.evictedBytes(),
        before.evictedSegments() + now.evictedSegments(),
        now.draining(),
        now.backlogBytes(),
        now.backlogSeconds());
  }

  private static Latency plus(Latency before, Latency now) {
    return new Latency(
        before.count() + now.count(),
        before.totalNanos() + now.totalNanos(),
        now.minNanos(),
        now.maxNanos(),
        now.stdDevNanos(),
        now.p50Nanos(),
        now.p75Nanos(),
        now.p95Nanos(),
        now.p98Nanos(),
        now.p99Nanos(),
        now.p999Nanos());
  }
}
