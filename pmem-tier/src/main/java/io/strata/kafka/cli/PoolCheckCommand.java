package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.pool.CheckFinding;
import io.strata.kafka.pool.CheckReport;
import io.strata.kafka.pool.PoolChecker;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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
    })
final class PoolCheckCommand extends StrataCommand {
  @Mixin private final PoolPlaces files = new PoolPlaces();
  @Mixin private final Json json = new Json();

  @Override
  ExitCode run() throws Exception {
    PrintWriter out = out();
    ObjectNode document = Json.object();
    ArrayNode pools = document.putArray("pools");
    boolean usable = true;
    for (Path file : files.resolve()) {
      CheckReport report = PoolChecker.check(file);
      usable &= report.usable();
      if (json.given()) {
        describe(file, report, pools.addObject());
      } else {
        print(file, report, out);
      }
    }
    if (json.given()) {
      Json.print(document, out);
    }
    return usable ? ExitCode.OK : ExitCode.FINDINGS;
  }

  private static void describe(Path file, CheckReport report, ObjectNode node) {
    node.put("path", file.toString());
    node.put("usable", report.usable());
    node.put("segments", report.liveSlots());
    node.put("deletingSegments", report.deletingSlots());
    node.put("freeSlots", report.freeSlots());
    node.put("usedBytes", report.usedBytes());
    describe(report.findings(), node.putArray("findings"));
  }

  static void describe(List<CheckFinding> findings, ArrayNode array) {
    for (CheckFinding finding : findings) {
      ObjectNode node = array.addObject();
      node.put("severity", finding.severity().name());
      finding.slot().ifPresent(slot -> node.put("slot", slot));
      node.put("position", finding.position());
      node.put("found", finding.found());
      node.put("expected", finding.expected());
    }
  }

  static void print(Path file, CheckReport report, PrintWriter out) {
    out.println(
        "%s: %s, %s segments, %s used%s"
            .formatted(
                file,
                report.clean() ? "sound" : report.usable() ? "usable" : "damaged",
                report.liveSlots(),
                ByteSize.format(report.usedBytes()),
                report.deletingSlots() > 0
                    ? ", " + report.deletingSlots() + " segments being deleted"
                    : ""));
    print(report.findings(), out);
  }

  static void print(List<CheckFinding> findings, PrintWriter out) {
    for (CheckFinding finding : findings) {
      out.println(
          "  %s%s at %s: found %s, expected %s"
              .formatted(
                  finding.severity().name().toLowerCase(Locale.ROOT),
                  finding.slot().isPresent() ? ": slot " + finding.slot().getAsInt() : ":",
                  finding.position(),
                  finding.found(),
                  finding.expected()));
    }
  }
}
