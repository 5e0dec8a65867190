package io.strata.kafka.bench.run;

import io.strata.kafka.bench.agent.AgentOrder;
import io.strata.kafka.bench.agent.AgentReport;
import io.strata.kafka.bench.agent.Histograms;
import io.strata.kafka.bench.load.LoadClock;
import io.strata.kafka.bench.result.GroupFigures;
import io.strata.kafka.bench.result.GroupResult;
import io.strata.kafka.bench.result.PhaseResult;
import io.strata.kafka.bench.scenario.PhaseSpec;
import io.strata.kafka.bench.scenario.PhaseSpec.BrokerStep;
import io.strata.kafka.bench.scenario.ProducerSpec;
import io.strata.kafka.bench.scenario.Scenario;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/** Leads the broker and all hosts through one phase. Used by one thread. */
final class PhaseRun {
  private static final double NANOS = 1e9;
  private static final double MEGA = 1e6;
  private static final long LEAD_HERE_MICROS = 200_000;
  private static final long LEAD_REMOTE_MICROS = 2_000_000;

  private final Scenario scenario;
  private final String name;
  private final PhaseSpec phase;
  private final Agents agents;
  private final BenchTopics topics;
  private final BrokerWatch brokers;
  private final Optional<OwnBroker> broker;
  private final LoadClock clock;
  private final Consumer<String> progress;
  private final Map<String, GroupFigures> figures = new LinkedHashMap<>();
  private final Map<String, Double> lifeFigures = new TreeMap<>();
  private final Map<Integer, Merged> pending = new TreeMap<>();
  private final Map<String, Integer> hostsEnded = new HashMap<>();
  private final Set<Integer> finished = new HashSet<>();
  private final List<String> failures = new ArrayList<>();
  private boolean producersEnded;
  private boolean complete;

  PhaseRun(
      Scenario scenario,
      String name,
      Agents agents,
      BenchTopics topics,
      BrokerWatch brokers,
      Optional<OwnBroker> broker,
      LoadClock clock,
      Consumer<String> progress) {
    this.scenario = scenario;
    this.name = name;
    this.phase = Objects.requireNonNull(scenario.phases().get(name), name);
    this.agents = agents;
    this.topics = topics;
    this.brokers = brokers;
    this.broker = broker;
    this.clock = clock;
    this.progress = progress;
    phase
        .producers()
        .forEach((group, spec) -> add(group, "producers", spec.clients(), spec.startSeconds()));
    phase
        .consumers()
        .forEach((group, spec) -> add(group, "consumers", spec.clients(), spec.startSeconds()));
  }

  private void add(String group, String role, int clients, double startSeconds) {
    figures.put(
        group,
        new GroupFigures(
            group, role, clients * agents.count(), startSeconds, phase.warmupSeconds()));
  }

  /** An interval, of those hosts that have reported it. */
  private static final class Merged {
    private double from = Double.MAX_VALUE;
    private double to;
    private final Set<Integer> hosts = new HashSet<>();
    private final Map<String, Sum> groups = new LinkedHashMap<>();
  }

  private static final class Sum {
    private long records;
    private long bytes;
    private long errors;
    private final Histogram latencies = new Histogram(3);
  }

  /** Runs the phase to its end; what goes wrong is in {@link #failures}. */
  void run() throws BenchmarkException, IOException {
    brokers.begin();
    if (phase.broker() != BrokerStep.STAYS) {
      brokers.disconnect();
      restart(broker.orElseThrow());
      brokers.connect(topics.nodes());
    }
    if (phase.hasClients()) {
      runClients();
    }
  }

