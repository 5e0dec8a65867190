package io.strata.kafka.bench;

import io.strata.kafka.bench.report.ReportPage;
import io.strata.kafka.bench.result.ResultFiles;
import io.strata.kafka.bench.result.RunResult;
import io.strata.kafka.bench.run.Coordinator;
import io.strata.kafka.bench.scenario.Scenario;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code strata-bench run}. */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    description = "Runs scenarios, one after the other, and writes their results.")
final class RunCommand implements Callable<Integer> {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Parameters(
      arity = "1..*",
      paramLabel = "SCENARIO",
      description = "Files in YAML, such as those in examples/benchmarks.")
  private List<Path> files = new ArrayList<>();

  @Mixin private ScenarioOptions options = new ScenarioOptions();

  @Option(names = "--bootstrap", paramLabel = "HOST:PORT", description = "The cluster.")
  private Optional<String> bootstrap = Optional.empty();

  @Option(
      names = "--brokers",
      split = ",",
      paramLabel = "BROKER",
      description = "Whose processor time is measured: local, pid:NUMBER, HOST:PORT of JMX.")
  private List<String> brokers = new ArrayList<>();

  @Option(
      names = "--label",
      paramLabel = "NAME",
      description = "What is measured, to compare by: stock, strata, ... (default: the scenario).")
  private String label = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIRECTORY",
      description = "Where results go, a folder for each run (default: strata-bench-results).")
  private Path output = Path.of("strata-bench-results");

  @Option(
      names = {"-q", "--quiet"},
      description = "No line for each interval.")
  private boolean quiet;

  @Override
  public Integer call() throws IOException {
    // All are read before the first runs: what is wrong shows now.
    List<Coordinator> runs =
        files.stream().map(file -> coordinator(options.read(file, where()))).toList();
    boolean good = true;
    for (Coordinator run : runs) {
      RunResult result = run.run();
      Path folder = folder(result.name());
      write(folder, result);
      spec.commandLine().getOut().print(Figures.table(result));
      spec.commandLine().getOut().println("results: " + folder);
      good &= result.hasSucceeded();
    }
    return good ? 0 : BenchMain.FAILED;
  }

  private Coordinator coordinator(Scenario scenario) {
    Consumer<String> progress = quiet ? line -> {} : spec.commandLine().getErr()::println;
    String name = label.isEmpty() ? scenario.name() : label;
    return new Coordinator(scenario, name, progress, Optional.empty());
  }

  private List<String> where() {
    List<String> overrides = new ArrayList<>();
    bootstrap.ifPresent(value -> overrides.add("bootstrap=" + value));
    if (!brokers.isEmpty()) {
      overrides.add("brokers=" + ScenarioOptions.list(brokers));
    }
    return overrides;
  }

  private Path folder(String name) throws IOException {
    String time =
        ZonedDateTime.now(ZoneOffset.UTC)
            .format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT));
    Path folder = output.resolve("%s-%s".formatted(name, time));
    for (int i = 2; Files.exists(folder); i++) {
      folder = output.resolve("%s-%s-%d".formatted(name, time, i));
    }
    return Files.createDirectories(folder);
  }

  /** Writes all files of a result. */
  static void write(Path folder, RunResult result) throws IOException {
    ResultFiles.writeJson(folder.resolve("result.json"), result);
    ResultFiles.writeSummary(folder.resolve("summary.csv"), List.of(result));
    ResultFiles.writeSeries(folder.resolve("series.csv"), result);
    ReportPage.write(folder.resolve("report.html"), List.of(result));
  }
}
