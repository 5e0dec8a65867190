package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.Durations;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.cli.terminal.Table;
import io.strata.kafka.config.key.ByteAmount;
import io.strata.kafka.migration.plan.BurstPlan;
import io.strata.kafka.migration.plan.BurstPlan.Quantity;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "plan",
    description = {
      """
      Computes what a reserve of fast space is good for: how long a burst may last, how long the \
      pause after it must be, which threshold gives that. Give what you know; what follows is \
      shown with its formula.\
      """,
      "",
      """
      Sizes and rates: kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024; /s \
      may be added. Times: 90s, 10m, 2h.\
      """,
      ""
    },
    footer = {
      "",
      "Examples:",
      "  strata plan --ingest 5GB/s --reserve 500GB --drain 500MB/s",
      "  strata plan --pool 1TB --threshold 0.5 --ingest 2GB/s --drain 400MB/s --burst 5m"
    })
final class PlanCommand extends StrataCommand {
  @Option(
      names = "--ingest",
      paramLabel = "RATE",
      description = "How fast producers write during a burst.")
  private @Nullable ByteAmount ingest;

  @Option(
      names = "--drain",
      paramLabel = "RATE",
      description =
          "How fast segments are copied down: what the lower tier can take, or the limit.")
  private @Nullable ByteAmount drain;

  @Option(
      names = "--reserve",
      paramLabel = "SIZE",
      description = "Space that a burst finds: free, or clean in the mode eager.")
  private @Nullable ByteAmount reserve;

  @Option(names = "--pool", paramLabel = "SIZE", description = "The tier's capacity.")
  private @Nullable ByteAmount pool;

  @Option(
      names = "--threshold",
      paramLabel = "SHARE",
      description = "strata.migration.threshold, from 0 to 1.")
  private @Nullable Double threshold;

  @Option(names = "--burst", paramLabel = "TIME", description = "How long a burst lasts.")
  private @Nullable String burst;

  @Option(names = "--pause", paramLabel = "TIME", description = "How long it is until the next.")
  private @Nullable String pause;

  @Override
  protected ExitCode run() throws Exception {
    SortedMap<Quantity, Double> results = given().results();
    if (results.isEmpty()) {
      throw CommandException.usage(
          """
          found too little to compute anything, expected for example --ingest, --reserve and \
          --drain\
          """);
    }
    print(document -> describe(results, document), out -> print(results, out));
    return ExitCode.OK;
  }

  private BurstPlan given() throws CommandException {
    try {
      return new BurstPlan(
          bytes(ingest),
          bytes(drain),
          bytes(reserve),
          bytes(pool),
          seconds(burst, "--burst"),
          seconds(pause, "--pause"),
          threshold == null ? OptionalDouble.empty() : OptionalDouble.of(threshold));
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private static OptionalDouble bytes(@Nullable ByteAmount amount) {
    return amount == null ? OptionalDouble.empty() : OptionalDouble.of((double) amount.bytes());
  }

  private static OptionalDouble seconds(@Nullable String time, String option)
      throws CommandException {
    if (time == null) {
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(Durations.parse(option, time));
  }

  private static void describe(Map<Quantity, Double> results, ObjectNode document) {
    results.forEach(
        (quantity, value) -> document.put(quantity.label(), value.isInfinite() ? null : value));
  }

  private static void print(Map<Quantity, Double> results, PrintWriter out) {
    Table table = new Table("WHAT", ">VALUE", "FORMULA");
    for (Map.Entry<Quantity, Double> result : results.entrySet()) {
      Quantity quantity = result.getKey();
      table.row(quantity.label(), format(quantity, result.getValue()), quantity.formula());
    }
    table.print(out);
  }

  private static String format(Quantity quantity, double value) {
    return switch (quantity.unit()) {
      case BYTES -> ByteAmount.format(value);
      case BYTES_PER_SECOND -> ByteAmount.format(value) + "/s";
      case SECONDS -> Durations.format(value);
      case SHARE -> String.format(Locale.ROOT, "%.3f", value);
    };
  }
}
