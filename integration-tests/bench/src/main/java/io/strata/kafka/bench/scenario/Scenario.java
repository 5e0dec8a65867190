package io.strata.kafka.bench.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.bench.scenario.PhaseSpec.BrokerStep;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A benchmark: which clients do what, in which order.
 *
 * @param tree all keys with their values, as {@link ScenarioFile} has them: amounts of full scale
 * @param name its name, of letters, digits, dots and hyphens
 * @param source where the experiment was published; may be empty
 * @param bootstrap the cluster
 * @param hosts where clients run
 * @param brokers whose processor time counts
 * @param beginAs the file of the contender that every broker of a paired run is until the first
 *     phase that restarts or kills it; if empty, each is its own contender from its first start
 * @param intervalSeconds of the figures over time
 * @param kafka properties of every client
 * @param keepTopics whether topics stay
 * @param topics by name
 * @param phases by name, in their order; amounts are scaled
 */
public record Scenario(
    JsonNode tree,
    String name,
    String source,
    String bootstrap,
    List<String> hosts,
    List<String> brokers,
    Optional<Path> beginAs,
    double intervalSeconds,
    Map<String, String> kafka,
    boolean keepTopics,
    Map<String, TopicSpec> topics,
    Map<String, PhaseSpec> phases) {

  /**
   * Reads a tree whose defaults are filled in.
   *
   * @throws ScenarioException if a value is wrong
   */
  public static Scenario of(JsonNode tree) {
    Place all = new Place("", tree);
    double scale = scale(all);
    Map<String, TopicSpec> topics = new LinkedHashMap<>();
    all.at("topics").children().forEach((name, place) -> topics.put(name, TopicSpec.of(place)));
    Map<String, PhaseSpec> phases = new LinkedHashMap<>();
    all.at("phases")
        .children()
        .forEach((name, place) -> phases.put(name, PhaseSpec.of(place, scale)));
    Scenario scenario =
        new Scenario(
            tree,
            all.text("name"),
            all.text("source"),
            all.text("bootstrap"),
            all.texts("hosts"),
            all.texts("brokers"),
            Optional.of(all.text("begin-as")).filter(file -> !file.equals("none")).map(Path::of),
            all.seconds("interval"),
            all.properties("kafka"),
            all.flag("keep-topics"),
            topics,
            phases);
    scenario.check();
    return scenario;
  }

  /** The value of a key at the top level. */
  public String text(String key) {
    return new Place("", tree).text(key);
  }

  /** The steps of the broker's life by phase, in their order; without the phases that have none. */
  public Map<String, BrokerStep> brokerSteps() {
    Map<String, BrokerStep> steps = new LinkedHashMap<>();
    phases.forEach((phase, spec) -> steps.put(phase, spec.broker()));
    steps.values().removeIf(step -> step == BrokerStep.STAYS);
    return steps;
  }

  /** The clients of the largest group on one topic, over all hosts. */
  public int clientsOf(String topic) {
    int largest = 1;
    for (PhaseSpec phase : phases.values()) {
      for (ProducerSpec group : phase.producers().values()) {
        largest = group.topic().equals(topic) ? Math.max(largest, group.clients()) : largest;
      }
      for (ConsumerSpec group : phase.consumers().values()) {
        largest = group.topic().equals(topic) ? Math.max(largest, group.clients()) : largest;
      }
    }
    return Math.multiplyExact(largest, hosts.size());
  }

  private static double scale(Place all) {
    double scale;
    try {
      scale = Double.parseDouble(all.text("scale"));
    } catch (NumberFormatException e) {
      scale = Double.NaN;
    }
    if (!(scale > 0) || Double.isInfinite(scale)) {
      throw Units.wrong("scale", all.text("scale"), "a number above 0");
    }
    return scale;
  }

  private void check() {
    if (!name.matches("[a-zA-Z0-9][a-zA-Z0-9.-]{0,99}")) {
      throw Units.wrong("name", name, "letters, digits, dots and hyphens, 100 at most");
    }
    if (!(intervalSeconds >= 0.1)) {
      throw Units.wrong("interval", intervalSeconds + "s", "100ms at least");
    }
    if (hosts.isEmpty()) {
      throw Units.wrong("hosts", "an empty list", "one host at least, such as [local]");
    }
    for (String host : hosts) {
      if (!host.matches("[a-zA-Z0-9_][a-zA-Z0-9_.@:-]*")) {
        throw Units.wrong("hosts", host, "local, process or USER@HOST");
      }
    }
    if (phases.isEmpty()) {
      throw Units.wrong("phases", "no phase", "one at least");
    }
    if (beginAs.isPresent() && brokerSteps().isEmpty()) {
      throw Units.wrong(
          "begin-as", beginAs.get().toString(), "none, or a phase with broker: restart or kill");
    }
    phases.forEach(
        (phase, spec) -> {
          spec.producers()
              .forEach((group, producers) -> known(phase, "producers", group, producers.topic()));
          spec.consumers()
              .forEach((group, consumers) -> known(phase, "consumers", group, consumers.topic()));
        });
  }

  private void known(String phase, String role, String group, String topic) {
    if (!topics.containsKey(topic)) {
      throw Units.wrong(
          "phases.%s.%s.%s.topic".formatted(phase, role, group),
          topic,
          "one of the topics: " + String.join(", ", topics.keySet()));
    }
  }
}
