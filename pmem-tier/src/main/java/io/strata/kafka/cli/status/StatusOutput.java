package io.strata.kafka.cli.status;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.Durations;
import io.strata.kafka.cli.terminal.Table;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;

/** Shows a {@link BrokerStatus}. */
public final class StatusOutput {
  private static final String NOT_KNOWN = "-";

  /** Columns of a line of settings: narrower than the tables. */
  private static final int WIDTH = 120;

  private static final String TIER = "Tier";
  private static final String LEVEL = "RemoteLevel";
  private static final String OPERATION = "RemoteOperation";
  private static final String SCRUB = "RemoteScrub";

  private static final Pattern METRIC = Pattern.compile("\\{(bytes|count|millis) ([\\w.]+)}");

  /**
   * A column of a table with a row for each tier or level.
   *
   * @param metric whose value it shows
   * @param format how it does
   */
  private record Column(String heading, String metric, Function<OptionalDouble, String> format) {}

  private static final List<Column> TIER_COLUMNS =
      List.of(
          new Column("CAPACITY", "CapacityBytes", StatusOutput::bytes),
          new Column("USED", "UsedBytes", StatusOutput::bytes),
          new Column("DIRTY", "DirtyBytes", StatusOutput::bytes),
          new Column("CLEAN", "CleanBytes", StatusOutput::bytes),
          new Column("ACTIVE", "ActiveBytes", StatusOutput::bytes),
          new Column("RESERVE", "ReserveBytes", StatusOutput::bytes),
          new Column("OLDEST DIRTY", "OldestDirtySeconds", StatusOutput::positiveSeconds),
          new Column("DOWN/S", "DestagedBytesPerSecond", StatusOutput::bytes),
          new Column("UP/S", "PromotedBytesPerSecond", StatusOutput::bytes),
          new Column("BACKLOG", "BacklogBytes", StatusOutput::bytes),
          new Column("DONE IN", "BacklogSeconds", StatusOutput::positiveSeconds),
          new Column("SPILLED", "SpilledBytesTotal", StatusOutput::bytes),
          new Column("READS", "ReadsTotal", StatusOutput::count),
          new Column("READ", "ReadBytesTotal", StatusOutput::bytes));

  private static final List<Column> LEVEL_COLUMNS =
      List.of(
          new Column("CAPACITY", "CapacityBytes", StatusOutput::capacity),
          new Column("USED", "UsedBytes", StatusOutput::bytes),
          new Column("SEGMENTS", "Segments", StatusOutput::count),
          new Column("DIRECTORIES", "Directories", StatusOutput::count),
          new Column("UNAVAILABLE", "UnavailableDirectories", StatusOutput::count),
          new Column("MOVING", "MovingCopies", StatusOutput::count),
          new Column("DAMAGED", "DamagedCopies", StatusOutput::count),
          new Column("COPIED/S", "CopiedBytesPerSecond", StatusOutput::bytes),
          new Column("FETCHED/S", "FetchedBytesPerSecond", StatusOutput::bytes),
          new Column("BACKLOG", "BacklogBytes", StatusOutput::bytes));

  private StatusOutput() {}

  static void describe(BrokerStatus status, ObjectNode document) {
    document.put("broker", status.broker());
    document.put("pid", status.pid());
    document.put("version", status.version());
    document.put("time", Instant.ofEpochMilli(status.timeMillis()).toString());
    document.put("health", status.health());
    status.reasons().forEach(document.putArray("reasons")::add);
    ObjectNode metrics = document.putObject("metrics");
    status.metrics().forEach((thing, values) -> put(metrics.putObject(thing), values));
    ObjectNode settings = document.putObject("settings");
    new TreeMap<>(status.settings()).forEach(settings::put);
  }

  /** Bytes and counts are whole numbers, and look so. */
  private static void put(ObjectNode node, Map<String, Double> values) {
    values.forEach(
        (name, value) -> {
          if (value == Math.rint(value) && Math.abs(value) < 1e15) {
            node.put(name, value.longValue());
          } else if (!value.isNaN() && !value.isInfinite()) {
            node.put(name, value);
          }
        });
  }

  /** Prints the status as text. */
  public static void print(BrokerStatus status, PrintWriter out) {
    out.printf(
        "Broker %s (process %d), Strata %s, %s%n",
        status.broker(), status.pid(), status.version(), time(status.timeMillis()));
    out.printf("Health: %d (%s)%n", status.health(), meaning(status.health()));
    status.reasons().forEach(reason -> out.println("  - " + reason));
    if (!status.names(TIER, "tier").isEmpty()) {
      out.println();
      printTiers(status, out);
    }
    if (!status.names(LEVEL, "level").isEmpty()) {
      out.println();
      printRemote(status, out);
    }
    out.println();
    printSettings(status, out);
  }

  /** Prints a table with a row for each value of the tag of a type. */
  private static void printTable(
      String heading,
      String type,
      String tag,
      List<Column> columns,
      BrokerStatus status,
      PrintWriter out) {
    List<String> headings = new ArrayList<>(List.of(heading));
    columns.forEach(column -> headings.add(">" + column.heading()));
    Table table = new Table(headings);
    for (String name : status.names(type, tag)) {
      String thing = "%s,%s=%s".formatted(type, tag, name);
      List<String> cells = new ArrayList<>(List.of(name));
      columns.forEach(
          column -> cells.add(column.format().apply(status.value(thing, column.metric()))));
      table.row(cells);
    }
    table.print(out);
    out.println();
  }

  private static String meaning(int health) {
    return switch (health) {
      case 0 -> "fine";
      case 1 -> "degraded";
      default -> "a promise does not hold";
    };
  }

