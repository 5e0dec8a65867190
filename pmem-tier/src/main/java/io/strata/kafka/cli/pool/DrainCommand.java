package io.strata.kafka.cli.pool;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.broker.TierSpecs;
import io.strata.kafka.cli.pool.SegmentInventory.DrainSpace;
import io.strata.kafka.cli.terminal.BrokerStopped;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.ConfigOption;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.cli.terminal.Progress;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.offline.Drain;
import io.strata.kafka.tier.spec.RecoveryReport;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code strata drain}. */
@Command(
    name = "drain",
    description = {
      """
      Copies every byte to the log files and removes the tags: a broker without Strata then runs \
      on the log directories. The broker must be stopped. Each segment is forced to disk, read \
      back (from the page cache, where the system has it there) and compared before its slot is \
      freed. An interrupted drain can be repeated. Without enough space for all of it, it is \
      refused and changes nothing. Run it as the user that the broker runs as.\
      """,
      "",
      "Exit code 1 if something had to stay in a pool, because its log directory is not there.",
      ""
    },
    footer = {"", "Example:", "  strata drain --config server.properties"})
public final class DrainCommand extends StrataCommand {
  @Mixin private final ConfigOption config = new ConfigOption();

  @Override
  // The lock is only to be released.
  @SuppressWarnings("try")
  protected ExitCode run() throws Exception {
    BrokerProperties broker = config.requireForChange();
    StrataConfig strata = broker.strataConfig().orElseThrow().withAnyDurability();
    Drain.Report report;
    try (BrokerStopped stopped = BrokerStopped.require(broker.logDirs());
        Progress progress = Progress.onTerminal("draining")) {
      try (SegmentInventory inventory = new SegmentInventory(strata.pools())) {
        requireSpace(inventory.drainSpace(broker.logDirs()));
      }
      TierSpec spec = TierSpecs.of(strata, broker);
      Optional<IOException> refusal = HotTier.refusalToOpen(spec);
      if (refusal.isPresent()) {
        throw CommandException.refused(Failures.messageOf(refusal.get()));
      }
      report = Drain.run(spec, new Notes(), progress);
    }
    print(document -> describe(report, document), out -> out.println(text(report)));
    report.kept().forEach(kept -> note("stays in its pool: " + kept));
    return report.complete() ? ExitCode.OK : ExitCode.FINDINGS;
  }

  private static void requireSpace(List<DrainSpace> space) throws CommandException {
    for (DrainSpace each : space) {
      if (!each.isEnough()) {
        throw CommandException.refused(
            """
            log directories %s: found %s free on their file system %s, expected %s for what only \
            the pools have, and changed nothing; make the file system larger or delete what is not \
            Kafka's there, or start the broker and shorten the retention of large topics; then \
            drain again\
            """
                .formatted(
                    each.directories(),
                    ByteSize.format(each.free()),
                    each.store(),
                    ByteSize.format(each.needed())));
      }
    }
  }

  private static void describe(Drain.Report report, ObjectNode document) {
    document.put("complete", report.complete());
    document.put("segments", report.segments());
    document.put("bytes", report.bytes());
    report.kept().forEach(document.putArray("kept")::add);
    report.skipped().forEach(document.putArray("skipped")::add);
  }

  private static String text(Drain.Report report) {
    return "Copied %s segments to their log files, %s%s"
        .formatted(
            report.segments(),
            ByteSize.format(report.bytes()),
            report.complete()
                ? "; nothing of Strata is left in the log directories."
                : report.kept().isEmpty()
                    ? "; not all log directories could be looked at."
                    : "; " + report.kept().size() + " segments stay in their pools.");
  }

  /** Notes what opening the tier had to fix. */
  private final class Notes implements TierEvents {
    @Override
    public void logDirectorySkipped(Path directory, String reason) {
      note("log directory " + directory + " was skipped: " + reason);
    }

    @Override
    public void recovered(RecoveryReport report) {
      String restored = "restored a log file that a power failure had lost: ";
      report.restored().forEach(item -> note(restored + item));
      report
          .freed()
          .forEach(item -> note("freed the slot of a log file that was removed: " + item));
    }

    @Override
    public void backgroundFailure(String what, Exception cause) {
      note("could not " + what + ": " + Failures.reasonOf(cause));
    }
  }
}
