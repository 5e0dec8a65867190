package io.strata.kafka.migration;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The counts of the engine at one moment. Counts are since the engine was made.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param tiers one for each tier but home, fastest first
 * @param queued moves that wait for a thread
 * @param inFlight moves that a thread makes
 * @param threads threads that make moves, as set
 * @param downBytesPerSecond what was copied down lately (over ten seconds)
 * @param upBytesPerSecond what was copied up lately
 * @param destageLatency how long destages took in the last minutes
 * @param promoteLatency how long promotions took in the last minutes
 * @param failures failed moves, for each cause (all causes are there)
 * @param cancelled moves given up without a fault
 * @param refusedMoves moves of the policy that were not allowed
 * @param backingOff segments that wait after a failure
 * @param rounds planning rounds
 * @param failedRounds of {@code rounds}, those that failed
 * @param lastRoundNanos how long the last one took
 * @param lastRoundCpuNanos processor time of the last one, as far as the JVM tells it; else 0
 * @param totalRoundNanos how long all of them took
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
    long rounds,
    long failedRounds,
    long lastRoundNanos,
    long lastRoundCpuNanos,
    long totalRoundNanos) {

  /** Copies the collections. */
  public MigrationStats {
    tiers = List.copyOf(tiers);
    failures = Map.copyOf(failures);
    requireNonNull(destageLatency);
    requireNonNull(promoteLatency);
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
   * @param backlogSeconds how long that takes at the rate of late; empty when nothing was copied
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
      OptionalDouble backlogSeconds) {

    /** Checks that nothing is null. */
    public TierStats {
      requireNonNull(backlogSeconds);
    }
  }

  /**
   * How long moves took, waiting for the rate limit included.
   *
   * @param count moves that this tells of; without any the rest is 0
   * @param p50Nanos half took no longer
   * @param p95Nanos 95 of 100 took no longer
   * @param p99Nanos 99 of 100 took no longer
   * @param maxNanos the longest
   */
  public record Latency(long count, long p50Nanos, long p95Nanos, long p99Nanos, long maxNanos) {

    /** Nothing was moved. */
    public static final Latency NONE = new Latency(0, 0, 0, 0, 0);
  }
}
