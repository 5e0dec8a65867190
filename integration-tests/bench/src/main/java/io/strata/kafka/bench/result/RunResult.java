package io.strata.kafka.bench.result;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.bench.agent.HostInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The result of one run of a scenario.
 *
 * @param format of the file; {@link #FORMAT}
 * @param tool the tool's version
 * @param label what was measured, to compare by: {@code stock}, {@code strata}, ...
 * @param name the scenario's name
 * @param scenario all its keys
 * @param started when, in ISO 8601
 * @param cluster what is known of the cluster: id, brokers, versions; how a contender was started
 * @param hosts the hosts of the clients
 * @param phases in their order; those that have begun
 * @param round the round of a {@code paired} that it is from, a name that no other session has:
 *     results of one round are pairs; empty outside of {@code paired}
 * @param failures why the figures are not to be used; empty if they are
 */
public record RunResult(
    int format,
    String tool,
    String label,
    String name,
    JsonNode scenario,
    String started,
    Map<String, String> cluster,
    List<HostInfo> hosts,
    List<PhaseResult> phases,
    @JsonSetter(nulls = Nulls.AS_EMPTY) String round,
    List<String> failures) {

  /** The format that this version reads and writes. */
  public static final int FORMAT = 1;

  /** Returns whether all has gone well. */
  public boolean hasSucceeded() {
    return failures.isEmpty();
  }

  /** Returns a copy with more failures. */
  public RunResult failed(List<String> more) {
    List<String> all = new ArrayList<>(failures);
    all.addAll(more);
    return new RunResult(
        format,
        tool,
        label,
        name,
        scenario,
        started,
        cluster,
        hosts,
        phases,
        round,
        List.copyOf(all));
  }

  /** Returns a copy that is of a round. */
  public RunResult ofRound(String name) {
    return new RunResult(
        format, tool, label, this.name, scenario, started, cluster, hosts, phases, name, failures);
  }

  /** Returns a copy that says more of the cluster. */
  public RunResult of(Map<String, String> more) {
    Map<String, String> all = new TreeMap<>(cluster);
    all.putAll(more);
    return new RunResult(
        format, tool, label, name, scenario, started, all, hosts, phases, round, failures);
  }

  /** Returns a copy without what is over time, and without histograms. */
  public RunResult summary() {
    return new RunResult(
        format,
        tool,
        label,
        name,
        scenario,
        started,
        cluster,
        hosts,
        phases.stream().map(PhaseResult::summary).toList(),
        round,
        failures);
  }
}
