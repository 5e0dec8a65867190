package io.strata.kafka.bench.result;

import java.util.List;
import java.util.Map;

/**
 * The figures of a phase.
 *
 * @param warmupSeconds at its beginning that are in no figure but those over time
 * @param groups producers before consumers
 * @param brokers processor time: {@code processor-seconds}, and per GB (10^9 bytes) in and out;
 *     where the phase restarts or kills the broker, {@code start-seconds} from the start of its
 *     process until each partition of the scenario's topics has a leader that answers, and {@code
 *     stop-seconds} of an orderly stop; what is not known is not there
 * @param tiers bytes per tier over time, where the brokers have tiers
 */
public record PhaseResult(
    String name,
    double warmupSeconds,
    List<GroupResult> groups,
    Map<String, Double> brokers,
    List<TierPoint> tiers) {

  /**
   * Bytes per tier at a time, summed over the brokers.
   *
   * @param seconds after the phase's start
   * @param bytes by tier: {@code hot dirty}, {@code hot clean}, ...
   */
  public record TierPoint(double seconds, Map<String, Long> bytes) {}

  PhaseResult summary() {
    return new PhaseResult(
        name,
        warmupSeconds,
        groups.stream().map(GroupResult::summary).toList(),
        brokers,
        List.of());
  }
}
