package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.pool.CheckReport;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolChecker;
import io.strata.kafka.pool.RepairReport;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code strata pool repair}. */
@Command(
    name = "repair",
    description = {
      """
      Makes a damaged pool usable: frees the damaged slots. What their segments had in the pool \
      is discarded; all other segments stay. The broker must be stopped. Without --yes it shows \
      what it would do.\
      """,
      "",
      """
      Then 'strata segments' shows the segments that have lost bytes as unreachable, and 'strata \
      accept-loss' has their partitions recovered, so that Kafka replicates what is missing. The \
      broker refuses to start before that is done.\
      """,
      ""
    },
    footer = {"", "Example:", "  strata pool repair --yes /mnt/pmem0/hot.pool"},
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class PoolRepairCommand implements Callable<Integer> {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private final PoolPlace place = new PoolPlace();

  @Mixin private final Confirmation confirmation = new Confirmation();

  @Mixin private final JsonOption json = new JsonOption();

  PoolRepairCommand() {}

  @Override
  public Integer call() throws Exception {
    Path target = place.resolve();
    CheckReport before = PoolChecker.check(target);
    if (before.info().isEmpty()) {
      // No slot can be found, whatever is confirmed.
      throw new RefusedException(
          "this cannot be repaired: %s".formatted(before.findings().get(0).found()));
    }
    boolean confirmed = confirmation.given() || (before.usable() && !confirmation.lookOnly());
    if (!confirmed) {
      PrintWriter err = spec.commandLine().getErr();
      FindingOutput.print(target, before, err);
      confirmation.require(
          """
          %s: found a damaged pool, expected --yes to discard what its damaged slots held; \
          restore the pool if you can, or repeat with --yes\
          """
              .formatted(target));
      return ExitCode.OK.code();
    }
    RepairReport report = Pool.repair(target);
    PrintWriter out = spec.commandLine().getOut();
    if (json.given()) {
      ObjectNode document = Json.object();
      document.put("path", target.toString());
      report.freedSlots().forEach(document.putArray("freedSlots")::add);
      FindingOutput.describe(report.findings(), document.putArray("findings"));
      Json.print(document, out);
    } else {
      out.println(
          report.findings().isEmpty()
              ? target + ": sound, nothing to repair"
              : target + ": repaired, " + report.freedSlots().size() + " damaged slots freed");
      FindingOutput.print(report.findings(), out);
    }
    if (!report.freedSlots().isEmpty()) {
      spec.commandLine()
          .getErr()
          .println(
              """
              strata: next, before the broker starts: 'strata accept-loss --config \
              <server.properties>', for the partitions that have lost bytes\
              """);
    }
    return ExitCode.OK.code();
  }
}
