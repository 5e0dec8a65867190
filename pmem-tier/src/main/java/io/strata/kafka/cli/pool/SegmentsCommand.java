package io.strata.kafka.cli.pool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.pool.SegmentInventory.SegmentEntry;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.ConfigOption;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.cli.terminal.Table;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.key.NearNames;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code strata segments}. */
@Command(
    name = "segments",
    description = {
      """
      Shows what lives where: each segment's bytes in its pool and in its log file, and a total \
      for each medium. Reads only, and works while the broker runs.\
      """,
      "",
      """
      States: hot, all of its newest bytes in the pool; spilled, the newest ones in the log file; \
      logdirs, all in the log file; unreachable, its pool or slot cannot be read.\
      """,
      "",
      """
      Four offsets in the log file say where the bytes are: from 0 to START in the log file, from \
      START to CLEAN in the pool and in the log file, from CLEAN to END only in the pool, from END \
      to SIZE in the log file. Bytes that are only in the pool are lost with it. A segment that \
      has none is clean: its space in the pool is free at once when it is needed.\
      """,
      "",
      """
      Exit code 1 if a pool, a log directory or a file could not be looked at, or if a topic is \
      not there.\
      """,
      ""
    },
    footer = {
      "",
      "Examples:",
      "  strata segments --config server.properties",
      "  strata segments --config server.properties --topic orders --json"
    })
public final class SegmentsCommand extends StrataCommand {
  private static final int TOPICS_SHOWN = 10;

  @Mixin private final ConfigOption config = new ConfigOption();

  @Option(
      names = "--topic",
      paramLabel = "NAME",
      description = "Only this topic; may be given several times.")
  private List<String> topics = new ArrayList<>();

  @Option(names = "--totals", description = "Only the totals.")
  private boolean totalsOnly;

  @Override
  protected ExitCode run() throws Exception {
    BrokerProperties broker = config.require();
    StrataConfig strata = broker.strataConfig().orElseThrow();
    Predicate<String> wanted = topics.isEmpty() ? topic -> true : Set.copyOf(topics)::contains;
    try (SegmentInventory inventory = new SegmentInventory(strata.pools())) {
      Set<Path> directories = new LinkedHashSet<>(broker.logDirs());
      directories.add(broker.metadataLogDir());
      for (Path directory : directories) {
        inventory.walk(directory, wanted);
      }
      requireTopics(inventory);
      List<SegmentEntry> entries = inventory.entries();
      List<PoolReport> pools = inventory.pools();
      print(
          document -> {
            describe(entries, pools, document);
            inventory.findings().forEach(document.putArray("findings")::add);
          },
          out -> print(entries, pools, out));
      return end(inventory.findings());
    }
  }

  private void requireTopics(SegmentInventory inventory) {
    for (String topic : topics) {
      if (!inventory.topics().contains(topic)) {
        inventory.addFinding(
            "topic %s: found no partition of it in the log directories of this broker; %s"
                .formatted(topic, otherTopics(topic, inventory.topics())));
      }
    }
  }

  /** A phrase with the topics that are like the given one, or with those that there are. */
  private static String otherTopics(String missing, Collection<String> topics) {
    if (topics.isEmpty()) {
      return "they have no partition of any topic";
    }
    List<String> near = NearNames.of(missing, topics);
    Collection<String> shown = near.isEmpty() ? topics : near;
    String first = shown.stream().limit(TOPICS_SHOWN).collect(Collectors.joining(", "));
    int more = topics.size() - TOPICS_SHOWN;
    String rest = near.isEmpty() && more > 0 ? " and %d more".formatted(more) : "";
    return (near.isEmpty() ? "topics: " : "near names: ") + first + rest;
  }

