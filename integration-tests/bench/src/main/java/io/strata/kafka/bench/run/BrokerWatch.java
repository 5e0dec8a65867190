package io.strata.kafka.bench.run;

import io.strata.kafka.bench.result.PhaseResult;
import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.Node;

/** Watches the brokers during a phase. Not thread-safe. */
final class BrokerWatch implements AutoCloseable {
  private final List<String> brokers;
  private final List<BrokerProbe> probes = new ArrayList<>();
  private final List<Sample> samples = new ArrayList<>();

  private record Sample(double seconds, double processorSeconds, Map<String, Long> tiers) {}

  /**
   * Creates one, not connected.
   *
   * @param brokers as the scenario names them
   */
  BrokerWatch(List<String> brokers) {
    this.brokers = brokers;
  }

  /**
   * Connects to all; to be called again after {@link #disconnect} when the brokers have new
   * processes.
   *
   * @param nodes the cluster's brokers
   */
  void connect(Collection<Node> nodes) throws IOException {
    for (String broker : brokers) {
      if (broker.equals("local")) {
        probes.addAll(ProcessProbe.local(nodes));
      } else if (broker.startsWith("pid:")) {
        probes.add(ProcessProbe.of(broker.substring("pid:".length())));
      } else if (broker.matches("[^:/]+:[0-9]+")) {
        probes.add(JmxProbe.connect(broker));
      } else {
        throw new ScenarioException(
            "brokers: found '%s', expected local, pid:NUMBER or HOST:PORT of JMX"
                .formatted(broker));
      }
    }
  }

  /** Returns what the brokers say of themselves. */
  Map<String, String> facts() throws IOException {
    Map<String, String> facts = new TreeMap<>();
    for (int i = 0; i < probes.size(); i++) {
      String prefix = "broker %d ".formatted(i + 1);
      probes.get(i).facts().forEach((key, value) -> facts.put(prefix + key, value));
    }
    return facts;
  }

  /** Forgets the phase before. */
  void begin() {
    samples.clear();
  }

  /** Reads all brokers. */
  void sample(double seconds) throws IOException {
    if (probes.isEmpty()) {
      return;
    }
    double processor = 0;
    Map<String, Long> tiers = new TreeMap<>();
    for (BrokerProbe probe : probes) {
      BrokerProbe.Reading reading = probe.read();
      processor += reading.processorSeconds();
      reading.tiers().forEach((tier, bytes) -> tiers.merge(tier, bytes, Long::sum));
    }
    samples.add(new Sample(seconds, processor, tiers));
  }

  /**
   * Processor time since the time, and per GB.
   *
   * @param from seconds after the phase's start
   * @param bytesIn acknowledged since then
   * @param bytesOut read since then
   */
  Map<String, Double> figures(double from, long bytesIn, long bytesOut) {
    Map<String, Double> figures = new TreeMap<>();
    List<Sample> measured =
        samples.stream().filter(sample -> sample.seconds() >= from - 0.05).toList();
    if (measured.size() < 2) {
      return figures;
    }
    double seconds =
        measured.get(measured.size() - 1).processorSeconds() - measured.get(0).processorSeconds();
    figures.put("processor-seconds", seconds);
    if (bytesIn > 0) {
      figures.put("processor-seconds-per-gb-in", seconds / (bytesIn / 1e9));
    }
    if (bytesOut > 0) {
      figures.put("processor-seconds-per-gb-out", seconds / (bytesOut / 1e9));
    }
    return figures;
  }

  /** Bytes per tier over the phase. */
  List<PhaseResult.TierPoint> tiers() {
    return samples.stream()
        .filter(sample -> !sample.tiers().isEmpty())
        .map(sample -> new PhaseResult.TierPoint(sample.seconds(), sample.tiers()))
        .toList();
  }

  /** Disconnects from all. */
  void disconnect() {
    probes.forEach(BrokerProbe::close);
    probes.clear();
  }

  @Override
  public void close() {
    disconnect();
  }
}