  private static void printTiers(BrokerStatus status, PrintWriter out) {
    printTable("TIER", TIER, "tier", TIER_COLUMNS, status, out);
    if (status.has("Migration")) {
      printMoves(status, "Migration", out);
    } else {
      out.println("Nothing moves segments between these tiers.");
    }
  }

  private static void printMoves(BrokerStatus status, String engine, PrintWriter out) {
    String moves =
        """
        Moves: {count InFlight} under way by {count Threads} threads, {count Queued} queued; \
        down {bytes DownBytesPerSecond}/s \
        (p50 {millis DestageSeconds.50thPercentile}, p99 {millis DestageSeconds.99thPercentile}), \
        up {bytes UpBytesPerSecond}/s \
        (p50 {millis PromoteSeconds.50thPercentile}, p99 {millis PromoteSeconds.99thPercentile})
        Failed moves: %s; {count BackingOff} segments wait for a retry; \
        {count FailedRoundsTotal} of {count RoundSeconds.Count} planning rounds failed\
        """;
    out.println(filled(moves, status, engine).formatted(failures(status, engine)));
  }

  private static void printRemote(BrokerStatus status, PrintWriter out) {
    printTable("REMOTE LEVEL", LEVEL, "level", LEVEL_COLUMNS, status, out);
    String operation =
        """
        %s: {count CompletedTotal} done ({bytes BytesTotal}), {count Running} running; \
        p50 {millis LatencySeconds.50thPercentile}, p99 {millis LatencySeconds.99thPercentile}, \
        longest {millis LatencySeconds.Max}\
        """;
    for (String name : status.names(OPERATION, "operation")) {
      String thing = "RemoteOperation,operation=" + name;
      out.println(filled(operation, status, thing).formatted(name));
    }
    String scrub =
        """
        Scrub: {count RoundsTotal} rounds, {count CorruptObjectsTotal} files corrupt, \
        {count MissingObjectsTotal} missing, {count OrphansRemovedTotal} orphans removed%s\
        """;
    OptionalDouble ended = status.value(SCRUB, "LastEndTimestampSeconds");
    out.println(
        filled(scrub, status, SCRUB)
            .formatted(
                ended.isPresent()
                    ? "; the last ended " + time(Math.round(ended.getAsDouble() * 1e3))
                    : ""));
    String store =
        """
        Store: {count DamagedSegments} segments without an undamaged copy, \
        {count ReplacedReadsTotal} reads served by another copy, {count StuckThreads} threads hang\
        """;
    out.println(filled(store, status, "Remote"));
    out.println("Failed operations: " + failures(status, OPERATION));
    if (status.has("RemoteMigration") && status.value("RemoteMigration", "Active").orElse(0) > 0) {
      printMoves(status, "RemoteMigration", out);
    } else {
      out.println("This broker moves no segments between these levels.");
    }
  }

  /** A text in which {@code {unit Name}} stands for the value of a metric of the thing. */
  private static String filled(String text, BrokerStatus status, String thing) {
    return METRIC
        .matcher(text)
        .replaceAll(
            metric -> {
              OptionalDouble value = status.value(thing, metric.group(2));
              return switch (metric.group(1)) {
                case "bytes" -> bytes(value);
                case "millis" -> millis(value);
                default -> count(value);
              };
            });
  }

  private static Instant time(long millis) {
    return Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.SECONDS);
  }

  /** {@code no-space 3}, or for operations {@code copy full 17}. */
  private static String failures(BrokerStatus status, String type) {
    String prefix = type + ",cause=";
    Map<String, String> causes = new TreeMap<>();
    status.metrics().keySet().stream()
        .filter(thing -> thing.startsWith(prefix))
        .forEach(
            thing -> {
              OptionalDouble count = status.value(thing, "FailuresTotal");
              if (count.orElse(0) > 0) {
                String[] tags = thing.substring(prefix.length()).split(",operation=", 2);
                String name = tags.length > 1 ? tags[1] + " " + tags[0] : tags[0];
                causes.put(name, "%s %s".formatted(name, count(count)));
              }
            });
    return causes.isEmpty() ? "none" : String.join(", ", causes.values());
  }

  /** As many to a line as fit; each stands whole on one. */
  private static void printSettings(BrokerStatus status, PrintWriter out) {
    String start = "Settings:";
    StringBuilder line = new StringBuilder(start);
    for (Map.Entry<String, String> setting : new TreeMap<>(status.settings()).entrySet()) {
      if (setting.getValue().isEmpty()) {
        continue;
      }
      String text = " %s=%s".formatted(setting.getKey(), setting.getValue());
      if (line.length() > start.length() && line.length() + text.length() > WIDTH) {
        out.println(line);
        line = new StringBuilder(" ".repeat(start.length()));
      }
      line.append(text);
    }
    out.println(line);
  }

  private static String positiveSeconds(OptionalDouble seconds) {
    return seconds.orElse(0) > 0 ? Durations.format(seconds.getAsDouble()) : NOT_KNOWN;
  }

  /** The cold manager's level has no bound that is known. */
  private static String capacity(OptionalDouble value) {
    return value.orElse(0) > 0 ? bytes(value) : NOT_KNOWN;
  }

  private static String bytes(OptionalDouble value) {
    return value.isPresent() ? ByteSize.format(Math.round(value.getAsDouble())) : NOT_KNOWN;
  }

  private static String count(OptionalDouble value) {
    return value.isPresent() ? Long.toString(Math.round(value.getAsDouble())) : NOT_KNOWN;
  }

  private static String millis(OptionalDouble seconds) {
    return seconds.isPresent()
        ? String.format(Locale.ROOT, "%.0f ms", seconds.getAsDouble() * 1e3)
        : NOT_KNOWN;
  }
}
