package io.strata.kafka.cli.remote;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.summarizingLong;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.remote.StoreInventory.Copy;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Json;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.cli.terminal.Table;
import io.strata.kafka.migration.remote.store.keep.Scrubber;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Groups the commands about the remote tier's store. */
@Command(
    name = "remote",
    description =
        "Lists, sums up and checks the store of the remote tier, while brokers use it or not.",
    subcommands = {
      RemoteLsCommand.class,
      RemoteCommand.Du.class,
      RemoteCommand.Verify.class,
      RemoteScrubCommand.class,
    })
public final class RemoteCommand extends StrataCommand.Group {
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
  static final class Du extends StrataCommand {
    @Mixin private final StorePlaces places = new StorePlaces();

    @Option(names = "--totals", description = "Only a line for each level.")
    private boolean totalsOnly;

    @Mixin private final Json json = new Json();

    /** Copies with something in common. */
    private record Group(String topic, int partition, String level) {}

    @Override
    protected ExitCode run() throws Exception {
      StoreInventory inventory = StoreInventory.of(places.resolve(), places.chosen());
      Map<Group, LongSummaryStatistics> groups =
          sums(
              inventory,
              copy ->
                  new Group(
                      copy.found().key().topic(),
                      copy.found().key().partition(),
                      copy.place().shown()));
      Map<String, LongSummaryStatistics> levels = sums(inventory, copy -> copy.place().shown());
      LongSummaryStatistics total =
          inventory.copies().stream().collect(summarizingLong(copy -> copy.found().bytes()));
      json.print(
          out(),
          document -> {
            describe(groups, levels, total, document);
            inventory.findings().forEach(document.putArray("findings")::add);
          },
          out -> print(groups, levels, inventory.total() + ": " + describe(total), out));
      return end(inventory.findings());
    }

    /** Sums up copies: how many there are, and how large they are. */
    private static <K> Map<K, LongSummaryStatistics> sums(
        StoreInventory inventory, Function<Copy, K> group) {
      return inventory.copies().stream()
          .collect(
              groupingBy(group, LinkedHashMap::new, summarizingLong(copy -> copy.found().bytes())));
    }

    private void print(
        Map<Group, LongSummaryStatistics> groups,
        Map<String, LongSummaryStatistics> levels,
        String total,
        PrintWriter out) {
      if (!totalsOnly) {
        Table table = new Table("PARTITION", "LEVEL", ">COPIES", ">SIZE");
        groups.forEach(
            (group, sum) ->
                table.row(
                    group.topic() + "-" + group.partition(),
                    group.level(),
                    sum.getCount(),
                    ByteSize.format(sum.getSum())));
        table.print(out);
        out.println();
      }
      levels.forEach((level, sum) -> out.println(level + ": " + describe(sum)));
      out.println(total);
    }

    private static String describe(LongSummaryStatistics sum) {
      return sum.getCount() + " copies, " + ByteSize.format(sum.getSum());
    }

    private void describe(
        Map<Group, LongSummaryStatistics> groups,
        Map<String, LongSummaryStatistics> levels,
        LongSummaryStatistics total,
        ObjectNode document) {
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

    private static void put(ObjectNode node, LongSummaryStatistics sum) {
      node.put("segments", sum.getCount());
      node.put("bytes", sum.getSum());
    }
  }

  /** {@code strata remote verify}. */
  @Command(
      name = "verify",
      description = {
        """
        Checks the store without reading its data: that all directories are of one store and each \
        is there once, that each manifest is whole and each of its files is there with the right \
        length, and what was left over. Reads only, and works while brokers use the store.\
        """,
        "",
        """
        Exit code 1 if data is damaged or missing, or a directory is of another store; leftovers \
        and strange files do not count.\
        """,
        ""
      },
      footer = {"", "Example:", "  strata remote verify --config server.properties"})
  static final class Verify extends StrataCommand {

    /** Younger leftovers may be another process's work under way. */
    private static final Duration ORPHAN_AGE = Duration.ofHours(1);

    @Mixin private final StorePlaces places = new StorePlaces();
    @Mixin private final Json json = new Json();

    @Override
    protected ExitCode run() throws Exception {
      List<StorePlaces.Place> all = places.resolve();
      List<String> identities = StoreInventory.of(all, key -> false).findings();
      StoreCheck check =
          StoreCheck.of(
              "verifying", all, places.options(Scrubber.Depth.LOOK, false, ORPHAN_AGE), 0, 0);
      json.print(
          out(),
          document -> {
            check.describe(document);
            identities.forEach(document.putArray("findings")::add);
          },
          out -> {
            check.print(out);
            identities.forEach(out::println);
          });
      return check.damaged() || !identities.isEmpty() ? ExitCode.FINDINGS : ExitCode.OK;
    }
  }
}