  /** Restarts or kills the broker, and waits until it serves. */
  private void restart(OwnBroker own) throws BenchmarkException {
    try {
      own.requireAlive();
      if (phase.broker() == BrokerStep.KILL) {
        own.kill();
      } else {
        long asked = System.nanoTime();
        own.stop();
        lifeFigures.put("stop-seconds", (System.nanoTime() - asked) / NANOS);
      }
      long started = System.nanoTime();
      own.start();
      topics.awaitServed(phase.limitSeconds(), own::requireAlive);
      lifeFigures.put("start-seconds", (System.nanoTime() - started) / NANOS);
    } catch (IOException e) {
      throw new BenchmarkException("%s: %s".formatted(name, e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchmarkException("interrupted");
    }
    lifeFigures.forEach(
        (figure, seconds) ->
            progress.accept(String.format(Locale.ROOT, "%s: %s %.2f", name, figure, seconds)));
  }

  private void runClients() throws BenchmarkException, IOException {
    agents.prepare(scenario, name, topics.names());
    pause();
    long start = clock.micros() + (agents.areRemote() ? LEAD_REMOTE_MICROS : LEAD_HERE_MICROS);
    agents.giveAll(new AgentOrder.Start(start));
    long startNanos = clock.nanoTime(start);
    if (phase.producers().isEmpty()) {
      endOfProducers();
    }
    long limit = startNanos + Math.round(phase.limitSeconds() * NANOS);
    long interval = Math.round(scenario.intervalSeconds() * NANOS);
    long tick = startNanos;
    while (finished.size() < agents.count() && failures.isEmpty()) {
      long now = System.nanoTime();
      if (now >= tick) {
        brokers.sample((now - startNanos) / NANOS);
        stopAtLogSize();
        // A late tick does not bring others after it.
        tick = Math.max(tick + interval, now - (now - startNanos) % interval + interval);
      }
      if (now >= limit) {
        failures.add(
            "%s: found it at work after %.0f s, expected its end (key limit)"
                .formatted(name, phase.limitSeconds()));
      }
      Optional<Agents.Received> next = agents.next(Math.max(0, tick - System.nanoTime()));
      if (next.isPresent()) {
        hear(next.get());
      }
    }
    complete = failures.isEmpty();
    brokers.sample((System.nanoTime() - startNanos) / NANOS);
    agents.end();
  }

  private void pause() throws BenchmarkException {
    try {
      TimeUnit.NANOSECONDS.sleep(Math.round(phase.pauseSeconds() * NANOS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchmarkException("interrupted");
    }
  }

  private void endOfProducers() throws BenchmarkException {
    producersEnded = true;
    agents.giveAll(new AgentOrder.ProducersEnded());
  }

  private void stopAtLogSize() throws BenchmarkException {
    for (Map.Entry<String, ProducerSpec> group : phase.producers().entrySet()) {
      ProducerSpec spec = group.getValue();
      if (spec.until().logSize().isPresent()
          && topics.logSize(spec.topic()) >= spec.until().logSize().getAsLong()) {
        agents.giveAll(new AgentOrder.Stop(group.getKey()));
      }
    }
  }

  private void hear(Agents.Received received) throws BenchmarkException {
    AgentReport report = received.report();
    if (report instanceof AgentReport.Interval interval) {
      merge(received.host(), interval);
    } else if (report instanceof AgentReport.GroupEnded ended) {
      GroupFigures group = Objects.requireNonNull(figures.get(ended.group()), ended.group());
      group.ended(ended.seconds());
      hostsEnded.merge(ended.group(), 1, Integer::sum);
      if (!producersEnded
          && phase.producers().keySet().stream()
              .allMatch(p -> hostsEnded.getOrDefault(p, 0) == agents.count())) {
        endOfProducers();
      }
    } else if (report instanceof AgentReport.Finished) {
      finished.add(received.host());
      settle();
    } else if (report instanceof AgentReport.Failed failed) {
      failures.add("%s: %s: %s".formatted(name, agents.name(received.host()), failed.what()));
    }
  }

  private void merge(int host, AgentReport.Interval interval) {
    Merged merged = pending.computeIfAbsent(interval.index(), index -> new Merged());
    merged.from = Math.min(merged.from, interval.from());
    merged.to = Math.max(merged.to, interval.to());
    merged.hosts.add(host);
    interval
        .groups()
        .forEach(
            (group, work) -> {
              Sum sum = merged.groups.computeIfAbsent(group, g -> new Sum());
              sum.records += work.records();
              sum.bytes += work.bytes();
              sum.errors += work.errors();
              sum.latencies.add(Histograms.decode(work.latencies()));
            });
    settle();
  }

  /** Counts the intervals, in their order, that no host will report any more. */
  private void settle() {
    var all = pending.entrySet().iterator();
    while (all.hasNext()) {
      Merged merged = all.next().getValue();
      if (merged.hosts.size() + finished.stream().filter(h -> !merged.hosts.contains(h)).count()
          < agents.count()) {
        return;
      }
      all.remove();
      count(merged);
    }
  }

  private void count(Merged merged) {
    List<String> parts = new ArrayList<>();
    merged.groups.forEach(
        (group, sum) -> {
          Objects.requireNonNull(figures.get(group), group)
              .add(merged.from, merged.to, sum.records, sum.bytes, sum.errors, sum.latencies);
          double seconds = Math.max(1e-3, merged.to - merged.from);
          parts.add(
              String.format(
                  Locale.ROOT,
                  "%s %.1f MB/s, %.0f records/s, p99 %.1f ms",
                  group,
                  sum.bytes / MEGA / seconds,
                  sum.records / seconds,
                  sum.latencies.getTotalCount() == 0
                      ? 0.0
                      : sum.latencies.getValueAtPercentile(99) / 1000.0));
        });
    progress.accept(
        String.format(
            Locale.ROOT,
            "%s %6.1f s%s: %s",
            name,
            merged.to,
            merged.from + 0.001 < phase.warmupSeconds() ? " (warm-up)" : "",
            String.join("; ", parts)));
  }

  /** Returns what has gone wrong so far, also where {@link #run} has thrown. */
  List<String> failures() {
    List<String> all = new ArrayList<>(failures);
    for (GroupFigures group : figures.values()) {
      GroupResult result = group.result();
      if (result.errors() > 0) {
        all.add(
            "%s: %s: found %d records that were not acknowledged"
                .formatted(name, result.name(), result.errors()));
      }
      if (complete && result.records() == 0) {
        all.add(
            "%s: %s: found no record to measure, expected some after the warm-up"
                .formatted(name, result.name()));
      }
    }
    return all;
  }

  /** The figures. */
  PhaseResult result() {
    List<GroupResult> groups = figures.values().stream().map(GroupFigures::result).toList();
    double from = figures.values().stream().mapToDouble(GroupFigures::measuredFrom).min().orElse(0);
    Map<String, Double> ofBrokers = new TreeMap<>(lifeFigures);
    ofBrokers.putAll(brokers.figures(from, bytes(groups, "producers"), bytes(groups, "consumers")));
    return new PhaseResult(name, phase.warmupSeconds(), groups, ofBrokers, brokers.tiers());
  }

  private static long bytes(List<GroupResult> groups, String role) {
    return groups.stream()
        .filter(group -> group.role().equals(role))
        .mapToLong(GroupResult::bytes)
        .sum();
  }
}
