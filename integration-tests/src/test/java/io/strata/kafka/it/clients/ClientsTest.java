package io.strata.kafka.it.clients;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Clients in several languages beside the Java client. Keys, values, headers and timestamps, null
 * and empty ones, with every codec, in transactions and in none, are read byte for byte as they
 * were sent, wherever the broker has the segments: what a client sends by itself and by the Java
 * client, and what the Java client sends by each. A client is skipped where it cannot be built.
 */
@Tag("long")
class ClientsTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  /** The one of a partition, by the partition's number. */
  private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");

  private static final String SENT = "sent";
  private static final String SENT_BY_JAVA = "sent-by-java";

  private static final List<String> BOTH = List.of("read_committed", "read_uncommitted");

  private enum Client {
    JAVA,
    CONFLUENT_KAFKA,
    KAFKAJS,
    FRANZ_GO,
    KCAT
  }

  private static RecordClient build(Client which, Path folder)
      throws IOException, InterruptedException {
    return switch (which) {
      case JAVA -> new JavaClient();
      case CONFLUENT_KAFKA ->
          ClientProgram.build("confluent-kafka", folder, ClientScript.Dialect.FULL);
      case KAFKAJS -> ClientProgram.build("kafkajs", folder, ClientScript.Dialect.NO_NULL_HEADERS);
      case FRANZ_GO -> ClientProgram.build("franz-go", folder, ClientScript.Dialect.FULL);
      case KCAT -> new Kcat(folder);
    };
  }

  /** From the pool, then from the log files, then from the remote tier. */
  @ParameterizedTest
  @EnumSource
  void recordsAreReadFromEachTier(Client which, TestReporter reporter) throws Exception {
    String name = which.toString().toLowerCase(Locale.ROOT);
    RecordClient client = build(which, WORK.folder("tiers-" + name));
    reporter.publishEntry("client", client.version());
    TieredBrokers tier = TieredBrokers.over(WORK.folder("data-store-" + name));
    Path pool = WORK.newPool("tiers-" + name, "64MiB", 256);
    try (StockBroker broker =
        stays(tier.withPools(WORK.folder("tiers-" + name), pool)).build().start()) {
      Map<String, List<ClientScript>> sent = send(broker, client);
      assertInThePool(broker);
      assertRead(broker, client, sent, BOTH, "from the pool");
      assertInThePool(broker);

      Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
      awaitEvicted(broker);
      assertRead(broker, client, sent, BOTH, "from the log files");

      for (String topic : sent.keySet()) {
        Topics.alter(broker, topic, TieredBrokers.topic("retention.ms", "-1"));
        tier.awaitTiered(broker, topic, CODECS.size(), 1);
      }
      // Kafka lists the aborted transactions of what it reads remotely in no order, and kafkajs
      // looks at the first alone: docs/reliability.md says what is known of that.
      List<String> isolations = which == Client.KAFKAJS ? List.of("read_uncommitted") : BOTH;
      assertRead(broker, client, sent, isolations, "from the remote tier");
    }
  }

  /** The pool has some of the segments, the log files the rest, and some lie in both. */
  @ParameterizedTest
  @EnumSource
  void recordsAreReadFromSegmentsThatHaveSpilled(Client which) throws Exception {
    String name = which.toString().toLowerCase(Locale.ROOT);
    RecordClient client = build(which, WORK.folder("spilled-" + name));
    Path pool = WORK.newPool("spilled-" + name, "8MiB", 256);
    try (StockBroker broker =
        stays(Tiers.broker(WORK.folder("spilled-" + name), pool)).build().start()) {
      Map<String, List<ClientScript>> sent = send(broker, client);
      assertSpilled(broker);
      assertRead(broker, client, sent, BOTH, "from segments that have spilled");
      assertSpilled(broker);
    }
  }

  // ---------------------------------------------------------------------------------------------
  // where the segments are
  // ---------------------------------------------------------------------------------------------

  /** Nothing moves. */
  private static StockBroker.Builder stays(StockBroker.Builder builder) {
    return builder
        .set("strata.migration.threshold", "-1")
        .set("strata.migration.mode", "threshold")
        .set("strata.migration.promote", "false")
        .set("broker.session.timeout.ms", "60000"); // it is never killed
  }

  private static void assertInThePool(StockBroker broker) throws IOException {
    for (Path segment : segments(broker)) {
      assertThat(LogFiles.isHot(segment)).as("%s is in the pool", segment).isTrue();
      assertThat(LogFiles.allocatedBytes(segment)).as("bytes of %s on disk", segment).isZero();
    }
  }

  private static void awaitEvicted(StockBroker broker) {
    await()
        .untilAsserted(
            () -> {
              for (Path partition : LogFiles.partitions(broker.logDirectory(), SENT + ".*")) {
                assertThat(LogFiles.segments(partition)).as("%s", partition).hasSizeGreaterThan(1);
                assertThat(LogFiles.hotSegments(partition))
                    .as("%s: the active segment alone", partition)
                    .hasSizeLessThanOrEqualTo(1);
              }
            });
  }

  private static void assertSpilled(StockBroker broker) throws IOException {
    int hot = 0;
    int onDisk = 0;
    int inBoth = 0;
    for (Path segment : segments(broker)) {
      boolean isHot = LogFiles.isHot(segment);
      boolean isOnDisk = LogFiles.allocatedBytes(segment) > 0;
      hot += isHot ? 1 : 0;
      onDisk += isOnDisk ? 1 : 0;
      inBoth += isHot && isOnDisk ? 1 : 0;
    }
    assertThat(hot).as("segments in the pool").isPositive();
    assertThat(onDisk).as("segments with bytes on disk").isPositive();
    assertThat(inBoth).as("segments of which the pool has a part").isPositive();
  }

  /** Of both topics. */
  private static List<Path> segments(StockBroker broker) throws IOException {
    List<Path> all = new ArrayList<>();
    for (Path partition : LogFiles.partitions(broker.logDirectory(), SENT + ".*")) {
      all.addAll(LogFiles.segments(partition));
    }
    assertThat(all).hasSizeGreaterThan(2 * CODECS.size());
    return all;
  }

  // ---------------------------------------------------------------------------------------------
  // what clients send and read
  // ---------------------------------------------------------------------------------------------

  /** The scripts of each topic's partitions. */
  private static Map<String, List<ClientScript>> send(StockBroker broker, RecordClient client)
      throws IOException, InterruptedException {
    Map<String, RecordClient> senders =
        new TreeMap<>(Map.of(SENT, client, SENT_BY_JAVA, new JavaClient()));
    Map<String, List<ClientScript>> scripts = new HashMap<>();
    for (String topic : senders.keySet()) {
      // The records are of a time long ago.
      Topics.create(
          broker,
          topic,
          CODECS.size(),
          Map.of("segment.bytes", "" + Tiers.SEGMENT, "retention.ms", "-1"));
      scripts.put(topic, new ArrayList<>());
    }
    // In turns, so that a small pool has some of either.
    for (int partition = 0; partition < CODECS.size(); partition++) {
      for (Map.Entry<String, RecordClient> sender : senders.entrySet()) {
        ClientScript script = ClientScript.of(partition, sender.getValue().dialect());
        RecordClient.Target target = new RecordClient.Target(sender.getKey(), partition);
        String codec = CODECS.get(partition);
        Optional<String> id = Optional.of(sender.getKey() + "-" + codec);
        String bootstrap = broker.bootstrap();
        sender.getValue().produce(bootstrap, target, codec, id, script.transactional());
        // A commit returns before the broker has written the marker.
        Topics.awaitEnd(
            broker, new TopicPartition(target.topic(), partition), script.transactionalEnd());
        sender.getValue().produce(bootstrap, target, codec, Optional.empty(), script.plain());
        scripts.getOrDefault(sender.getKey(), List.of()).add(script);
      }
    }
    return scripts;
  }

  private static void assertRead(
      StockBroker broker,
      RecordClient client,
      Map<String, List<ClientScript>> sent,
      List<String> isolations,
      String where)
      throws IOException, InterruptedException {
    for (String isolation : isolations) {
      for (Map.Entry<String, List<ClientScript>> topic : sent.entrySet()) {
        assertRead(broker, client, topic.getKey(), topic.getValue(), isolation, where);
      }
    }
    for (String isolation : BOTH) {
      List<ClientScript> scripts = sent.getOrDefault(SENT, List.of());
      assertRead(broker, new JavaClient(), SENT, scripts, isolation, where);
    }
  }

  private static void assertRead(
      StockBroker broker,
      RecordClient client,
      String topic,
      List<ClientScript> scripts,
      String isolation,
      String where)
      throws IOException, InterruptedException {
    Map<Integer, Long> lastOffsets = new TreeMap<>();
    for (int p = 0; p < scripts.size(); p++) {
      lastOffsets.put(p, scripts.get(p).lastOffset());
    }
    Map<Integer, List<String>> read =
        client.consume(broker.bootstrap(), topic, isolation, lastOffsets);
    for (int p = 0; p < scripts.size(); p++) {
      String as =
          "%s-%d (%s), %s, read by %s %s"
              .formatted(topic, p, CODECS.get(p), isolation, client.version(), where);
      assertSame(as, read.getOrDefault(p, List.of()), scripts.get(p).expected(isolation));
    }
  }

  /** Compares line by line: the first difference says more than all lines do. */
  private static void assertSame(String as, List<String> read, List<String> expected) {
    for (int i = 0; i < Math.min(read.size(), expected.size()); i++) {
      assertThat(comparable(read.get(i), expected.get(i)))
          .as("line %d of %s", i, as)
          .isEqualTo(expected.get(i));
    }
    assertThat(read).as(as).hasSameSizeAs(expected);
  }

  /** The line, without its timestamp where any one is expected. */
  private static String comparable(String line, String expected) {
    return expected.contains("\t" + ClientScript.ANY_TIME + "\t")
        ? line.replaceFirst("\t\\d+\t", "\t*\t")
        : line;
  }
}
