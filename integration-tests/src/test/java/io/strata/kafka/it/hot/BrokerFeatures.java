package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TlsListener;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a broker does with a log, on one broker that all the scenarios share; then the broker stops,
 * starts, is killed and starts again, and all that they left is read once more. The subclasses run
 * it on a stock broker and on one with Strata.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class BrokerFeatures {

  static final int SEGMENT = 1 << 20;
  static final int AFTER_ALL_SCENARIOS = Integer.MAX_VALUE;

  private static final int RESTARTS = AFTER_ALL_SCENARIOS - 1;
  private static final String GROUP = "group";

  @RegisterExtension final Workspace work = new Workspace();

  /** What must still be there after the restarts. */
  private final Map<String, RecordLedger> kept = new LinkedHashMap<>();

  private StockBroker broker;
  private TlsListener tls;

  /** With Strata, or not. */
  abstract void configure(StockBroker.Builder builder);

  /** Checks, after a scenario, that it has tested what it means to test. */
  abstract void assertPlacement(StockBroker broker, String topic) throws IOException;

  @BeforeAll
  void start() throws Exception {
    tls = TlsListener.create(work.folder("tls"));
    StockBroker.Builder builder =
        StockBroker.in(work.folder("broker"))
            .logDirectories(2)
            .tls(tls)
            .set("log.retention.check.interval.ms", "500")
            .set("log.initial.task.delay.ms", "500")
            .set("log.cleaner.backoff.ms", "500")
            // Shorter than a delay that hides what the delete itself does.
            .set("log.segment.delete.delay.ms", "200");
    configure(builder);
    broker = work.start(builder);
  }

  final StockBroker broker() {
    return broker;
  }

  @Test
  void producesRollsAndConsumes() throws Exception {
    RecordLedger ledger = topic("rolled", 3);
    ledger.produce(broker.bootstrap(), 9_000, 1_000);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(9_000);
    assertThat(LogFiles.segments(LogFiles.partition(broker, "rolled", 0))).hasSizeGreaterThan(1);
    assertPlacement(broker, "rolled");
  }

  @Test
  void readsThroughTls() throws Exception {
    RecordLedger ledger = topic("tls", 2);
    ledger.produce(tls.bootstrap(), 4_000, 1_000, tls.clientSettings());
    assertThat(ledger.verify(tls.bootstrap(), tls.clientSettings()).records()).isEqualTo(4_000);
    assertPlacement(broker, "tls");
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "gzip", "snappy", "lz4", "zstd"})
  void storesBatchesOfEveryCodec(String codec) throws Exception {
    RecordLedger ledger = topic("codec-" + codec, 1);
    ledger.produce(broker.bootstrap(), 2_000, 1_000, Map.of("compression.type", codec));
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(2_000);
    assertPlacement(broker, "codec-" + codec);
  }

  @Test
  void retentionDeletesTheOldestSegments() throws Exception {
    RecordLedger ledger = topic("retained", 1, Map.of("retention.bytes", "" + 2 * SEGMENT));
    ledger.produce(broker.bootstrap(), 8_000, 1_000);
    Path partition = LogFiles.partition(broker, "retained", 0);
    await()
        .untilAsserted(() -> assertThat(LogFiles.segments(partition)).hasSizeLessThanOrEqualTo(4));
    await().until(() -> filesEndingWith(partition, ".deleted") == 0);
    RecordLedger.Verified verified = ledger.verifyNewest(broker.bootstrap(), 2 * SEGMENT);
    assertThat(verified.records()).isBetween(1L, 7_000L);
    assertPlacement(broker, "retained");
  }

  @Test
  void topicIsDeletedAndCreatedAgain() throws Exception {
    RecordLedger first = topic("again", 2);
    first.produce(broker.bootstrap(), 3_000, 1_000);
    Topics.delete(broker, "again");
    kept.remove("again");
    await().until(() -> foldersStartingWith("again-") == 0);
    RecordLedger second = topic("again", 2);
    second.produce(broker.bootstrap(), 1_000, 500);
    assertThat(second.verify(broker.bootstrap()).records()).isEqualTo(1_000);
    assertPlacement(broker, "again");
  }

  @Test
  void compactionKeepsTheNewestOfEachKey() throws Exception {
    create(
        "compacted",
        1,
        Map.of(
            "cleanup.policy", "compact",
            "min.cleanable.dirty.ratio", "0.01",
            "max.compaction.lag.ms", "1000"));
    int keys = 100;
    int rounds = 60;
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(broker.bootstrap(), Map.of("linger.ms", "5"))) {
      for (int round = 0; round < rounds; round++) {
        for (int key = 0; key < keys; key++) {
          Future<RecordMetadata> unused =
              producer.send(
                  new ProducerRecord<>("compacted", 0, number(key), number(round, 1_000)));
        }
      }
      producer.flush();
    }
    await()
        .pollInterval(Duration.ofSeconds(1))
        .until(() -> read("compacted", Map.of()).size() < keys * rounds / 2);
    assertNewestOfEachKey(keys, rounds - 1);
    assertPlacement(broker, "compacted");
  }

  @Test
  void abortedTransactionsAreNotRead() throws Exception {
    create("transactions", 1, Map.of());
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(
            broker.bootstrap(), Map.of("transactional.id", "id", "linger.ms", "5"))) {
      producer.initTransactions();
      for (int transaction = 0; transaction < 10; transaction++) {
        producer.beginTransaction();
        for (int i = 0; i < 100; i++) {
          Future<RecordMetadata> unused =
              producer.send(
                  new ProducerRecord<>("transactions", 0, number(i), number(transaction, 500)));
        }
        if (transaction % 2 == 0) {
          producer.commitTransaction();
        } else {
          producer.flush();
          producer.abortTransaction();
        }
      }
    }
    assertTransactions();
    assertPlacement(broker, "transactions");
  }

  @Test
  void consumerGroupsKeepTheirOffsets() throws Exception {
    RecordLedger ledger = topic("offsets", 1);
    ledger.produce(broker.bootstrap(), 100, 100);
    TopicPartition partition = new TopicPartition("offsets", 0);
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(broker.bootstrap(), Map.of("group.id", GROUP))) {
      consumer.subscribe(List.of("offsets"));
      await().until(() -> consumer.poll(Duration.ofMillis(200)).count() > 0);
      consumer.commitSync(Map.of(partition, new OffsetAndMetadata(42, "noted")));
    }
    assertCommittedOffset();
    assertPlacement(broker, "__consumer_offsets");
  }

  @Test
  void replicaMovesToTheOtherLogDirectory() throws Exception {
    RecordLedger ledger = topic("moved", 1);
    ledger.produce(broker.bootstrap(), 3_000, 1_000);
    Path to = LogFiles.elsewhere(broker, "moved", 0);
    List<TopicPartition> moved = List.of(new TopicPartition("moved", 0));
    Topics.move(broker, to, moved);
    Topics.awaitMoved(broker, to, moved);
    await().until(() -> foldersStartingWith("moved-") == 1);
    ledger.produce(broker.bootstrap(), 3_000, 1_000);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(6_000);
    assertThat(LogFiles.partition(broker, "moved", 0)).startsWith(to);
    assertPlacement(broker, "moved");
  }

  @Test
  @Order(RESTARTS)
  void everythingIsThereAfterACleanRestartAndAfterAKill() throws Exception {
    broker.restart();
    assertAllKept();
    for (RecordLedger ledger : kept.values()) {
      ledger.produce(broker.bootstrap(), 60, 1_000);
    }
    broker.killAndStart();
    assertAllKept();
    assertThat(broker.console()).as("what went past the log").isEmpty();
  }

  private void assertAllKept() throws InterruptedException {
    for (Map.Entry<String, RecordLedger> entry : kept.entrySet()) {
      if (entry.getKey().equals("retained")) {
        entry.getValue().verifyNewest(broker.bootstrap(), 2 * SEGMENT);
      } else {
        entry.getValue().verify(broker.bootstrap());
      }
    }
    assertNewestOfEachKey(100, 59);
    assertTransactions();
    assertCommittedOffset();
  }

  private void assertNewestOfEachKey(int keys, int newest) {
    Map<Integer, Integer> values = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> found : read("compacted", Map.of())) {
      values.put(ByteBuffer.wrap(found.key()).getInt(), ByteBuffer.wrap(found.value()).getInt());
    }
    assertThat(values).hasSize(keys);
    assertThat(values.values()).containsOnly(newest);
  }

  private void assertTransactions() {
    Map<Integer, Integer> committed = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> found :
        read("transactions", Map.of("isolation.level", "read_committed"))) {
      committed.merge(ByteBuffer.wrap(found.value()).getInt(), 1, Integer::sum);
    }
    assertThat(committed)
        .as("records of each committed transaction")
        .isEqualTo(Map.of(0, 100, 2, 100, 4, 100, 6, 100, 8, 100));
    assertThat(read("transactions", Map.of())).hasSize(1_000);
  }

  private void assertCommittedOffset() throws InterruptedException {
    try (Admin admin = broker.admin()) {
      assertThat(
              Topics.await(admin.listConsumerGroupOffsets(GROUP).partitionsToOffsetAndMetadata()))
          .containsEntry(new TopicPartition("offsets", 0), new OffsetAndMetadata(42, "noted"));
    }
  }

  private RecordLedger topic(String name, int partitions) throws InterruptedException {
    return topic(name, partitions, Map.of());
  }

  private RecordLedger topic(String name, int partitions, Map<String, String> config)
      throws InterruptedException {
    create(name, partitions, config);
    RecordLedger ledger = new RecordLedger(name, partitions, name.hashCode());
    kept.put(name, ledger);
    return ledger;
  }

  private void create(String name, int partitions, Map<String, String> config)
      throws InterruptedException {
    Map<String, String> all = new HashMap<>(Map.of("segment.bytes", "" + SEGMENT));
    all.putAll(config);
    Topics.create(broker, name, partitions, all);
  }

  private List<ConsumerRecord<byte[], byte[]>> read(String topic, Map<String, ?> settings) {
    return RecordLedger.readAll(broker.bootstrap(), topic, 1, settings);
  }

  private static byte[] number(int number) {
    return number(number, Integer.BYTES);
  }

  private static byte[] number(int number, int size) {
    return ByteBuffer.allocate(size).putInt(number).array();
  }

  private static long filesEndingWith(Path folder, String suffix) throws IOException {
    try (var files = Files.list(folder)) {
      return files.filter(f -> f.toString().endsWith(suffix)).count();
    }
  }

  private long foldersStartingWith(String prefix) throws IOException {
    long count = 0;
    for (Path dir : broker.logDirectories()) {
      try (var files = Files.list(dir)) {
        count += files.filter(f -> f.getFileName().toString().startsWith(prefix)).count();
      }
    }
    return count;
  }
}
