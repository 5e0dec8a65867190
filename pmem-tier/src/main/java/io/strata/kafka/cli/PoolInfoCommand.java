package io.strata.kafka.cli;

import io.strata.kafka.pool.PoolException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code strata pool info}. */
@Command(
    name = "info",
    description = {
      "Shows what a pool is and how full. Reads only, and works while the broker runs.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  strata pool info /mnt/pmem0/hot.pool",
      "  strata pool info --config server.properties --json"
    },
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class PoolInfoCommand implements Callable<Integer> {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private final PoolPlaces files = new PoolPlaces();
  @Mixin private final JsonOption json = new JsonOption();

  PoolInfoCommand() {}

  @Override
  public Integer call() throws Exception {
    List<PoolReport> reports = new ArrayList<>();
    for (Path file : files.resolve()) {
      try {
        reports.add(PoolReport.of(file));
      } catch (PoolException e) {
        throw files.explained(e, file);
      }
    }
    PoolReport.print(reports, json.given(), spec.commandLine().getOut());
    return ExitCode.OK.code();
  }
}
