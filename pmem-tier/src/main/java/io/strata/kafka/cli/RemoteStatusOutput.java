package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/** Shows a {@link RemoteStatus}. */
final class RemoteStatusOutput {
  private RemoteStatusOutput() {}

  static void addJson(RemoteStatus status, ObjectNode remote) {
    ArrayNode levels = remote.putArray("levels");
    for (String name : status.levelNames()) {
      ObjectNode level = levels.addObject();
      level.put("name", name);
      StatusOutput.put(level, status.levels().getOrDefault(name, Map.of()));
    }
    ObjectNode operations = remote.putObject("operations");
    status
        .operations()
        .forEach((name, values) -> StatusOutput.put(operations.putObject(name), values));
    ObjectNode failures = remote.putObject("failures");
    status.failures().forEach(failures::put);
    StatusOutput.put(remote, status.values());
    ObjectNode settings = remote.putObject("settings");
    new TreeMap<>(status.settings()).forEach(settings::put);
  }

  static void printText(RemoteStatus status, PrintWriter out) {
    Table table = new Table().column("REMOTE LEVEL", Table.Align.LEFT);
    for (String heading :
        List.of(
            "CAPACITY",
            "USED",
            "SEGMENTS",
            "DIRECTORIES",
            "UNAVAILABLE",
            "COPIED/S",
            "FETCHED/S",
            "BACKLOG")) {
      table.column(heading, Table.Align.RIGHT);
    }
    for (String level : status.levelNames()) {
      table.row(
          level,
          capacity(status.level(level, "capacityBytes")),
          bytes(status.level(level, "usedBytes")),
          count(status.level(level, "segments")),
          count(status.level(level, "directories")),
          count(status.level(level, "unavailableDirectories")),
          bytes(status.level(level, "copiedBytesPerSecond")),
          bytes(status.level(level, "fetchedBytesPerSecond")),
          bytes(status.level(level, "backlogBytes")));
    }
    table.print(out);
    out.println();
    status.operations().keySet().forEach(operation -> out.println(line(status, operation)));
    OptionalDouble lag = status.value("oldestUncopiedMillis");
    out.println(
        "Not copied yet: "
            + (lag.isPresent()
                ? "the oldest sealed segment is "
                    + Durations.format(lag.getAsDouble() / 1e3)
                    + " old"
                : "nothing"));
    out.println(cache(status));
    out.println(scrub(status));
    out.println(
        "Failures: "
            + failures(status)
            + "; "
            + count(status.value("stuckThreads"))
            + " threads hang");
    List<String> settings = new ArrayList<>();
    new TreeMap<>(status.settings())
        .forEach(
            (key, value) -> {
              if (!value.isEmpty()) {
                settings.add(key.replaceFirst("^strata\\.remote\\.", "") + "=" + value);
              }
            });
    out.println("Settings: " + String.join(" ", settings));
  }

  /** {@code copy: 3 done (1.2 GiB), 1 running; p50 20 ms, p99 30 ms, longest 31 ms}. */
  private static String line(RemoteStatus status, String operation) {
    return operation
        + ": "
        + count(status.operation(operation, "count"))
        + " done ("
        + bytes(status.operation(operation, "bytes"))
        + "), "
        + count(status.operation(operation, "running"))
        + " running; p50 "
        + StatusOutput.millis(status.operation(operation, "p50Millis"))
        + ", p99 "
        + StatusOutput.millis(status.operation(operation, "p99Millis"))
        + ", longest "
        + StatusOutput.millis(status.operation(operation, "maxMillis"));
  }

  private static String cache(RemoteStatus status) {
    return "Cache: "
        + bytes(status.value("cacheUsedBytes"))
        + " of "
        + bytes(status.value("cacheCapacityBytes"))
        + ", "
        + share(status.value("cacheHits"), status.value("cacheMisses"))
        + " hits; read ahead "
        + bytes(status.value("readAheadBytes"))
        + ", "
        + bytes(status.value("readAheadWastedBytes"))
        + " of that in vain";
  }

  private static String scrub(RemoteStatus status) {
    OptionalDouble end = status.value("scrubLastEndMillis");
    return "Scrub: "
        + count(status.value("scrubRounds"))
        + " rounds, "
        + count(status.value("scrubCorruptObjects"))
        + " files corrupt, "
        + count(status.value("scrubMissingObjects"))
        + " missing, "
        + count(status.value("scrubOrphansRemoved"))
        + " orphans removed"
        + (end.isPresent()
            ? "; the last ended "
                + Instant.ofEpochMilli((long) end.getAsDouble()).truncatedTo(ChronoUnit.SECONDS)
            : "");
  }

  private static String failures(RemoteStatus status) {
    return StatusOutput.failures(status.failures());
  }

  private static String share(OptionalDouble hits, OptionalDouble misses) {
    double all = hits.orElse(0) + misses.orElse(0);
    return all == 0
        ? StatusOutput.NOT_KNOWN
        : String.format(Locale.ROOT, "%.0f %%", 100 * hits.orElse(0) / all);
  }

  /** The cold manager's level has no bound that is known. */
  private static String capacity(OptionalDouble value) {
    return value.orElse(0) > 0 ? bytes(value) : StatusOutput.NOT_KNOWN;
  }

  private static String bytes(OptionalDouble value) {
    return StatusOutput.bytes(value);
  }

  private static String count(OptionalDouble value) {
    return StatusOutput.count(value);
  }
}
