package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.StoreInventory.Copy;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
    },
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class RemoteDuCommand implements Callable<Integer> {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private final StorePlaces places = new StorePlaces();
  @Mixin private final SegmentSelection selection = new SegmentSelection();

  @Option(names = "--totals", description = "Only a line for each level.")
  private boolean totalsOnly;

  @Mixin private final JsonOption json = new JsonOption();

  RemoteDuCommand() {}

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
  public Integer call() throws Exception {
    StoreInventory inventory = StoreInventory.of(places.resolve(), selection.chosen());
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
    PrintWriter out = spec.commandLine().getOut();
    if (json.given()) {
      printJson(inventory, groups, levels, total, out);
    } else {
      printText(groups, levels, total, out);
    }
    PrintWriter err = spec.commandLine().getErr();
    inventory.findings().forEach(finding -> err.println("strata: " + finding));
    return (inventory.findings().isEmpty() ? ExitCode.OK : ExitCode.FINDINGS).code();
  }

  private static <K> Map<K, Sum> sums(StoreInventory inventory, Function<Copy, K> group) {
    Map<K, Sum> sums = new LinkedHashMap<>();
    for (Copy copy : inventory.copies()) {
      sums.computeIfAbsent(group.apply(copy), key -> new Sum()).add(copy);
    }
    return sums;
  }

  private void printText(
      Map<Group, Sum> groups, Map<String, Sum> levels, Sum total, PrintWriter out) {
    if (!totalsOnly) {
      Table table =
          new Table()
              .column("PARTITION", Table.Align.LEFT)
              .column("LEVEL", Table.Align.LEFT)
              .column("SEGMENTS", Table.Align.RIGHT)
              .column("SIZE", Table.Align.RIGHT);
      groups.forEach(
          (group, sum) ->
              table.row(
                  group.topic() + "-" + group.partition(),
                  group.level(),
                  Long.toString(sum.segments),
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

  private void printJson(
      StoreInventory inventory,
      Map<Group, Sum> groups,
      Map<String, Sum> levels,
      Sum total,
      PrintWriter out) {
    ObjectNode document = Json.object();
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
    levels.forEach(
        (level, sum) -> {
          ObjectNode node = array.addObject();
          node.put("level", level);
          put(node, sum);
        });
    put(document.putObject("total"), total);
    ArrayNode findings = document.putArray("findings");
    inventory.findings().forEach(findings::add);
    Json.print(document, out);
  }

  private static void put(ObjectNode node, Sum sum) {
    node.put("segments", sum.segments);
    node.put("bytes", sum.bytes);
  }
}
