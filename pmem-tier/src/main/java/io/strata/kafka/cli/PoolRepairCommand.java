package io.strata.kafka.cli;

import io.strata.kafka.pool.CheckReport;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolChecker;
import io.strata.kafka.pool.RepairReport;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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
    footer = {"", "Example:", "  strata pool repair --yes /mnt/pmem0/hot.pool"})
final class PoolRepairCommand extends StrataCommand {
  @Mixin private final PoolPlace place = new PoolPlace();

  @Mixin private final Confirmation confirmation = new Confirmation();

  @Mixin private final Json json = new Json();

  @Override
  ExitCode run() throws Exception {
    Path target = place.resolve();
    CheckReport before = PoolChecker.check(target);
    if (before.info().isEmpty()) {
      // No slot can be found, whatever is confirmed.
      throw new RefusedException(
          "this cannot be repaired: %s".formatted(before.findings().get(0).found()));
    }
    boolean confirmed = confirmation.given() || (before.usable() && !confirmation.lookOnly());
    if (!confirmed) {
      PoolCheckCommand.print(target, before, err());
      confirmation.require(
          """
          %s: found a damaged pool, expected --yes to discard what its damaged slots held; \
          restore the pool if you can, or repeat with --yes\
          """
              .formatted(target));
      return ExitCode.OK;
    }
    RepairReport report = Pool.repair(target);
    json.print(
        out(),
        document -> {
          document.put("path", target.toString());
          report.freedSlots().forEach(document.putArray("freedSlots")::add);
          PoolCheckCommand.describe(report.findings(), document.putArray("findings"));
        },
        out -> {
          out.println(
              report.findings().isEmpty()
                  ? target + ": sound, nothing to repair"
                  : target + ": repaired, " + report.freedSlots().size() + " damaged slots freed");
          PoolCheckCommand.print(report.findings(), out);
        });
    if (!report.freedSlots().isEmpty()) {
      note(
          """
          next, before the broker starts: 'strata accept-loss --config <server.properties>', for \
          the partitions that have lost bytes\
          """);
    }
    return ExitCode.OK;
  }
}
