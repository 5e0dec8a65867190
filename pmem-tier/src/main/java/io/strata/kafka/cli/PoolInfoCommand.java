package io.strata.kafka.cli;

import io.strata.kafka.pool.PoolException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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
    })
final class PoolInfoCommand extends StrataCommand {
  @Mixin private final PoolPlaces files = new PoolPlaces();
  @Mixin private final Json json = new Json();

  @Override
  ExitCode run() throws Exception {
    List<PoolReport> reports = new ArrayList<>();
    for (Path file : files.resolve()) {
      try {
        reports.add(PoolReport.of(file));
      } catch (PoolException e) {
        throw files.explained(e, file);
      }
    }
    PoolReport.print(reports, json, out());
    return ExitCode.OK;
  }
}
