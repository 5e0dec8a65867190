package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.pool.CheckReport;
import io.strata.kafka.pool.PoolChecker;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code strata pool check}. */
@Command(
    name = "check",
    description = {
      """
      Verifies a pool's metadata: superblocks, slots, extents. Reads only, and works while the \
      broker runs. Exit code 1 if a pool cannot be opened for writing as it is; warnings, which \
      the next start puts right, do not count.\
      """,
      ""
    },
    footer = {
      "",
      "Examples:",
      "  strata pool check /mnt/pmem0/hot.pool",
      "  strata pool check --config server.properties --json"
    },
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class PoolCheckCommand implements Callable<Integer> {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private final PoolPlaces files = new PoolPlaces();
  @Mixin private final JsonOption json = new JsonOption();

  PoolCheckCommand() {}

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    ObjectNode document = Json.object();
    ArrayNode pools = document.putArray("pools");
    boolean usable = true;
    for (Path file : files.resolve()) {
      CheckReport report = PoolChecker.check(file);
      usable &= report.usable();
      if (json.given()) {
        FindingOutput.describe(file, report, pools.addObject());
      } else {
        FindingOutput.print(file, report, out);
      }
    }
    if (json.given()) {
      Json.print(document, out);
    }
    return (usable ? ExitCode.OK : ExitCode.FINDINGS).code();
  }
}
