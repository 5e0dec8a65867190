package io.strata.kafka.bench;

import io.strata.kafka.bench.paired.BrokerEntrant;
import io.strata.kafka.bench.paired.Contender;
import io.strata.kafka.bench.paired.Entrant;
import io.strata.kafka.bench.paired.MachineLoad;
import io.strata.kafka.bench.paired.PairedRules;
import io.strata.kafka.bench.paired.PairedRunner;
import io.strata.kafka.bench.report.ReportPage;
import io.strata.kafka.bench.result.Comparison;
import io.strata.kafka.bench.result.ResultFiles;
import io.strata.kafka.bench.result.RunResult;
import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code strata-bench paired}. */
@Command(
    name = "paired",
    mixinStandardHelpOptions = true,
    description =
        "Runs a scenario against contenders in turns, each with a broker of its own on this "
            + "machine, and compares them.")
final class PairedCommand implements Callable<Integer> {
  /** Other programs may use this share of the processors. */
  private static final double OTHERS = 0.1;

  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Parameters(paramLabel = "SCENARIO", description = "A file in YAML.")
  private Path file = Path.of("");

  @Mixin private ScenarioOptions options = new ScenarioOptions();

  @Option(
      names = {"-c", "--contender"},
      required = true,
      arity = "1",
      paramLabel = "FILE",
      description = "A broker that takes part, two at least; the first is compared with.")
  private List<Path> contenders = new ArrayList<>();

  @Option(
      names = "--with",
      arity = "1",
      paramLabel = "FILE",
      description = "A file of keys that every contender gets after its own; repeatable.")
  private List<Path> with = new ArrayList<>();

  @Option(
      names = "--kafka",
      required = true,
      paramLabel = "DIRECTORY",
      description = "Kafka's jars: the libs of an installation.")
  private Path kafka = Path.of("");

  @Option(
      names = {"-D", "--define"},
      paramLabel = "NAME=VALUE",
      description = "What stands for {NAME} in the contenders' files; {work} is --work.")
  private Map<String, String> values = new LinkedHashMap<>();

  @Option(
      names = "--work",
      paramLabel = "DIRECTORY",
      description = "Where brokers keep their logs (default: ${DEFAULT-VALUE}).",
      defaultValue = "strata-bench-work")
  private Path work = Path.of("");

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIRECTORY",
      description = "Where results go; it must not exist (default: ${DEFAULT-VALUE}).",
      defaultValue = "strata-bench-paired")
  private Path output = Path.of("");

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "9",
      description = "Rounds that count (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--max-load",
      paramLabel = "N",
      description = "The load average above which no round begins (default: the processors).")
  private Optional<Double> mostLoad = Optional.empty();

  @Option(
      names = "--settle",
      paramLabel = "SECONDS",
      defaultValue = "300",
      description =
          "How long a round waits for the load, before it is discarded (default:"
              + " ${DEFAULT-VALUE}).")
  private int settle;

  @Option(
      names = "--max-other",
      paramLabel = "N",
      description =
          "Processors that other programs may use during a round; otherwise it is discarded "
              + "(default: a tenth).")
  private Optional<Double> mostOther = Optional.empty();

  @Option(
      names = {"-q", "--quiet"},
      description = "No line for each interval.")
  private boolean quiet;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (rounds < 1 || settle < 0) {
      throw new ScenarioException("--rounds and --settle: expected 1 and 0 at least");
    }
    if (Files.exists(output)) {
      throw new ScenarioException(
          "--output: found %s, expected a folder that does not exist yet".formatted(output));
    }
    MachineLoad load = MachineLoad.of(Path.of("/proc"));
    Consumer<String> progress = spec.commandLine().getErr()::println;
    int cores = Runtime.getRuntime().availableProcessors();
    PairedRules rules =
        new PairedRules(
            rounds,
            mostLoad.orElse((double) cores),
            Duration.ofSeconds(settle),
            mostOther.orElse(cores * OTHERS));
    PairedRunner.Outcome outcome =
        new PairedRunner(
                entrants(load, quiet ? line -> {} : progress), rules, load, progress, this::keep)
            .run();
    write(outcome);
    outcome.discarded().forEach(why -> spec.commandLine().getOut().println("discarded: " + why));
    spec.commandLine().getOut().print(Figures.table(Comparison.of(outcome.results())));
    spec.commandLine().getOut().println("results: " + output);
    if (!outcome.isComplete()) {
      spec.commandLine()
          .getErr()
          .println("strata-bench: found fewer than %d good rounds".formatted(rounds));
    }
    return outcome.isComplete() ? 0 : BenchMain.FAILED;
  }

  private List<Entrant> entrants(MachineLoad load, Consumer<String> progress) {
    if (contenders.size() < 2) {
      throw new ScenarioException("--contender: found one, expected two at least");
    }
    if (!Files.isDirectory(kafka)) {
      throw new ScenarioException(
          "--kafka: found no folder %s, expected one with Kafka's jars".formatted(kafka));
    }
    Map<String, String> all = new HashMap<>(values);
    all.put("work", work.toAbsolutePath().toString());
    // What is wrong with the scenario shows before a broker starts.
    Optional<Contender> first =
        options.read(file, List.of()).beginAs().map(begin -> Contender.read(begin, with, all));
    Set<String> labels = new HashSet<>();
    List<Entrant> entrants = new ArrayList<>();
    for (Path each : contenders) {
      Contender contender = Contender.read(each, with, all);
      if (!labels.add(contender.label())) {
        throw new ScenarioException(
            "%s: found the label %s again, expected another for each"
                .formatted(each, contender.label()));
      }
      Path folder = work.toAbsolutePath().resolve(contender.label());
      BrokerEntrant.refuseForeign(folder);
      entrants.add(
          new BrokerEntrant(
              first.orElse(contender),
              contender,
              kafka.toAbsolutePath(),
              folder,
              (bootstrap, jmx) ->
                  options.read(
                      file, List.of("bootstrap=" + bootstrap, "brokers=['%s']".formatted(jmx))),
              load,
              progress));
    }
    return entrants;
  }

  /** Writes a result to a folder whose name sorts by contender: {@code compare} takes them all. */
  private void keep(int place, int round, RunResult result) throws IOException {
    Path folder = output.resolve("%02d-%s-%02d".formatted(place, result.label(), round));
    RunCommand.write(Files.createDirectories(folder), result);
  }

  private void write(PairedRunner.Outcome outcome) throws IOException {
    Files.createDirectories(output);
    Files.write(output.resolve("discarded.txt"), outcome.discarded());
    ResultFiles.writeSummary(output.resolve("summary.csv"), outcome.results());
    ReportPage.write(output.resolve("report.html"), outcome.results());
  }
}