  private void print(List<SegmentEntry> entries, List<PoolReport> pools, PrintWriter out) {
    if (!totalsOnly) {
      String heading = "PARTITION,>BASE OFFSET,STATE,>START,>CLEAN,>END,>SIZE,>ONLY IN POOL,POOL";
      Table table = new Table(heading.split(","));
      for (SegmentEntry entry : entries) {
        boolean known = entry.state() != SegmentEntry.State.UNREACHABLE;
        LongFunction<String> shown = bytes -> known ? ByteSize.format(bytes) : "?";
        table.row(
            entry.partition(),
            entry.name().id().baseOffset(),
            entry.describeState(),
            shown.apply(entry.start()),
            shown.apply(entry.clean()),
            shown.apply(entry.end()),
            shown.apply(entry.size()),
            shown.apply(entry.bytesOnlyInPool()),
            entry.pool().map(pool -> pool.getFileName().toString()).orElse("-"));
      }
      table.print(out);
      out.println();
    }
    long clean = clean(entries);
    long unreachable = count(entries, SegmentEntry.State.UNREACHABLE);
    out.printf(
        "total: %d segments: %d hot%s, %d spilled, %d logdirs%s%n",
        entries.size(),
        count(entries, SegmentEntry.State.HOT),
        clean > 0 ? " (%d of them clean)".formatted(clean) : "",
        count(entries, SegmentEntry.State.SPILLED),
        count(entries, SegmentEntry.State.LOGDIRS),
        unreachable > 0 ? ", %d unreachable".formatted(unreachable) : "");
    for (PoolReport pool : pools) {
      out.printf(
          "pool %s: %s in %d segments; %s of %s used%n",
          pool.info().path(),
          ByteSize.format(sum(in(pool, entries), SegmentEntry::bytesInPool)),
          in(pool, entries).size(),
          ByteSize.format(pool.usedBytes()),
          ByteSize.format(pool.info().dataSize()));
    }
    out.printf(
        "logdirs: %s in %d segments%n",
        ByteSize.format(sum(entries, SegmentEntry::bytesInLogFile)),
        entries.stream().filter(e -> e.bytesInLogFile() > 0).count());
  }

  private void describe(List<SegmentEntry> entries, List<PoolReport> pools, ObjectNode document) {
    if (!totalsOnly) {
      ArrayNode segments = document.putArray("segments");
      for (SegmentEntry entry : entries) {
        ObjectNode node = segments.addObject();
        node.put("topic", entry.name().id().topic());
        node.put("partition", entry.name().id().partition());
        node.put("baseOffset", entry.name().id().baseOffset());
        node.put("replica", entry.name().replica().name());
        node.put("stage", entry.name().stage().name());
        node.put("state", entry.state().name());
        entry.pool().ifPresent(pool -> node.put("pool", pool.toString()));
        node.put("start", entry.start());
        node.put("clean", entry.clean());
        node.put("end", entry.end());
        node.put("size", entry.size());
        node.put("bytesInPool", entry.bytesInPool());
        node.put("bytesInLogFile", entry.bytesInLogFile());
        node.put("bytesOnlyInPool", entry.bytesOnlyInPool());
        node.put("file", entry.file().toString());
      }
    }
    ObjectNode total = document.putObject("total");
    total.put("segments", entries.size());
    total.put("hot", count(entries, SegmentEntry.State.HOT));
    total.put("clean", clean(entries));
    total.put("spilled", count(entries, SegmentEntry.State.SPILLED));
    total.put("logdirs", count(entries, SegmentEntry.State.LOGDIRS));
    total.put("unreachable", count(entries, SegmentEntry.State.UNREACHABLE));
    total.put("bytesInPool", sum(entries, SegmentEntry::bytesInPool));
    total.put("bytesInLogFile", sum(entries, SegmentEntry::bytesInLogFile));
    total.put("bytesOnlyInPool", sum(entries, SegmentEntry::bytesOnlyInPool));
    ArrayNode array = document.putArray("pools");
    for (PoolReport pool : pools) {
      ObjectNode node = array.addObject();
      node.put("path", pool.info().path().toString());
      node.put("segments", in(pool, entries).size());
      node.put("bytesInPool", sum(in(pool, entries), SegmentEntry::bytesInPool));
      node.put("usedBytes", pool.usedBytes());
      node.put("freeBytes", pool.freeBytes());
    }
  }

  private static List<SegmentEntry> in(PoolReport pool, List<SegmentEntry> entries) {
    Optional<Path> file = Optional.of(pool.info().path());
    return entries.stream().filter(entry -> entry.pool().equals(file)).toList();
  }

  private static long clean(List<SegmentEntry> entries) {
    return entries.stream().filter(SegmentEntry::isClean).count();
  }

  private static long count(List<SegmentEntry> entries, SegmentEntry.State state) {
    return entries.stream().filter(entry -> entry.state() == state).count();
  }

  private static long sum(List<SegmentEntry> entries, ToLongFunction<SegmentEntry> bytes) {
    return entries.stream().mapToLong(bytes).sum();
  }
}
