package io.strata.kafka.migration;

import io.strata.kafka.migration.plan.FailureCause;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The counts of the engine at one moment. Counts are since the engine was made.
 *
 * @param tiers one for each tier with pools, fastest first
 * @param queued moves that wait for a thread
 * @param inFlight moves that a thread makes
 * @param threads threads that make moves, as set
 * @param downBytesPerSecond what was copied down lately (over ten seconds)
 * @param upBytesPerSecond what was copied up lately
 * @param destageLatency how long destages took, waiting for the rate limit included
 * @param promoteLatency how long promotions took, waiting for the rate limit included
 * @param failures failed moves, for each cause (all causes are there)
 * @param cancelled moves cancelled without a fault
 * @param refusedMoves moves of the policy that were not allowed
 * @param backingOff segments that wait after a failure
 * @param corrupt segments that a move has found corrupt, and no move has copied since
 * @param roundLatency planning rounds, and how long they took
 * @param failedRounds of the rounds, those that failed
 * @param failedRoundsInARow those that failed since one succeeded
 * @param lastRoundCpuNanos processor time of the last one; 0 where the JVM does not measure it
 */
public record MigrationStats(
    List<TierStats> tiers,
    int queued,
    int inFlight,
    int threads,
    double downBytesPerSecond,
    double upBytesPerSecond,
    Latency destageLatency,
    Latency promoteLatency,
    Map<FailureCause, Long> failures,
    long cancelled,
    long refusedMoves,
    int backingOff,
    int corrupt,
    Latency roundLatency,
    long failedRounds,
    long failedRoundsInARow,
    long lastRoundCpuNanos) {

  /** Copies the collections. */
  public MigrationStats {
    tiers = List.copyOf(tiers);
    failures = Map.copyOf(failures);
  }

  /** Planning rounds. */
  public long rounds() {
    return roundLatency.count();
  }

  /**
   * The counts of one tier.
   *
   * @param tier its number
   * @param destagedBytes copied down from it
   * @param destagedSegments copied down from it
   * @param promotedBytes copied up into it
   * @param promotedSegments copied up into it
   * @param evictedBytes freed in it by the engine; what appends evict is counted by the tier
   * @param evictedSegments freed in it by the engine
   * @param draining whether it is above its low mark on the way down from the high one
   * @param backlogBytes what is to be copied down (or freed) until its low mark, moves under way
   *     included; 0 when it is not draining
   * @param backlogSeconds how long that takes at the recent rate; empty when nothing was copied
   *     from it lately, 0 without a backlog
   */
  public record TierStats(
      int tier,
      long destagedBytes,
      long destagedSegments,
      long promotedBytes,
      long promotedSegments,
      long evictedBytes,
      long evictedSegments,
      boolean draining,
      long backlogBytes,
      OptionalDouble backlogSeconds) {}

  /**
   * How long calls took. Count and sum are since the start; all else is of the last minutes, and 0
   * if there was no call in them.
   *
   * @param count calls
   * @param totalNanos the sum of their durations
   * @param minNanos the shortest
   * @param maxNanos the longest
   * @param stdDevNanos standard deviation
   * @param p50Nanos half took no longer, and so on to {@code p999Nanos}: 999 of 1000
   */
  public record Latency(
      long count,
      long totalNanos,
      long minNanos,
      long maxNanos,
      long stdDevNanos,
      long p50Nanos,
      long p75Nanos,
      long p95Nanos,
      long p98Nanos,
      long p99Nanos,
      long p999Nanos) {

    /** There was no call. */
    public static final Latency NONE = new Latency(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }
}
