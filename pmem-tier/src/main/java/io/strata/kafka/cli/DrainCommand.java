package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.broker.TierSpecs;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.tier.Drain;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code strata drain}. */
@Command(
    name = "drain",
    description = {
      """
      Copies every byte to the log files and removes the tags: a broker without Strata then runs \
      on the log directories. The broker must be stopped. Each segment is forced to disk, read \
      back (from the page cache, where the system has it there) and compared before its slot is \
      freed. An interrupted drain can be repeated. Run it as the user that the broker runs as.\
      """,
      "",
      "Exit code 1 if something had to stay in a pool, because its log directory is not there.",
      ""
    },
    footer = {"", "Example:", "  strata drain --config server.properties"},
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class DrainCommand implements Callable<Integer> {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private final ConfigOption config = new ConfigOption();
  @Mixin private final JsonOption json = new JsonOption();

  DrainCommand() {}

  @Override
  // What is held is only to be released.
  @SuppressWarnings("try")
  public Integer call() throws Exception {
    BrokerProperties broker = config.require();
    StrataConfig strata = broker.strataConfig().orElseThrow().withAnyDurability();
    PrintWriter err = spec.commandLine().getErr();
    Drain.Report report;
    try (BrokerStopped stopped = BrokerStopped.require(broker.logDirs());
        Progress progress = Progress.onTerminal("draining")) {
      report = Drain.run(TierSpecs.of(strata, broker), new TierNotes(err), progress);
    }
    print(report, spec.commandLine().getOut());
    report.kept().forEach(kept -> err.println("strata: stays in its pool: " + kept));
    return (report.complete() ? ExitCode.OK : ExitCode.FINDINGS).code();
  }

  private void print(Drain.Report report, PrintWriter out) {
    if (json.given()) {
      ObjectNode document = Json.object();
      document.put("complete", report.complete());
      document.put("segments", report.segments());
      document.put("bytes", report.bytes());
      report.kept().forEach(document.putArray("kept")::add);
      Json.print(document, out);
      return;
    }
    out.println(
        "Copied %s segments to their log files, %s%s"
            .formatted(
                report.segments(),
                ByteSize.format(report.bytes()),
                report.complete()
                    ? "; nothing of Strata is left in the log directories."
                    : "; " + report.kept().size() + " segments stay in their pools."));
  }
}
