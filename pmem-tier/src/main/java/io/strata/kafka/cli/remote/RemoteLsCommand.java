package io.strata.kafka.cli.remote;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.remote.StoreInventory.Copy;
import io.strata.kafka.cli.remote.StoreInventory.Segment;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Json;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.cli.terminal.Table;
import io.strata.kafka.migration.remote.store.keep.StoreInspection;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code strata remote ls}. */
@Command(
    name = "ls",
    description = {
      """
      Lists the segments of the store: offsets, size, the level that each is read from, and all \
      levels that have it. Reads manifests only, and works while brokers use the store.\
      """,
      "",
      """
      States: moving, a copy between levels that is not confirmed yet; cold, the cold manager has \
      its bytes; to-cold, it is getting them.\
      """,
      "",
      "Exit code 1 if a directory or a manifest cannot be read.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  strata remote ls --config server.properties",
      "  strata remote ls --dir /mnt/ssd/remote --topic orders --partition 3 --json"
    })
final class RemoteLsCommand extends StrataCommand {
  @Mixin private final StorePlaces places = new StorePlaces();

  @Option(names = "--ids", description = "Show the ids that Kafka knows the segments by.")
  private boolean ids;

  @Mixin private final Json json = new Json();

  @Override
  protected ExitCode run() throws Exception {
    StoreInventory inventory = StoreInventory.of(places.resolve(), places.chosen());
    json.print(out(), document -> describe(inventory, document), out -> print(inventory, out));
    return end(inventory.findings());
  }

  private void print(StoreInventory inventory, PrintWriter out) {
    List<String> columns =
        List.of("PARTITION", ">OFFSETS", ">SIZE", "LEVEL", ">BROKER", "COPIED", "STATE", "ID");
    Table table = new Table(columns.subList(0, ids ? 8 : 7));
    List<Segment> segments = inventory.segments();
    for (Segment segment : segments) {
      Manifest manifest = segment.first().manifest();
      SegmentInfo info = manifest.segment();
      List<Object> cells =
          List.of(
              info.key().topic() + "-" + info.key().partition(),
              info.key().startOffset() + "-" + info.endOffset(),
              ByteSize.format(info.bytes()),
              levels(segment),
              info.brokerId(),
              Instant.ofEpochMilli(manifest.createdMillis()).truncatedTo(ChronoUnit.SECONDS),
              state(segment),
              info.key().id());
      table.row(cells.subList(0, ids ? 8 : 7));
    }
    table.print(out);
    out.println();
    out.printf(
        "%s: %s segments, %s of records; %s in all levels, with indexes%n",
        inventory.total(),
        segments.size(),
        ByteSize.format(
            segments.stream().mapToLong(s -> s.first().manifest().segment().bytes()).sum()),
        ByteSize.format(inventory.storedBytes()));
  }

  /** The levels that have the bytes, the one that is read first. */
  private static String levels(Segment segment) {
    String levels =
        segment.copies().stream()
            .filter(copy -> copy.found().hasLog())
            .map(copy -> copy.place().shown())
            .collect(Collectors.joining("+"));
    boolean cold =
        segment.copies().stream()
            .anyMatch(copy -> copy.found().cold() == StoreInspection.Cold.DONE);
    return levels.isEmpty() ? (cold ? "cold" : "none") : levels + (cold ? "+cold" : "");
  }

  private static String state(Segment segment) {
    List<String> states = new ArrayList<>();
    for (Copy copy : segment.copies()) {
      if (copy.found().moving()) {
        states.add("moving to " + copy.place().shown());
      }
      if (copy.found().cold() == StoreInspection.Cold.DONE) {
        states.add("cold");
      } else if (copy.found().cold() == StoreInspection.Cold.BEGUN) {
        states.add("to-cold");
      }
    }
    return states.isEmpty() ? "-" : String.join(",", states);
  }

  private static void describe(StoreInventory inventory, ObjectNode document) {
    inventory
        .identity()
        .ifPresent(
            identity -> {
              document.put("storeId", identity.storeId());
              document.put("clusterId", identity.clusterId());
            });
    ArrayNode segments = document.putArray("segments");
    for (Segment segment : inventory.segments()) {
      Manifest manifest = segment.first().manifest();
      SegmentInfo info = manifest.segment();
      ObjectNode node = segments.addObject();
      node.put("topic", info.key().topic());
      node.put("topicId", info.key().topicId());
      node.put("partition", info.key().partition());
      node.put("startOffset", info.key().startOffset());
      node.put("endOffset", info.endOffset());
      node.put("id", info.key().id());
      node.put("bytes", info.bytes());
      node.put("totalBytes", manifest.totalBytes());
      node.put("brokerId", info.brokerId());
      node.put("created", Instant.ofEpochMilli(manifest.createdMillis()).toString());
      node.put("maxTimestampMillis", info.maxTimestampMillis());
      node.put("chunkBytes", manifest.chunks().chunkBytes());
      ArrayNode copies = node.putArray("copies");
      for (Copy copy : segment.copies()) {
        ObjectNode place = copies.addObject();
        if (copy.place().isNamed()) {
          place.put("level", copy.place().level());
        }
        place.put("directory", copy.place().directory().toString());
        place.put("path", copy.found().path().toString());
        place.put("storedBytes", copy.found().bytes());
        place.put("hasLog", copy.found().hasLog());
        place.put("moving", copy.found().moving());
        place.put("cold", copy.found().cold().name().toLowerCase(Locale.ROOT));
      }
    }
    inventory.findings().forEach(document.putArray("findings")::add);
  }
}
