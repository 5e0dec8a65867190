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

/** Shows a {@link BrokerStatus}. */
final class StatusOutput {
  static final String NOT_KNOWN = "-";

  private StatusOutput() {}

  static void printJson(BrokerStatus status, PrintWriter out) {
    ObjectNode document = Json.object();
    document.put("broker", status.broker());
    document.put("pid", status.pid());
    document.put("version", status.version());
    document.put("time", Instant.ofEpochMilli(status.timeMillis()).toString());
    ArrayNode tiers = document.putArray("tiers");
    for (String name : status.tierNames()) {
      ObjectNode tier = tiers.addObject();
      tier.put("name", name);
      put(tier, status.tiers().getOrDefault(name, Map.of()));
    }
    put(document.putObject("migration"), status.migration());
    ObjectNode failures = document.putObject("failures");
    status.failures().forEach(failures::put);
    ObjectNode settings = document.putObject("settings");
    new TreeMap<>(status.settings()).forEach(settings::put);
    status
        .remote()
        .ifPresent(remote -> RemoteStatusOutput.addJson(remote, document.putObject("remote")));
    Json.print(document, out);
  }

  /** Bytes and counts are whole numbers, and look so. */
  static void put(ObjectNode node, Map<String, Double> values) {
    new TreeMap<>(values)
        .forEach(
            (name, value) -> {
              if (value == Math.rint(value) && Math.abs(value) < 1e15) {
                node.put(name, value.longValue());
              } else if (!value.isNaN() && !value.isInfinite()) {
                node.put(name, value);
              }
            });
  }

  static void printText(BrokerStatus status, PrintWriter out) {
    out.println(
        "Broker "
            + status.broker()
            + " (process "
            + status.pid()
            + "), Strata "
            + status.version()
            + ", "
            + Instant.ofEpochMilli(status.timeMillis()).truncatedTo(ChronoUnit.SECONDS));
    out.println();
    if (!status.tierNames().isEmpty()) {
      printTiers(status, out);
    }
    if (status.remote().isPresent()) {
      if (!status.tierNames().isEmpty()) {
        out.println();
      }
      RemoteStatusOutput.printText(status.remote().get(), out);
    }
  }

  private static void printTiers(BrokerStatus status, PrintWriter out) {
    Table table = new Table().column("TIER", Table.Align.LEFT);
    for (String heading :
        List.of(
            "CAPACITY",
            "USED",
            "DIRTY",
            "CLEAN",
            "ACTIVE",
            "RESERVE",
            "DOWN/S",
            "UP/S",
            "BACKLOG",
            "DONE IN",
            "SPILLED",
            "READS",
            "READ")) {
      table.column(heading, Table.Align.RIGHT);
    }
    for (String tier : status.tierNames()) {
      table.row(
          tier,
          bytes(status.value(tier, "capacityBytes")),
          bytes(status.value(tier, "usedBytes")),
          bytes(status.value(tier, "dirtyBytes")),
          bytes(status.value(tier, "cleanBytes")),
          bytes(status.value(tier, "activeBytes")),
          bytes(status.value(tier, "reserveBytes")),
          bytes(status.value(tier, "downBytesPerSecond")),
          bytes(status.value(tier, "upBytesPerSecond")),
          bytes(status.value(tier, "backlogBytes")),
          backlogTime(status, tier),
          bytes(status.value(tier, "spilledBytes")),
          count(status.value(tier, "reads")),
          bytes(status.value(tier, "readBytes")));
    }
    table.print(out);
    out.println();
    printMigration(status, out);
  }

  private static void printMigration(BrokerStatus status, PrintWriter out) {
    if (status.migration().isEmpty()) {
      out.println("Nothing moves segments between these tiers.");
      return;
    }
    out.println(
        "Moves: "
            + count(status.migration("inFlight"))
            + " under way by "
            + count(status.migration("threads"))
            + " threads, "
            + count(status.migration("queued"))
            + " queued; down "
            + bytes(status.migration("downBytesPerSecond"))
            + "/s (p50 "
            + millis(status.migration("destageP50Millis"))
            + ", p99 "
            + millis(status.migration("destageP99Millis"))
            + "), up "
            + bytes(status.migration("upBytesPerSecond"))
            + "/s (p50 "
            + millis(status.migration("promoteP50Millis"))
            + ", p99 "
            + millis(status.migration("promoteP99Millis"))
            + ")");
    out.println(
        "Failures: "
            + failures(status.failures())
            + "; "
            + count(status.migration("backingOff"))
            + " segments wait to be tried again; "
            + count(status.migration("failedRounds"))
            + " of "
            + count(status.migration("rounds"))
            + " planning rounds failed");
    List<String> settings = new ArrayList<>();
    new TreeMap<>(status.settings())
        .forEach(
            (key, value) -> {
              if (!value.isEmpty()) {
                settings.add(key.replaceFirst("^strata\\.(migration\\.)?", "") + "=" + value);
              }
            });
    out.println("Settings: " + String.join(" ", settings));
  }

  static String failures(Map<String, Long> failures) {
    List<String> causes = new ArrayList<>();
    new TreeMap<>(failures)
        .forEach(
            (cause, count) -> {
              if (count > 0) {
                causes.add(cause + " " + count);
              }
            });
    return causes.isEmpty() ? "none" : String.join(", ", causes);
  }

  private static String backlogTime(BrokerStatus status, String tier) {
    OptionalDouble seconds = status.value(tier, "backlogSeconds");
    boolean backlog = status.value(tier, "backlogBytes").orElse(0) > 0;
    return backlog && seconds.isPresent() && Double.isFinite(seconds.getAsDouble())
        ? Durations.format(seconds.getAsDouble())
        : NOT_KNOWN;
  }

  static String bytes(OptionalDouble value) {
    return value.isPresent() ? ByteSize.format(Math.round(value.getAsDouble())) : NOT_KNOWN;
  }

  static String count(OptionalDouble value) {
    return value.isPresent() ? Long.toString(Math.round(value.getAsDouble())) : NOT_KNOWN;
  }

  static String millis(OptionalDouble value) {
    return value.isPresent()
        ? String.format(Locale.ROOT, "%.0f ms", value.getAsDouble())
        : NOT_KNOWN;
  }
}
