package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.StoreInventory.Copy;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code strata remote du}. */
@Command(
    name = "du",
    description = {
      """
      Sums up what the store takes, by topic, partition and level: records, indexes and \
      checkpoints. A segment that two levels have counts in both; what shares its bytes with \
      log.dirs counts as if it did not. Reads manifests only, and works while brokers use the \
      store.\
      """,
      "",
      "Exit code 1 if a directory or a manifest cannot be read.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  strata remote du --config server.properties",
      "  strata remote du --dir /mnt/ssd/remote --dir /mnt/hdd/remote --totals"
    })
final class RemoteDuCommand extends StrataCommand {
  @Mixin private final StorePlaces places = new StorePlaces();

  @Option(names = "--totals", description = "Only a line for each level.")
  private boolean totalsOnly;

  @Mixin private final Json json = new Json();

  /** Copies with something in common. */
  private record Group(String topic, int partition, String level) {}

  /** How many, and how large. */
  private static final class Sum {
    private long segments;
    private long bytes;

    void add(Copy copy) {
      segments++;
      bytes += copy.found().bytes();
    }
  }

  @Override
  ExitCode run() throws Exception {
    StoreInventory inventory = StoreInventory.of(places.resolve(), places.chosen());
    Map<Group, Sum> groups =
        sums(
            inventory,
            copy ->
                new Group(
                    copy.found().key().topic(),
                    copy.found().key().partition(),
                    copy.place().shown()));
    Map<String, Sum> levels = sums(inventory, copy -> copy.place().shown());
    Sum total = new Sum();
    inventory.copies().forEach(total::add);
    json.print(
        out(),
        document -> {
          describe(groups, levels, total, document);
          inventory.findings().forEach(document.putArray("findings")::add);
        },
        out -> print(groups, levels, total, out));
    return end(inventory.findings());
  }

  private static <K> Map<K, Sum> sums(StoreInventory inventory, Function<Copy, K> group) {
    Map<K, Sum> sums = new LinkedHashMap<>();
    for (Copy copy : inventory.copies()) {
      sums.computeIfAbsent(group.apply(copy), key -> new Sum()).add(copy);
    }
    return sums;
  }

  private void print(Map<Group, Sum> groups, Map<String, Sum> levels, Sum total, PrintWriter out) {
    if (!totalsOnly) {
      Table table = new Table("PARTITION", "LEVEL", ">SEGMENTS", ">SIZE");
      groups.forEach(
          (group, sum) ->
              table.row(
                  group.topic() + "-" + group.partition(),
                  group.level(),
                  sum.segments,
                  ByteSize.format(sum.bytes)));
      table.print(out);
      out.println();
    }
    levels.forEach((level, sum) -> out.println(level + ": " + describe(sum)));
    out.println("total: " + describe(total));
  }

  private static String describe(Sum sum) {
    return sum.segments + " segments, " + ByteSize.format(sum.bytes);
  }

  private void describe(
      Map<Group, Sum> groups, Map<String, Sum> levels, Sum total, ObjectNode document) {
    if (!totalsOnly) {
      ArrayNode array = document.putArray("partitions");
      groups.forEach(
          (group, sum) -> {
            ObjectNode node = array.addObject();
            node.put("topic", group.topic());
            node.put("partition", group.partition());
            node.put("level", group.level());
            put(node, sum);
          });
    }
    ArrayNode array = document.putArray("levels");
    levels.forEach((level, sum) -> put(array.addObject().put("level", level), sum));
    put(document.putObject("total"), total);
  }

  private static void put(ObjectNode node, Sum sum) {
    node.put("segments", sum.segments);
    node.put("bytes", sum.bytes);
  }
}
