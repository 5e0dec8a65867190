package io.strata.kafka.bench.run;

import io.strata.kafka.bench.agent.HostInfo;
import io.strata.kafka.bench.agent.ToolVersion;
import io.strata.kafka.bench.load.LoadClock;
import io.strata.kafka.bench.result.PhaseResult;
import io.strata.kafka.bench.result.RunResult;
import io.strata.kafka.bench.scenario.Scenario;
import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;

/** Runs a scenario against a cluster. */
public final class Coordinator {
  private final Scenario scenario;
  private final String label;
  private final Consumer<String> progress;
  private final Optional<OwnBroker> broker;
  private final Map<String, String> cluster = new TreeMap<>();
  private final List<HostInfo> hosts = new ArrayList<>();
  private final List<PhaseResult> phases = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  /**
   * Creates one for one run.
   *
   * @param label of the result
   * @param progress hears a line each interval
   * @param broker what the scenario restarts and kills; empty for a cluster that others have
   *     started
   * @throws ScenarioException if the scenario restarts or kills a broker, and there is none
   */
  public Coordinator(
      Scenario scenario, String label, Consumer<String> progress, Optional<OwnBroker> broker) {
    if (broker.isEmpty()) {
      scenario
          .brokerSteps()
          .forEach(
              (phase, step) -> {
                throw new ScenarioException(
                    "%s: phases.%s.broker: found '%s', expected stays: only 'strata-bench paired' has a broker that it may restart"
                        .formatted(scenario.name(), phase, step.word()));
              });
    }
    this.scenario = scenario;
    this.label = label;
    this.progress = progress;
    this.broker = broker;
  }

  /** Runs all phases, up to one that fails; what fails is in the result. */
  public RunResult run() {
    String started = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    try {
      runPhases();
    } catch (BenchmarkException e) {
      failures.add(e.getMessage());
    } catch (IOException | KafkaException e) {
      failures.add(e.toString());
    }
    return new RunResult(
        RunResult.FORMAT,
        ToolVersion.text(),
        label,
        scenario.name(),
        scenario.tree(),
        started,
        cluster,
        hosts,
        phases,
        "",
        List.copyOf(failures));
  }

  private void runPhases() throws BenchmarkException, IOException {
    LoadClock clock = new LoadClock(0);
    try (Agents agents = Agents.reach(scenario, clock);
        BenchTopics topics = new BenchTopics(scenario);
        BrokerWatch brokers = new BrokerWatch(scenario.brokers())) {
      brokers.connect(topics.nodes());
      hosts.addAll(agents.hosts());
      cluster.putAll(topics.cluster());
      cluster.putAll(brokers.facts());
      topics.create(scenario);
      try {
        for (String name : scenario.phases().keySet()) {
          PhaseRun phase =
              new PhaseRun(scenario, name, agents, topics, brokers, broker, clock, progress);
          try {
            phase.run();
          } finally {
            // Before what disconnecting and cleaning up may add.
            failures.addAll(phase.failures());
            phases.add(phase.result());
          }
          if (!failures.isEmpty()) {
            return;
          }
        }
      } finally {
        deleteTopics(topics);
      }
    }
  }

  /** What fails here is shown beside what failed before, not in its place. */
  private void deleteTopics(BenchTopics topics) {
    if (scenario.keepTopics()) {
      return;
    }
    try {
      topics.delete();
    } catch (BenchmarkException e) {
      failures.add(e.getMessage());
    }
  }
}
