package io.strata.kafka.cli.status;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.Durations;
import io.strata.kafka.cli.terminal.Table;
import io.strata.kafka.metrics.StatusMXBean;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The status of a broker's tiers, local and remote, at one moment; it prints itself.
 *
 * @param health 0 fine, 1 degraded, 2 a promise does not hold
 * @param metrics values by type and tags ({@code Tier,tier=hot}), then by name
 */
public record BrokerStatus(
    String version,
    String broker,
    long pid,
    long timeMillis,
    int health,
    List<String> reasons,
    Map<String, Map<String, Double>> metrics,
    Map<String, String> settings) {

  private static final String NOT_KNOWN = "-";

  /** Columns of a line of settings: narrower than the tables. */
  private static final int WIDTH = 120;

  private static final String TIER = "Tier";
  private static final String LEVEL = "RemoteLevel";
  private static final String OPERATION = "RemoteOperation";
  private static final String SCRUB = "RemoteScrub";

  private static final Pattern METRIC = Pattern.compile("\\{(bytes|count|millis) ([\\w.]+)}");

  /** A column of a table with a row for each tier or level. */
  private record Column(String heading, String metric, Function<OptionalDouble, String> format) {}

  private static final List<Column> TIER_COLUMNS =
      List.of(
          new Column("CAPACITY", "CapacityBytes", BrokerStatus::bytes),
          new Column("USED", "UsedBytes", BrokerStatus::bytes),
          new Column("DIRTY", "DirtyBytes", BrokerStatus::bytes),
          new Column("CLEAN", "CleanBytes", BrokerStatus::bytes),
          new Column("ACTIVE", "ActiveBytes", BrokerStatus::bytes),
          new Column("RESERVE", "ReserveBytes", BrokerStatus::bytes),
          new Column("OLDEST DIRTY", "OldestDirtySeconds", BrokerStatus::positiveSeconds),
          new Column("DOWN/S", "DestagedBytesPerSecond", BrokerStatus::bytes),
          new Column("UP/S", "PromotedBytesPerSecond", BrokerStatus::bytes),
          new Column("BACKLOG", "BacklogBytes", BrokerStatus::bytes),
          new Column("DONE IN", "BacklogSeconds", BrokerStatus::positiveSeconds),
          new Column("SPILLED", "SpilledBytesTotal", BrokerStatus::bytes),
          new Column("READS", "ReadsTotal", BrokerStatus::count),
          new Column("READ", "ReadBytesTotal", BrokerStatus::bytes));

  private static final List<Column> LEVEL_COLUMNS =
      List.of(
          new Column("CAPACITY", "CapacityBytes", BrokerStatus::capacity),
          new Column("USED", "UsedBytes", BrokerStatus::bytes),
          new Column("SEGMENTS", "Segments", BrokerStatus::count),
          new Column("DIRECTORIES", "Directories", BrokerStatus::count),
          new Column("UNAVAILABLE", "UnavailableDirectories", BrokerStatus::count),
          new Column("MOVING", "MovingCopies", BrokerStatus::count),
          new Column("DAMAGED", "DamagedCopies", BrokerStatus::count),
          new Column("COPIED/S", "CopiedBytesPerSecond", BrokerStatus::bytes),
          new Column("FETCHED/S", "FetchedBytesPerSecond", BrokerStatus::bytes),
          new Column("BACKLOG", "BacklogBytes", BrokerStatus::bytes));

  /** The counts that a rate is computed from, and the name of the rate, for each type. */
  private static final Map<String, List<String>> RATES =
      Map.of(
          TIER, List.of("DestagedBytes", "PromotedBytes"),
          LEVEL, List.of("CopiedBytes", "FetchedBytes"));

  static BrokerStatus of(StatusMXBean bean) {
    return new BrokerStatus(
        bean.getVersion(),
        bean.getBroker(),
        bean.getPid(),
        bean.getTimeMillis(),
        bean.getHealth(),
        bean.getReasons(),
        bean.getMetrics(),
        bean.getSettings());
  }

  /** The values of the one tag of a type, in the broker's order: the names of tiers, say. */
  private List<String> names(String type, String tag) {
    String prefix = "%s,%s=".formatted(type, tag);
    return metrics.keySet().stream()
        .filter(key -> key.startsWith(prefix))
        .map(key -> key.substring(prefix.length()))
        .toList();
  }

  private OptionalDouble value(String thing, String name) {
    Double value = metrics.getOrDefault(thing, Map.of()).get(name);
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
  }

  /**
   * This status with what has changed since an earlier one of the same broker: {@code
   * DestagedBytesPerSecond} and {@code PromotedBytesPerSecond} of each tier, {@code
   * CopiedBytesPerSecond} and {@code FetchedBytesPerSecond} of each remote level.
   */
  BrokerStatus since(BrokerStatus earlier) {
    double seconds = (timeMillis - earlier.timeMillis) / 1e3;
    if (seconds <= 0 || earlier.pid != pid) {
      return this;
    }
    Map<String, Map<String, Double>> withRates = new LinkedHashMap<>();
    metrics.forEach(
        (thing, values) -> {
          Map<String, Double> now = new LinkedHashMap<>(values);
          for (String rate : RATES.getOrDefault(thing.split(",", 2)[0], List.of())) {
            OptionalDouble count = value(thing, rate + "Total");
            OptionalDouble before = earlier.value(thing, rate + "Total");
            if (count.isPresent() && before.isPresent()) {
              now.put(
                  rate + "PerSecond",
                  Math.max(0, count.getAsDouble() - before.getAsDouble()) / seconds);
            }
          }
          withRates.put(thing, now);
        });
    return new BrokerStatus(version, broker, pid, timeMillis, health, reasons, withRates, settings);
  }

  void describe(ObjectNode document) {
    document.put("broker", broker);
    document.put("pid", pid);
    document.put("version", version);
    document.put("time", Instant.ofEpochMilli(timeMillis).toString());
    document.put("health", health);
    reasons.forEach(document.putArray("reasons")::add);
    ObjectNode things = document.putObject("metrics");
    metrics.forEach((thing, values) -> put(things.putObject(thing), values));
    new TreeMap<>(settings).forEach(document.putObject("settings")::put);
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
  public void print(PrintWriter out) {
    out.printf("Broker %s (process %d), Strata %s, %s%n", broker, pid, version, time(timeMillis));
    String meaning = health == 0 ? "fine" : health == 1 ? "degraded" : "a promise does not hold";
    out.printf("Health: %d (%s)%n", health, meaning);
    reasons.forEach(reason -> out.println("  - " + reason));
    if (!names(TIER, "tier").isEmpty()) {
      out.println();
      printTiers(out);
    }
    if (!names(LEVEL, "level").isEmpty()) {
      out.println();
      printRemote(out);
    }
    out.println();
    printSettings(out);
  }

  private void printTable(
      String heading, String type, String tag, List<Column> columns, PrintWriter out) {
    List<String> headings = new ArrayList<>(List.of(heading));
    columns.forEach(column -> headings.add(">" + column.heading()));
    Table table = new Table(headings.toArray(String[]::new));
    for (String name : names(type, tag)) {
      String thing = "%s,%s=%s".formatted(type, tag, name);
      List<String> cells = new ArrayList<>(List.of(name));
      columns.forEach(column -> cells.add(column.format().apply(value(thing, column.metric()))));
      table.row(cells.toArray());
    }
    table.print(out);
    out.println();
  }

  private void printTiers(PrintWriter out) {
    printTable("TIER", TIER, "tier", TIER_COLUMNS, out);
    if (metrics.containsKey("Migration")) {
      printMoves("Migration", out);
    } else {
      out.println("Nothing moves segments between these tiers.");
    }
  }

  private void printMoves(String engine, PrintWriter out) {
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
    out.println(filled(moves, engine).formatted(failures(engine)));
  }

  private void printRemote(PrintWriter out) {
    printTable("REMOTE LEVEL", LEVEL, "level", LEVEL_COLUMNS, out);
    String operation =
        """
        %s: {count CompletedTotal} done ({bytes BytesTotal}), {count Running} running; \
        p50 {millis LatencySeconds.50thPercentile}, p99 {millis LatencySeconds.99thPercentile}, \
        longest {millis LatencySeconds.Max}\
        """;
    for (String name : names(OPERATION, "operation")) {
      String thing = "RemoteOperation,operation=" + name;
      out.println(filled(operation, thing).formatted(name));
    }
    String scrub =
        """
        Scrub: {count RoundsTotal} rounds, {count CorruptObjectsTotal} files corrupt, \
        {count MissingObjectsTotal} missing, {count OrphansRemovedTotal} orphans removed%s\
        """;
    OptionalDouble ended = value(SCRUB, "LastEndTimestampSeconds");
    out.println(
        filled(scrub, SCRUB)
            .formatted(
                ended.isPresent()
                    ? "; the last ended " + time(Math.round(ended.getAsDouble() * 1e3))
                    : ""));
    String store =
        """
        Store: {count DamagedSegments} segments without an undamaged copy, \
        {count ReplacedReadsTotal} reads served by another copy, {count StuckThreads} threads hang\
        """;
    out.println(filled(store, "Remote"));
    out.println("Failed operations: " + failures(OPERATION));
    if (value("RemoteMigration", "Active").orElse(0) > 0) {
      printMoves("RemoteMigration", out);
    } else {
      out.println("This broker moves no segments between these levels.");
    }
  }

  /** A text in which {@code {unit Name}} stands for the value of a metric of the thing. */
  private String filled(String text, String thing) {
    return METRIC
        .matcher(text)
        .replaceAll(
            metric -> {
              OptionalDouble value = value(thing, metric.group(2));
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
  private String failures(String type) {
    String prefix = type + ",cause=";
    Map<String, String> causes = new TreeMap<>();
    metrics.keySet().stream()
        .filter(thing -> thing.startsWith(prefix))
        .forEach(
            thing -> {
              OptionalDouble count = value(thing, "FailuresTotal");
              if (count.orElse(0) > 0) {
                String[] tags = thing.substring(prefix.length()).split(",operation=", 2);
                String name = tags.length > 1 ? tags[1] + " " + tags[0] : tags[0];
                causes.put(name, "%s %s".formatted(name, count(count)));
              }
            });
    return causes.isEmpty() ? "none" : String.join(", ", causes.values());
  }

  /** As many to a line as fit; each stands whole on one. */
  private void printSettings(PrintWriter out) {
    String start = "Settings:";
    StringBuilder line = new StringBuilder(start);
    for (Map.Entry<String, String> setting : new TreeMap<>(settings).entrySet()) {
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
