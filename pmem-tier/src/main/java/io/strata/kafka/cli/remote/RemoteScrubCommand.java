package io.strata.kafka.cli.remote;

import io.strata.kafka.cli.remote.KafkaComparison.KafkaView;
import io.strata.kafka.cli.remote.KafkaComparison.KnownToKafka;
import io.strata.kafka.cli.terminal.Durations;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Json;
import io.strata.kafka.cli.terminal.RefusedException;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.cli.terminal.UsageException;
import io.strata.kafka.config.key.ByteAmount;
import io.strata.kafka.migration.remote.store.keep.Scrubber;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code strata remote scrub}. */
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
final class RemoteScrubCommand extends StrataCommand {
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

  @Mixin private final Json json = new Json();

  @Override
  protected ExitCode run() throws Exception {
    if (bootstrapServer == null && (removeUnneeded || commandConfig != null)) {
      throw new UsageException(
          "%s: found without --bootstrap-server, expected both"
              .formatted(removeUnneeded ? "--remove-unneeded" : "--command-config"));
    }
    if (commandConfig != null && !Files.isRegularFile(commandConfig)) {
      throw new UsageException(
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
    json.print(
        out(),
        document -> {
          check.describe(document);
          inventory.findings().forEach(document.putArray("findings")::add);
          compared.ifPresent(comparison -> comparison.describe(document));
        },
        out -> {
          check.print(out);
          compared.ifPresent(comparison -> comparison.print(out));
        });
    boolean bad =
        check.damaged()
            || !inventory.findings().isEmpty()
            || kafka.filter(KafkaComparison::found).isPresent();
    return bad ? ExitCode.FINDINGS : ExitCode.OK;
  }

  private static Duration duration(String option, String text) throws UsageException {
    double seconds = Durations.parse(option, text);
    if (seconds >= 1 && seconds <= 3e9) {
      return Duration.ofMillis(Math.round(seconds * 1000));
    }
    throw new UsageException(option + ": found '" + text + "', expected a second at least");
  }

  private Optional<KafkaComparison> compare(
      List<StorePlaces.Place> all, StoreInventory inventory, Duration age)
      throws IOException, InterruptedException, RefusedException {
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
   * directory has. A missing segment is looked for again: it may have been copied, moved or deleted
   * meanwhile. Empty where not all directories are known (--dir), or one was not read whole.
   */
  private List<KnownToKafka> lost(
      List<StorePlaces.Place> all, StoreInventory inventory, KafkaView view, String server)
      throws IOException, InterruptedException, RefusedException {
    Map<String, KnownToKafka> missing = view.missingIn(inventory, places.chosen());
    boolean allRead =
        all.stream().allMatch(StorePlaces.Place::isNamed) && inventory.findings().isEmpty();
    if (missing.isEmpty() || !allRead) {
      return List.of();
    }
    StoreInventory again = StoreInventory.of(all, places.chosen());
    if (!again.findings().isEmpty()) {
      return List.of();
    }
    missing.keySet().retainAll(view(server).missingIn(again, places.chosen()).keySet());
    return missing.values().stream()
        .sorted(
            Comparator.comparing((KnownToKafka segment) -> segment.key().topic())
                .thenComparing(segment -> segment.key().partition())
                .thenComparing(segment -> segment.key().startOffset()))
        .toList();
  }

  private KafkaView view(String server) throws IOException, InterruptedException, RefusedException {
    try {
      return KafkaMetadata.read(server, Optional.ofNullable(commandConfig));
    } catch (NoClassDefFoundError e) {
      throw new RefusedException(
          """
          --bootstrap-server: found no class %s, expected Kafka's on the class path: run java -cp \
          'strata.jar:/opt/kafka/libs/*' io.strata.kafka.cli.Main remote scrub ...\
          """
              .formatted(String.valueOf(e.getMessage()).replace('/', '.')));
    }
  }
}
