package io.strata.kafka.cli.remote;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.summarizingLong;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.remote.KafkaComparison.KafkaView;
import io.strata.kafka.cli.remote.KafkaComparison.KnownToKafka;
import io.strata.kafka.cli.remote.StoreInventory.Copy;
import io.strata.kafka.cli.remote.StoreInventory.Segment;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.Durations;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.cli.terminal.Table;
import io.strata.kafka.config.key.ByteAmount;
import io.strata.kafka.migration.remote.store.keep.Scrubber;
import io.strata.kafka.migration.remote.store.keep.StoreInspection;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Groups the commands about the remote tier's store. */
@Command(
    name = "remote",
    description =
        "Lists, sums up and checks the store of the remote tier, while brokers use it or not.",
    subcommands = {
      RemoteCommand.Ls.class,
      RemoteCommand.Du.class,
      RemoteCommand.Verify.class,
      RemoteCommand.Scrub.class,
    })
public final class RemoteCommand extends StrataCommand.Group {
  @Command(
      name = "ls",
      description = {
        """
        Lists the segments of the store: offsets, size, the level that each is read from, and all \
        levels that have it. Of a segment whose bytes the cold manager alone has, the level that \
        has its manifest and indexes is in brackets: without that level nothing finds it. Reads \
        manifests only, and works while brokers use the store.\
        """,
        "",
        """
        States: moving, a copy between levels that is not confirmed yet; damaged, a broker has found \
        a copy to be; cold, the cold manager has its bytes; to-cold, it is getting them.\
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
  static final class Ls extends StrataCommand {
    @Mixin private final StorePlaces places = new StorePlaces();

    @Option(names = "--ids", description = "Show the ids that Kafka knows the segments by.")
    private boolean ids;

    @Override
    protected ExitCode run() throws Exception {
      StoreInventory inventory = StoreInventory.of(places.resolve(), places.chosen());
      print(document -> describe(inventory, document), out -> print(inventory, out));
      return end(places.withNotFound(inventory.findings()));
    }

    private void print(StoreInventory inventory, PrintWriter out) {
      String headings = "PARTITION,>OFFSETS,>SIZE,LEVEL,>BROKER,COPIED,STATE" + (ids ? ",ID" : "");
      Table table = new Table(headings.split(","));
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
        table.row(cells.subList(0, ids ? 8 : 7).toArray());
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

    /**
     * The levels that have something of the segment, the one that is read first; in brackets those
     * that have all but the bytes.
     */
    private static String levels(Segment segment) {
      String levels =
          segment.copies().stream()
              .map(
                  copy ->
                      copy.found().hasLog()
                          ? copy.place().shown()
                          : "(" + copy.place().shown() + ")")
              .collect(Collectors.joining("+"));
      boolean cold =
          segment.copies().stream()
              .anyMatch(copy -> copy.found().cold() == StoreInspection.Cold.DONE);
      return levels + (cold ? "+cold" : "");
    }

    private static String state(Segment segment) {
      List<String> states = new ArrayList<>();
      for (Copy copy : segment.copies()) {
        if (copy.found().moving()) {
          states.add("moving to " + copy.place().shown());
        }
        if (copy.found().damaged()) {
          states.add("damaged in " + copy.place().shown());
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
          copy.place().level().ifPresent(level -> place.put("level", level));
          place.put("directory", copy.place().directory().toString());
          place.put("path", copy.found().path().toString());
          place.put("storedBytes", copy.found().bytes());
          place.put("hasLog", copy.found().hasLog());
          place.put("moving", copy.found().moving());
          place.put("damaged", copy.found().damaged());
          place.put("cold", copy.found().cold().name().toLowerCase(Locale.ROOT));
        }
      }
      inventory.findings().forEach(document.putArray("findings")::add);
    }
  }

  @Command(
      name = "scrub",
      description = {
        """
        Reads every byte of the store and compares it with its checksums: what is not as it was \
        written is reported with its path. Brokers do the same now and then \
        (rsm.config.scrub.interval.ms). Works while brokers use the store, and removes nothing \
        unless asked to.\
        """,
        "",
        """
        With --bootstrap-server it also compares the store with Kafka's own record of it \
        (__remote_log_metadata). It reports segments that Kafka does not know, has deleted, or \
        never finished copying or deleting; and with --config those that Kafka may ask for and \
        no directory has, by topic, partition and offsets. That needs Kafka's classes, which the script finds \
        beside the jar; without it: java -cp 'strata.jar:/opt/kafka/libs/*' \
        io.strata.kafka.cli.Main remote scrub ...\
        """,
        "",
        """
        Exit code 1 if data is damaged or missing, a directory is of another store, or there is \
        something that Kafka does not know or need; leftovers and strange files do not count.\
        """,
        ""
      },
      footer = {
        "",
        "Examples:",
        "  strata remote scrub --config server.properties --rate 100MB",
        "  strata remote scrub --config server.properties --remove-orphans",
        """
          java -cp '/opt/kafka/libs/*' io.strata.kafka.cli.Main remote scrub --config \
        server.properties --bootstrap-server broker1:9092 --remove-unneeded\
        """
      })
  static final class Scrub extends StrataCommand {
    @Mixin private final StorePlaces places = new StorePlaces();

    @Option(
        names = "--rate",
        paramLabel = "BYTES/S",
        description = "Read no faster than this, for example 100MB.")
    private @Nullable ByteAmount rate;

    @Option(
        names = "--remove-orphans",
        description = "Remove what copies and deletions that did not end have left.")
    private boolean removeOrphans;

    @Option(
        names = "--orphan-age",
        paramLabel = "TIME",
        defaultValue = "1h",
        description =
            """
            How old that must be, 1h unless given: younger ones may be under way. Longer than \
            rsm.config.copy.timeout.ms.\
            """)
    private String orphanAge = "1h";

    @Option(
        names = "--bootstrap-server",
        paramLabel = "HOST:PORT",
        description = "Compare with what the Kafka cluster knows.")
    private @Nullable String bootstrapServer;

    @Option(
        names = "--command-config",
        paramLabel = "FILE",
        description = "Client properties for that, as Kafka's own tools take them.")
    private @Nullable Path commandConfig;

    @Option(
        names = "--remove-unneeded",
        description =
            """
            Remove segments that Kafka has deleted or begun to delete, and copies that it has begun \
            and made again. Copies that Kafka does not know stay: its record of them may be lost.\
            """)
    private boolean removeUnneeded;

    @Option(
        names = "--older-than",
        paramLabel = "TIME",
        defaultValue = "24h",
        description =
            """
            How old such segments must be, to be reported or removed; 24h unless given. Segments that \
            Kafka began to copy: an hour at least.\
            """)
    private String olderThan = "24h";

    @Override
    protected ExitCode run() throws Exception {
      if (bootstrapServer == null && (removeUnneeded || commandConfig != null)) {
        throw CommandException.usage(
            "%s: found without --bootstrap-server, expected both"
                .formatted(removeUnneeded ? "--remove-unneeded" : "--command-config"));
      }
      if (removeOrphans && !places.isEverything()) {
        throw CommandException.usage(
            """
            --remove-orphans: found with --topic or --partition, expected neither: most leftovers \
            are of no partition any more\
            """);
      }
      if (commandConfig != null && !Files.isRegularFile(commandConfig)) {
        throw CommandException.usage(
            "--command-config: found no file " + commandConfig + ", expected client properties");
      }
      Duration ofOrphans = duration("--orphan-age", orphanAge);
      Duration ofUnneeded = duration("--older-than", olderThan);
      List<StorePlaces.Place> all = places.resolve();
      // Before anything is read: without a Kafka that answers the command ends at once.
      StoreInventory inventory = StoreInventory.of(all, places.chosen());
      Optional<KafkaComparison> kafka = compare(all, inventory, ofUnneeded);
      if (removeUnneeded && kafka.isPresent()) {
        kafka.get().requireWhole();
      }
      StoreCheck check =
          StoreCheck.of(
              "scrubbing",
              all,
              places.options(Scrubber.Depth.READ, removeOrphans, ofOrphans),
              rate == null ? 0 : rate.bytes(),
              inventory.storedBytes());
      if (removeUnneeded) {
        // Hours may have passed: Kafka may have noted the end of a copy since.
        kafka = compare(all, inventory, ofUnneeded);
        if (kafka.isPresent()) {
          kafka.get().remove();
        }
      }
      Optional<KafkaComparison> compared = kafka;
      print(
          document -> {
            check.describe(document);
            inventory.findings().forEach(document.putArray("findings")::add);
            compared.ifPresent(comparison -> comparison.describe(document));
          },
          out -> {
            check.print(out);
            compared.ifPresent(comparison -> comparison.print(out));
          });
      places.notFound().forEach(this::note);
      boolean bad =
          check.damaged()
              || (removeOrphans && check.leavesOrphans())
              || !places.notFound().isEmpty()
              || !inventory.findings().isEmpty()
              || kafka.filter(KafkaComparison::found).isPresent();
      return bad ? ExitCode.FINDINGS : ExitCode.OK;
    }

    private static Duration duration(String option, String text) throws CommandException {
      double seconds = Durations.parse(option, text);
      if (seconds >= 1 && seconds <= 3e9) {
        return Duration.ofMillis(Math.round(seconds * 1000));
      }
      throw CommandException.usage(option + ": found '" + text + "', expected a second at least");
    }

    private Optional<KafkaComparison> compare(
        List<StorePlaces.Place> all, StoreInventory inventory, Duration age)
        throws IOException, InterruptedException, CommandException {
      String server = bootstrapServer;
      if (server == null) {
        return Optional.empty();
      }
      KafkaView view = view(server);
      List<KnownToKafka> lost = lost(all, inventory, view, server);
      long now = InstantSource.system().millis();
      return Optional.of(KafkaComparison.of(inventory, view, lost, age, now));
    }

    /**
     * Returns the segments that Kafka has noted as copied, and has not begun to delete, and that no
     * directory has. A missing segment is looked for again: it may have been copied, moved or
     * deleted meanwhile. Empty where not all directories are known (--dir), or one was not read
     * whole.
     */
    private List<KnownToKafka> lost(
        List<StorePlaces.Place> all, StoreInventory inventory, KafkaView view, String server)
        throws IOException, InterruptedException, CommandException {
      Map<String, KnownToKafka> missing = view.missingIn(inventory, places.chosen());
      boolean allRead =
          all.stream().allMatch(place -> place.level().isPresent())
              && inventory.findings().isEmpty();
      if (missing.isEmpty() || !allRead) {
        return List.of();
      }
      StoreInventory again = StoreInventory.of(all, places.chosen());
      if (!again.findings().isEmpty()) {
        return List.of();
      }
      missing.keySet().retainAll(view(server).missingIn(again, places.chosen()).keySet());
      return missing.values().stream()
          .sorted(Comparator.comparing(KnownToKafka::key, StoreInventory.ORDER))
          .toList();
    }

    private KafkaView view(String server)
        throws IOException, InterruptedException, CommandException {
      try {
        return KafkaMetadata.read(server, Optional.ofNullable(commandConfig));
      } catch (NoClassDefFoundError e) {
        throw CommandException.refused(
            """
            --bootstrap-server: found no class %s, expected Kafka's on the class path: run java -cp \
            'strata.jar:/opt/kafka/libs/*' io.strata.kafka.cli.Main remote scrub ...\
            """
                .formatted(String.valueOf(e.getMessage()).replace('/', '.')));
      }
    }
  }

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
      print(
          document -> {
            describe(groups, levels, total, document);
            inventory.findings().forEach(document.putArray("findings")::add);
          },
          out -> print(groups, levels, inventory.total() + ": " + describe(total), out));
      return end(places.withNotFound(inventory.findings()));
    }

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

    @Override
    protected ExitCode run() throws Exception {
      List<StorePlaces.Place> all = places.resolve();
      List<String> identities = StoreInventory.of(all, key -> false).findings();
      StoreCheck check =
          StoreCheck.of(
              "verifying", all, places.options(Scrubber.Depth.LOOK, false, ORPHAN_AGE), 0, 0);
      print(
          document -> {
            check.describe(document);
            identities.forEach(document.putArray("findings")::add);
          },
          out -> {
            check.print(out);
            identities.forEach(out::println);
          });
      places.notFound().forEach(this::note);
      return check.damaged() || !identities.isEmpty() || !places.notFound().isEmpty()
          ? ExitCode.FINDINGS
          : ExitCode.OK;
    }
  }
}
