package io.strata.kafka.bench;

import io.strata.kafka.bench.scenario.Scenario;
import io.strata.kafka.bench.scenario.ScenarioFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** What is overridden in scenarios. */
final class ScenarioOptions {
  @Option(
      names = {"-s", "--set"},
      paramLabel = "KEY=VALUE",
      description =
          "Overrides a key: producers.acks=1 in all groups of producers, "
              + "phases.load.producers.main.rate=5MB/s in one, topics.*.partitions=8; "
              + "'strata-bench keys' lists them.")
  private List<String> overrides = new ArrayList<>();

  @Option(
      names = "--scale",
      paramLabel = "FACTOR",
      description = "What counts, bytes and times are multiplied with; 1 is what was published.")
  private Optional<String> scale = Optional.empty();

  @Option(
      names = "--hosts",
      split = ",",
      paramLabel = "HOST",
      description = "Where clients run: local, process, USER@HOST by ssh.")
  private List<String> hosts = new ArrayList<>();

  /**
   * Reads a scenario.
   *
   * @param more overrides that go before the user's
   */
  Scenario read(Path file, List<String> more) {
    List<String> all = new ArrayList<>(overrides);
    scale.ifPresent(value -> all.add("scale=" + value));
    if (!hosts.isEmpty()) {
      all.add("hosts=" + list(hosts));
    }
    all.addAll(more);
    return ScenarioFile.read(file, all);
  }

  /** A list as a scenario has it. */
  static String list(List<String> values) {
    return "['" + String.join("', '", values) + "']";
  }
}
