package io.strata.kafka.migration;

import io.strata.kafka.migration.plan.Plan.TierPlan;
import java.util.List;

/**
 * The engine at one moment, with its counters.
 *
 * @param meters what it counts
 * @param plans how each tier with pools was in the last round, fastest first; may be shorter
 * @param queued moves that wait for a thread
 * @param inFlight moves that a thread makes
 * @param threads threads that make moves, as set
 * @param backingOff segments that wait after a failure
 * @param corrupt segments that a move has found corrupt, and no move has copied since
 * @param rounds planning rounds, and how long they took
 * @param cost of these rounds
 */
public record MigrationStats(
    EngineMeters meters,
    List<TierPlan> plans,
    int queued,
    int inFlight,
    int threads,
    int backingOff,
    int corrupt,
    LatencyWindow rounds,
    RoundCost cost) {

  /**
   * Failures of planning rounds, and what the last one cost.
   *
   * @param failed those that failed
   * @param failedInARow those that failed since one succeeded
   * @param lastCpuNanos processor time of the last one; 0 where the JVM does not measure it
   */
  public record RoundCost(long failed, long failedInARow, long lastCpuNanos) {}

  /** Copies the list. */
  public MigrationStats {
    plans = List.copyOf(plans);
  }
}
