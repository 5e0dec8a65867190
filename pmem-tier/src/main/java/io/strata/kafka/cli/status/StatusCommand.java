package io.strata.kafka.cli.status;

import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.ConfigOption;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.PrintableWriter;
import io.strata.kafka.cli.terminal.Progress;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataKeys;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code strata status}. */
@Command(
    name = "status",
    description = {
      """
      Shows the health of a running broker and its reasons; its tiers: how full each is, what is \
      dirty, clean and a reserve, what moves, and what fails; and its remote tier, if it has one: \
      levels with moving and damaged copies. Rates are those of a second, or of the interval of \
      --watch.\
      """,
      "",
      """
      The broker is found by its pools and log directories (--config), its process (--pid) or its \
      JMX address (--jmx); without any of them it is the only one that runs on this machine as \
      this user. All but --jmx attach to the broker's JVM, which only its own user may \
      do, and start its local management agent where Kafka's scripts have not: a port that \
      accepts connections of this machine only.\
      """,
      ""
    },
    footer = {
      "",
      "Examples:",
      "  strata status --config server.properties",
      "  strata status --watch 5",
      "  strata status --jmx broker1:9999 --json"
    })
public final class StatusCommand extends StrataCommand {
  private static final long SECOND = 1_000;

  /** A broker is asked so often, a second apart, until it has counted again. */
  private static final int TRIES = 10;

  @Mixin private final ConfigOption config = new ConfigOption();

  @Option(names = "--pid", paramLabel = "PID", description = "The broker's process.")
  private @Nullable Long pid;

  @Option(
      names = "--jmx",
      paramLabel = "ADDRESS",
      description = "The broker's JMX address: host:port, or a JMX service URL.")
  private @Nullable String jmx;

  @Option(
      names = "--watch",
      paramLabel = "SECONDS",
      arity = "0..1",
      fallbackValue = "2",
      description = "Show it again and again, every 2 seconds or as given, until Ctrl-C.")
  private @Nullable Integer watch;

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "With --watch: end after so many times.")
  private @Nullable Integer count;

  @Override
  protected ExitCode run() throws Exception {
    if (watch != null && (watch < 1 || watch > 3600)) {
      throw CommandException.usage("--watch: found " + watch + ", expected seconds from 1 to 3600");
    }
    if (count != null && (watch == null || count < 1)) {
      throw CommandException.usage(
          "--count: found %s%s, expected a number from 1, with --watch"
              .formatted(count, watch == null ? " without --watch" : ""));
    }
    long interval = watch == null ? SECOND : watch * SECOND;
    int times = watch == null ? 1 : count == null ? Integer.MAX_VALUE : count;
    try (BrokerConnection broker = connect()) {
      BrokerStatus last = broker.status();
      // Nobody reads on when the reader has ended.
      for (int i = 0; i < times && !out().checkError(); i++) {
        // The first table of a watch comes at once, after a second for its rates.
        Thread.sleep(i == 0 ? SECOND : interval);
        BrokerStatus now = broker.status();
        // A broker that takes long to count shows the same numbers for longer than an interval.
        for (int tries = 1; now.timeMillis() == last.timeMillis() && tries < TRIES; tries++) {
          Thread.sleep(SECOND);
          now = broker.status();
        }
        print(now.since(last));
        last = now;
      }
    }
    return ExitCode.OK;
  }

  private void print(BrokerStatus status) {
    print(
        status::describe,
        out -> {
          out.print(watch != null && Progress.isTerminal(1) ? PrintableWriter.CLEAR : "");
          status.print(out);
          out.print(watch != null ? System.lineSeparator() : "");
        });
    out().flush();
  }

  private BrokerConnection connect() throws Exception {
    Optional<BrokerProperties> broker = config.load();
    int given = (broker.isPresent() ? 1 : 0) + (pid == null ? 0 : 1) + (jmx == null ? 0 : 1);
    if (given > 1) {
      throw CommandException.usage(
          "found more than one of --config, --pid and --jmx, expected one of them at most");
    }
    if (pid != null) {
      return BrokerConnection.ofProcess(pid);
    }
    if (jmx != null) {
      return BrokerConnection.ofAddress(jmx);
    }
    if (broker.isEmpty()) {
      return BrokerConnection.ofThisMachine();
    }
    BrokerConnection found =
        BrokerConnection.ofFiles(
            hasPools(broker.get()) ? broker.get().strataConfig().orElseThrow().pools() : List.of(),
            broker.get().logDirs());
    try {
      requireNode(broker.get(), found.status());
      return found;
    } catch (IOException | RuntimeException e) {
      found.close();
      throw e;
    }
  }

  private static void requireNode(BrokerProperties broker, BrokerStatus status) throws IOException {
    if (broker.nodeId().isPresent()
        && !status.broker().equals(Integer.toString(broker.nodeId().getAsInt()))) {
      throw new IOException(
          """
          process %d: found broker %s, expected broker %d of %s: another broker runs on its pools \
          or log directories\
          """
              .formatted(
                  status.pid(), status.broker(), broker.nodeId().getAsInt(), broker.source()));
    }
  }

  /** A broker with the remote tier alone has none. */
  private static boolean hasPools(BrokerProperties broker) {
    return broker.asMap().keySet().stream()
        .anyMatch(
            name ->
                name.equals(StrataKeys.POOLS.name())
                    || StrataKeys.TIER_POOLS.partOf(name).isPresent());
  }
}
