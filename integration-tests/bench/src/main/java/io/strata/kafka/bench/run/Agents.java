package io.strata.kafka.bench.run;

import io.strata.kafka.bench.agent.Agent;
import io.strata.kafka.bench.agent.AgentOrder;
import io.strata.kafka.bench.agent.AgentReport;
import io.strata.kafka.bench.agent.HostInfo;
import io.strata.kafka.bench.agent.ToolVersion;
import io.strata.kafka.bench.load.LoadClock;
import io.strata.kafka.bench.scenario.Scenario;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The hosts of a run. Measures how far each host's clock is from this one's, so that all start at
 * one time and end-to-end latencies mean something. Used by one thread.
 */
final class Agents implements AutoCloseable {
  private static final int QUESTIONS = 8;
  private static final long LIMIT_SECONDS = 120;

  private final LoadClock clock;
  private final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
  private final List<Agent> agents = new ArrayList<>();
  private final List<Long> offsets = new ArrayList<>();
  private final List<HostInfo> hosts = new ArrayList<>();

  /**
   * A report.
   *
   * @param host the number of its agent
   */
  record Received(int host, AgentReport report) {}

  private Agents(LoadClock clock) {
    this.clock = clock;
  }

  /** Reaches all hosts of the scenario. */
  static Agents reach(Scenario scenario, LoadClock clock) throws BenchmarkException {
    Agents agents = new Agents(clock);
    try {
      List<String> ssh = List.of(scenario.text("ssh").split(" +", -1));
      for (String host : scenario.hosts()) {
        int number = agents.agents.size();
        agents.agents.add(
            Agent.reach(
                host,
                ssh,
                scenario.text("remote-java"),
                report -> agents.received.add(new Received(number, report))));
        agents.meet(number);
      }
      return agents;
    } catch (IOException e) {
      agents.close();
      throw new BenchmarkException("hosts: " + e.getMessage());
    } catch (BenchmarkException e) {
      agents.close();
      throw e;
    }
  }

  /** Asks for version and time; the quickest of several answers has the best time. */
  private void meet(int number) throws IOException, BenchmarkException {
    long best = Long.MAX_VALUE;
    long offset = 0;
    Optional<HostInfo> host = Optional.empty();
    for (int i = 0; i < QUESTIONS; i++) {
      long asked = clock.micros();
      agents.get(number).give(new AgentOrder.Ask(i));
      AgentReport report = await(number, AgentReport.Answer.class);
      long answered = clock.micros();
      if (!(report instanceof AgentReport.Answer answer)) {
        continue;
      }
      if (!answer.version().equals(ToolVersion.text())) {
        throw new BenchmarkException(
            "%s: found strata-bench %s, expected %s as here"
                .formatted(name(number), answer.version(), ToolVersion.text()));
      }
      host = Optional.of(answer.host());
      if (answered - asked < best) {
        best = answered - asked;
        offset = (asked + answered) / 2 - answer.micros();
      }
    }
    // One clock has no offset.
    boolean here = List.of("local", "process").contains(name(number));
    offsets.add(here ? 0 : offset);
    hosts.add(host.orElseThrow());
  }

  /** Waits for a report of a kind; reports of others are lost. */
  private AgentReport await(int host, Class<? extends AgentReport> kind) throws BenchmarkException {
    while (true) {
      Received next =
          next(TimeUnit.SECONDS.toNanos(LIMIT_SECONDS))
              .orElseThrow(
                  () ->
                      new BenchmarkException(
                          "%s: found no answer in %d s".formatted(name(host), LIMIT_SECONDS)));
      if (next.report() instanceof AgentReport.Failed failed) {
        throw new BenchmarkException("%s: %s".formatted(name(next.host()), failed.what()));
      }
      if (next.host() == host && kind.isInstance(next.report())) {
        return next.report();
      }
    }
  }

  /** Connects the clients of a phase, everywhere. */
  void prepare(Scenario scenario, String phase, Map<String, List<String>> topics)
      throws BenchmarkException {
    for (int i = 0; i < agents.size(); i++) {
      give(i, new AgentOrder.Prepare(scenario.tree(), phase, i, topics, offsets.get(i)));
    }
    // All connect at the same time, and answer in any order.
    int missing = agents.size();
    while (missing > 0) {
      Received next =
          next(TimeUnit.SECONDS.toNanos(LIMIT_SECONDS))
              .orElseThrow(
                  () ->
                      new BenchmarkException(
                          "the clients of %s: found not all connected after %d s"
                              .formatted(phase, LIMIT_SECONDS)));
      if (next.report() instanceof AgentReport.Failed failed) {
        throw new BenchmarkException("%s: %s".formatted(name(next.host()), failed.what()));
      }
      if (next.report() instanceof AgentReport.Prepared) {
        missing--;
      }
    }
  }

  /** Gives an order to all. */
  void giveAll(AgentOrder order) throws BenchmarkException {
    for (int i = 0; i < agents.size(); i++) {
      give(i, order);
    }
  }

  private void give(int host, AgentOrder order) throws BenchmarkException {
    try {
      agents.get(host).give(order);
    } catch (IOException e) {
      throw new BenchmarkException("%s: the agent is gone: %s".formatted(name(host), e));
    }
  }

  /** Disconnects the clients, and forgets what was not read. */
  void end() throws BenchmarkException {
    giveAll(new AgentOrder.End());
    int missing = agents.size();
    while (missing > 0) {
      Optional<Received> next = next(TimeUnit.SECONDS.toNanos(LIMIT_SECONDS));
      if (next.isEmpty()) {
        throw new BenchmarkException(
            "found clients that do not disconnect in %d s".formatted(LIMIT_SECONDS));
      }
      if (next.get().report() instanceof AgentReport.Ended) {
        missing--;
      }
    }
    received.clear();
  }

  /** The next report, or nothing when the time has passed. */
  Optional<Received> next(long nanos) throws BenchmarkException {
    try {
      return Optional.ofNullable(received.poll(nanos, TimeUnit.NANOSECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchmarkException("interrupted");
    }
  }

  int count() {
    return agents.size();
  }

  String name(int host) {
    return agents.get(host).name();
  }

  /** The hosts, as they describe themselves. */
  List<HostInfo> hosts() {
    return List.copyOf(hosts);
  }

  /** Returns whether clients run in other places than this host. */
  boolean areRemote() {
    return agents.stream().anyMatch(a -> !List.of("local", "process").contains(a.name()));
  }

  @Override
  public void close() {
    agents.forEach(Agent::close);
  }
}
