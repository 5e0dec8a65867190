package io.strata.kafka.bench;

import io.strata.kafka.bench.report.ReportPage;
import io.strata.kafka.bench.result.Comparison;
import io.strata.kafka.bench.result.ResultFiles;
import io.strata.kafka.bench.result.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code strata-bench compare}. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    description =
        "Compares results: those of one label together, each label against the first; ratios with "
            + "their range.")
final class CompareCommand implements Callable<Integer> {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Parameters(
      arity = "1..*",
      paramLabel = "RESULT",
      description = "Files result.json, or folders that have one.")
  private List<Path> files = new ArrayList<>();

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Writes the comparison as a page too.")
  private Optional<Path> html = Optional.empty();

  @Option(
      names = "--csv",
      paramLabel = "FILE",
      description = "Writes the figures of all results as CSV too.")
  private Optional<Path> csv = Optional.empty();

  @Override
  public Integer call() throws IOException {
    List<RunResult> results =
        files.stream()
            .map(file -> Files.isDirectory(file) ? file.resolve("result.json") : file)
            .map(ResultFiles::readJson)
            .toList();
    spec.commandLine().getOut().print(Figures.table(Comparison.of(results)));
    spec.commandLine().getOut().flush();
    if (html.isPresent()) {
      ReportPage.write(html.get(), results);
    }
    if (csv.isPresent()) {
      ResultFiles.writeSummary(csv.get(), results);
    }
    return results.stream().allMatch(RunResult::hasSucceeded) ? 0 : BenchMain.FAILED;
  }
}
