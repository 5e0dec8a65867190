package io.strata.kafka.it.clients;

import static io.strata.kafka.it.harness.Waiting.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Kafka's own tools, as an operator starts them, on two brokers of two log directories each whose
 * newest segments are in a pool: what they print is true, and what they change loses no record.
 */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AdminToolsTest {

  private static final String REASSIGN =
      "org.apache.kafka.tools.reassign.ReassignPartitionsCommand";

  /** A batch, as kafka-dump-log.sh prints it. */
  private static final Pattern BATCH =
      Pattern.compile(
          "(?m)^baseOffset: (\\d+) lastOffset: (\\d+) count: (\\d+) .*"
              + "position: (\\d+) .*\\bsize: (\\d+) .*isvalid: true");

  private static final int RECORDS = 4_000;
  private static final int SIZE = 1_000;

  @RegisterExtension static final Workspace WORK = new Workspace();

  private StockBroker first;
  private StockBroker second;

  @BeforeAll
  void start() throws Exception {
    first = WORK.start(broker("first"));
    second = WORK.start(broker("second").joining(first, 2));
  }

  /** The oldest segments leave the pool, the newer ones stay. */
  private static StockBroker.Builder broker(String name) {
    return Tiers.broker(WORK.folder(name), WORK.newPool(name, "48MiB", 256))
        .logDirectories(2)
        .set("auto.leader.rebalance.enable", "false")
        .set("strata.migration.threshold", "0.1")
        .set("strata.migration.mode", "threshold")
        .set("strata.migration.promote", "false")
        .set("broker.session.timeout.ms", "60000"); // they are never killed
  }

  @Test
  void logDirsPrintsTheBytesThatDumpLogFinds() throws Exception {
    RecordLedger ledger = topic("sizes");
    ledger.produce(first.bootstrap(), RECORDS, SIZE);
    long bytes = 0;
    long records = 0;
    Path partition = LogFiles.partition(first, "sizes", 0);
    for (Path segment : LogFiles.segments(partition)) {
      String dumped = dump("--deep-iteration", "--files", segment.toString());
      List<MatchResult> batches = BATCH.matcher(dumped).results().toList();
      MatchResult last = batches.get(batches.size() - 1);
      bytes += Long.parseLong(last.group(4)) + Long.parseLong(last.group(5));
      records += batches.stream().mapToLong(batch -> Long.parseLong(batch.group(3))).sum();
    }
    assertThat(records).isEqualTo(RECORDS);
    JsonNode replica = replica(1, "sizes");
    assertThat(replica.path("size").asLong()).isEqualTo(bytes);
    assertThat(replica.path("offsetLag").asLong()).isZero();
  }

  @Test
  void dumpLogFindsThatIndexesFitTheirSegments() throws Exception {
    RecordLedger ledger = topic("indexed");
    ledger.produce(first.bootstrap(), RECORDS, SIZE);
    Path partition = LogFiles.partition(first, "indexed", 0);
    String files;
    try (var all = Files.list(partition)) {
      files =
          all.map(Path::toString)
              .filter(file -> file.matches(".*\\.(index|timeindex)"))
              .sorted()
              .collect(Collectors.joining(","));
    }
    String dumped = dump("--verify-index-only", "--files", files);
    assertThat(dumped)
        .contains("timeindex")
        .doesNotContain("mismatch")
        .doesNotContain("Mismatches")
        .doesNotContain("not found")
        .doesNotContain("out of order");
  }

  /** Kafka does not print the value of a key that it does not know: it could be a secret. */
  @Test
  void configsDescribesAndChangesAKeyOfOurs() throws Exception {
    String key = "strata.migration.rate.down";
    configs("--alter", "--add-config", key + "=7000000");
    await()
        .untilAsserted(
            () -> assertThat(configs("--describe")).contains(key + "=null sensitive=true"));
    configs("--alter", "--delete-config", key);
    await().untilAsserted(() -> assertThat(configs("--describe")).doesNotContain(key));
  }

  /** Of the second broker. */
  private String configs(String... arguments) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("--entity-type", "brokers", "--entity-name", "2"));
    all.addAll(List.of(arguments));
    return ask(second, KafkaVersion.ofThisRun().configs(), all.toArray(String[]::new));
  }

  @Test
  void reassignMovesAReplicaToAnotherLogDirectoryAndToAnotherBroker() throws Exception {
    RecordLedger ledger = topic("reassigned");
    ledger.produce(first.bootstrap(), RECORDS, SIZE);
    Path from = LogFiles.partition(first, "reassigned", 0).getParent();
    Path to = first.logDirectories().stream().filter(d -> !d.equals(from)).findAny().orElseThrow();
    reassign(1, to);
    assertThat(replica(1, "reassigned").path("isFuture").asBoolean()).isFalse();
    assertThat(LogFiles.partition(first, "reassigned", 0)).startsWith(to);
    ledger.produce(first.bootstrap(), RECORDS, SIZE);
    assertThat(ledger.verify(first.bootstrap()).records()).isEqualTo(2 * RECORDS);

    Path there = second.logDirectories().get(1);
    reassign(2, there);
    assertThat(LogFiles.partition(second, "reassigned", 0)).startsWith(there);
    ledger.produce(second.bootstrap(), RECORDS, SIZE);
    assertThat(ledger.verify(second.bootstrap()).records()).isEqualTo(3 * RECORDS);
  }

  /** Moves the only replica of a topic and waits until the tool says that it is there. */
  private void reassign(int broker, Path logDirectory) throws Exception {
    Path plan =
        file(
            "reassign.json",
            """
            {"version": 1, "partitions": [
              {"topic": "reassigned", "partition": 0, "replicas": [%d], "log_dirs": ["%s"]}]}
            """
                .formatted(broker, logDirectory));
    assertThat(ask(first, REASSIGN, "--execute", "--reassignment-json-file", plan.toString()))
        .contains("Successfully started");
    await()
        .untilAsserted(
            () ->
                assertThat(
                        ask(
                            first,
                            REASSIGN,
                            "--verify",
                            "--reassignment-json-file",
                            plan.toString()))
                    .contains("Reassignment of partition reassigned-0 is completed.")
                    .doesNotContain("still in progress")
                    .containsPattern(
                        "Reassignment of replica reassigned-0-%d .*(completed|finished)"
                            .formatted(broker)));
  }

  @Test
  void leaderElectionBringsThePreferredLeaderBack() throws Exception {
    try (Admin admin = first.admin()) {
      Topics.create(admin, "elected", Map.of(), 2, 1);
      RecordLedger ledger = new RecordLedger("elected", 1, 1);
      ledger.produce(first.bootstrap(), RECORDS, SIZE);
      second.stop();
      Topics.awaitState(admin, "elected", 1, Set.of(1));
      ledger.produce(first.bootstrap(), RECORDS, SIZE);
      second.start();
      Topics.awaitState(admin, "elected", 1, Set.of(1, 2));
      String printed =
          ask(
              first,
              "org.apache.kafka.tools.LeaderElectionCommand",
              "--election-type",
              "preferred",
              "--topic",
              "elected",
              "--partition",
              "0");
      assertThat(printed).contains("Successfully completed leader election (PREFERRED)");
      Topics.awaitState(admin, "elected", 2, Set.of(1, 2));
      ledger.produce(first.bootstrap(), RECORDS, SIZE);
      assertThat(ledger.verify(second.bootstrap()).records()).isEqualTo(3 * RECORDS);
    }
  }

  @Test
  void deleteRecordsDeletesUpToTheOffset() throws Exception {
    RecordLedger ledger = topic("deleted");
    ledger.produce(first.bootstrap(), RECORDS, SIZE);
    Path segments = LogFiles.partition(first, "deleted", 0);
    int before = LogFiles.segments(segments).size();
    Path offsets =
        file(
            "delete.json",
            """
            {"version": 1, "partitions": [{"topic": "deleted", "partition": 0, "offset": 2500}]}
            """);
    assertThat(
            ask(
                first,
                "org.apache.kafka.tools.DeleteRecordsCommand",
                "--offset-json-file",
                offsets.toString()))
        .contains("low_watermark: 2500");
    assertThat(
            ask(
                first,
                "org.apache.kafka.tools.GetOffsetShell",
                "--topic",
                "deleted",
                "--time",
                "earliest"))
        .contains("deleted:0:2500");
    assertThat(ledger.verifyNewest(first.bootstrap()).records()).isEqualTo(RECORDS - 2_500);
    await().until(() -> LogFiles.segments(segments).size() < before);
    assertThat(ledger.verifyNewest(first.bootstrap()).records()).isEqualTo(RECORDS - 2_500);
  }

  @Test
  void consumerGroupsDescribesResetsAndDeletes() throws Exception {
    RecordLedger ledger = topic("consumed");
    ledger.produce(first.bootstrap(), RECORDS, SIZE);
    int read = 0;
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(
            first.bootstrap(), Map.of("group.id", "readers", "max.poll.records", "100"))) {
      consumer.subscribe(List.of("consumed"));
      while (read < 1_000) {
        read += consumer.poll(Duration.ofSeconds(1)).count();
      }
      consumer.commitSync();
    }
    assertThat(group("--describe")).containsPattern(row(read, RECORDS, RECORDS - read));
    String reset = group("--reset-offsets", "--topic", "consumed", "--to-earliest", "--execute");
    assertThat(reset).containsPattern("readers\\s+consumed\\s+0\\s+0");
    assertThat(group("--describe")).containsPattern(row(0, RECORDS, RECORDS));
    assertThat(group("--delete")).contains("Deletion of requested consumer groups ('readers')");
    assertThat(ledger.verify(first.bootstrap()).records()).isEqualTo(RECORDS);
  }

  private String group(String... arguments) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("--group", "readers"));
    all.addAll(List.of(arguments));
    String tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand";
    return ask(first, tool, all.toArray(String[]::new));
  }

  private static String row(int current, int end, int lag) {
    return "readers\\s+consumed\\s+0\\s+%d\\s+%d\\s+%d".formatted(current, end, lag);
  }

  // ---------------------------------------------------------------------------------------------

  /** A topic whose only replica is on the first broker. */
  private RecordLedger topic(String name) throws InterruptedException {
    try (Admin admin = first.admin()) {
      Topics.create(
          admin,
          name,
          Map.of("segment.bytes", "" + Tiers.SEGMENT, "file.delete.delay.ms", "100"),
          1);
    }
    return new RecordLedger(name, 1, name.hashCode());
  }

  /** Runs a tool that asks the broker. */
  private static String ask(StockBroker broker, String tool, String... arguments)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("--bootstrap-server", broker.bootstrap()));
    all.addAll(List.of(arguments));
    return broker.tool(tool, all.toArray(String[]::new)).orFail().output();
  }

  /** Runs kafka-dump-log.sh with our flag. */
  private String dump(String... arguments) throws IOException, InterruptedException {
    return first.tool("org.apache.kafka.tools.DumpLogSegments", arguments).orFail().output();
  }

  /** What kafka-log-dirs.sh prints of a replica, of which the broker has one. */
  private JsonNode replica(int broker, String topic) throws IOException, InterruptedException {
    String printed =
        ask(
            first,
            "org.apache.kafka.tools.LogDirsCommand",
            "--describe",
            "--broker-list",
            "" + broker,
            "--topic-list",
            topic);
    List<JsonNode> replicas = new ArrayList<>();
    JsonNode described = new ObjectMapper().readTree(printed.substring(printed.indexOf('{')));
    for (JsonNode directory : described.path("brokers").path(0).path("logDirs")) {
      directory.path("partitions").forEach(replicas::add);
    }
    assertThat(replicas).as(printed).hasSize(1);
    return replicas.get(0);
  }

  private static Path file(String name, String text) throws IOException {
    return Files.writeString(WORK.folder("plans").resolve(name), text, UTF_8);
  }
}
