package io.strata.kafka.it.remote;

import static io.strata.kafka.it.harness.Waiting.await;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Waiting;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What Kafka's tiered storage does with a log, on one broker that all the scenarios share; then the
 * broker stops, starts, is killed and starts again, and all that they left is read once more. The
 * subclasses run it with pools and without.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class RemoteFeatures {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());

  /** Which seeks and sizes a run has; a failure names it. */
  private static final String SEED_OF_THIS_RUN = "strata.it.seed=" + SEED;

  private static final int AFTER_ALL_SCENARIOS = Integer.MAX_VALUE;

  @RegisterExtension final Workspace work = new Workspace();

  /** What must still be there after the restarts. */
  private final Map<String, RecordLedger> kept = new LinkedHashMap<>();

  private final Random random = new Random(SEED);
  private TieredBrokers tier;
  private StockBroker broker;

  /** The store. */
  abstract TieredBrokers tier(Workspace folders);

  /** With pools, or not. */
  abstract StockBroker.Builder builder(TieredBrokers over);

  @BeforeAll
  void start() throws Exception {
    tier = tier(work);
    broker = work.start(builder(tier));
  }

  @Test
  void severalGroupsConsumeFromTheBeginning() throws Exception {
    RecordLedger ledger = topic("groups", 2);
    ledger.produce(broker.bootstrap(), 6_000, 1_500);
    tier.awaitTiered(broker, "groups", 2, 3);
    assertThat(TieredBrokers.offsets(broker, "groups", 0).earliest()).isZero();
    assertThat(TieredBrokers.offsets(broker, "groups", 0).earliestLocal()).isPositive();
    List<CompletableFuture<List<Integer>>> groups =
        IntStream.range(0, 3)
            .mapToObj(g -> CompletableFuture.supplyAsync(() -> consume("groups", "g" + g, 6_000)))
            .toList();
    for (CompletableFuture<List<Integer>> group : groups) {
      assertThat(group.join()).as("numbers of the records").hasSize(6_000);
    }
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(6_000);
  }

  /** Reads as a member of a group, each record whole, and commits. */
  private List<Integer> consume(String topic, String group, int records) {
    List<Integer> found = new ArrayList<>();
    Map<TopicPartition, Long> next = new HashMap<>();
    long end = System.nanoTime() + Waiting.LIMIT.toNanos();
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(broker.bootstrap(), Map.of("group.id", group))) {
      consumer.subscribe(List.of(topic));
      while (found.size() < records && System.nanoTime() < end) {
        for (ConsumerRecord<byte[], byte[]> read : consumer.poll(Duration.ofMillis(200))) {
          TopicPartition partition = new TopicPartition(read.topic(), read.partition());
          assertThat(read.offset())
              .as("offset of %s that group %s reads", partition, group)
              .isEqualTo(next.getOrDefault(partition, 0L));
          next.put(partition, read.offset() + 1);
          found.add(RecordLedger.check(read));
        }
        consumer.commitSync();
      }
    }
    return found;
  }

  @Test
  void offsetsAreFoundByTimestamp() throws Exception {
    int count = 4_000;
    long first = System.currentTimeMillis() - count * 1_000L;
    RecordLedger ledger = topic("times", 1, "retention.ms", "-1", "index.interval.bytes", "2000");
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(broker.bootstrap(), Map.of("batch.size", "4000"))) {
      for (int i = 0; i < count; i++) {
        ledger.send(producer, 0, 1_000, first + i * 1_000L);
      }
    }
    tier.awaitTiered(broker, "times", 1, 3);
    long local = TieredBrokers.offsets(broker, "times", 0).earliestLocal();
    TopicPartition partition = new TopicPartition("times", 0);
    try (Consumer<byte[], byte[]> consumer = RecordLedger.consumer(broker.bootstrap(), Map.of())) {
      consumer.assign(List.of(partition));
      for (int i = 0; i < 30; i++) {
        // Every tenth from what is here, the others from the store.
        long offset = i % 10 == 0 ? local + random.nextInt(100) : random.nextInt((int) local);
        long between = first + offset * 1_000 - random.nextInt(1_000);
        OffsetAndTimestamp found =
            requireNonNull(consumer.offsetsForTimes(Map.of(partition, between)).get(partition));
        assertThat(List.of(found.offset(), found.timestamp()))
            .as("offset and time of what is found for %d, %s", between, SEED_OF_THIS_RUN)
            .isEqualTo(List.of(offset, first + offset * 1_000));
        consumer.seek(partition, found.offset());
        assertThat(RecordLedger.first(consumer)).as(SEED_OF_THIS_RUN).isEqualTo((int) offset);
      }
    }
  }

  @Test
  void readsBeginAnywhere() throws Exception {
    RecordLedger ledger = topic("anywhere", 1);
    ledger.produce(broker.bootstrap(), 4_000, 1_500, Map.of("compression.type", "zstd"));
    tier.awaitTiered(broker, "anywhere", 1, 3);
    TopicPartition partition = new TopicPartition("anywhere", 0);
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(broker.bootstrap(), Map.of("max.partition.fetch.bytes", "20000"))) {
      consumer.assign(List.of(partition));
      for (int i = 0; i < 60; i++) {
        int offset = random.nextInt(4_000);
        consumer.seek(partition, offset);
        assertThat(RecordLedger.first(consumer)).as(SEED_OF_THIS_RUN).isEqualTo(offset);
      }
    }
  }

  @Test
  void abortedTransactionsAreNotRead() throws Exception {
    Topics.create(broker, "transactions", 1, TieredBrokers.topic());
    RemoteTransactions sent =
        RemoteTransactions.send(broker.bootstrap(), "transactions", 1_400, random);
    tier.awaitTiered(broker, "transactions", 1, 3);
    sent.verify(broker.bootstrap(), SEED_OF_THIS_RUN);
    assertThat(tier.segments("transactions"))
        .as("segments with an index of aborted transactions")
        .anyMatch(s -> Files.exists(s.file(".txnindex")));
  }

  @Test
  void deletedTopicLeavesNothingInTheStore() throws Exception {
    RecordLedger ledger = topic("deleted", 2);
    ledger.produce(broker.bootstrap(), 5_000, 1_500);
    tier.awaitTiered(broker, "deleted", 2, 2);
    kept.remove("deleted");
    Topics.delete(broker, "deleted");
    tier.awaitNothingOf("deleted");
    // The same name again is another topic.
    RecordLedger again = topic("deleted", 2);
    again.produce(broker.bootstrap(), 3_000, 1_500);
    tier.awaitTiered(broker, "deleted", 2, 1);
    assertThat(again.verify(broker.bootstrap()).records()).isEqualTo(3_000);
  }

  @Test
  void tieringIsSwitchedOffAndWhatWasTieredDeleted() throws Exception {
    RecordLedger ledger = topic("disabled", 1);
    kept.remove("disabled");
    ledger.produce(broker.bootstrap(), 3_000, 1_500);
    tier.awaitTiered(broker, "disabled", 1, 2);
    long local = TieredBrokers.offsets(broker, "disabled", 0).earliestLocal();

    // Copying stops; what is in the store stays and is read.
    Topics.alter(
        broker,
        "disabled",
        Map.of(
            "remote.log.copy.disable", "true",
            "local.retention.bytes", "-2",
            "local.retention.ms", "-2"));
    int before = tier.segments("disabled").size();
    ledger.produce(broker.bootstrap(), 2_000, 1_500);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(5_000);
    assertThat(tier.segments("disabled")).hasSize(before);

    Topics.alter(
        broker,
        "disabled",
        Map.of("remote.storage.enable", "false", "remote.log.delete.on.disable", "true"));
    tier.awaitNothingOf("disabled");
    assertThat(ledger.verifyNewest(broker.bootstrap()).records()).isEqualTo(5_000 - local);
  }

  @Test
  void retentionBySizeDeletesFromTheStore() throws Exception {
    RecordLedger ledger = topic("by-size", 1, "retention.bytes", "" + 3 * TieredBrokers.SEGMENT);
    kept.remove("by-size");
    ledger.produce(broker.bootstrap(), 7_000, 1_500);
    tier.awaitTiered(broker, "by-size", 1, 1);
    await().untilAsserted(() -> assertThat(tier.segments("by-size")).hasSizeBetween(1, 3));
    long records = ledger.verifyNewest(broker.bootstrap()).records();
    assertThat(records).isBetween(1_400L, 3_000L);
    assertThat(TieredBrokers.offsets(broker, "by-size", 0).earliest()).isEqualTo(7_000 - records);
  }

  @Test
  void retentionByTimeDeletesFromTheStore() throws Exception {
    RecordLedger ledger = topic("by-time", 1);
    kept.remove("by-time");
    ledger.produce(broker.bootstrap(), 4_000, 1_500);
    tier.awaitTiered(broker, "by-time", 1, 3);
    Topics.alter(broker, "by-time", Map.of("retention.ms", "1000", "local.retention.ms", "-2"));
    tier.awaitNothingOf("by-time");
    Topics.alter(broker, "by-time", Map.of("retention.ms", "-1"));
    ledger.produce(broker.bootstrap(), 10, 1_500);
    assertThat(TieredBrokers.offsets(broker, "by-time", 0).earliest()).isPositive();
    assertThat(ledger.verifyNewest(broker.bootstrap()).records()).isBetween(10L, 1_500L);
  }

  @Test
  void deletedRecordsGoFromTheStore() throws Exception {
    RecordLedger ledger = topic("cut", 1);
    kept.remove("cut");
    ledger.produce(broker.bootstrap(), 4_000, 1_500);
    tier.awaitTiered(broker, "cut", 1, 4);
    int before = tier.segments("cut").size();
    TopicPartition partition = new TopicPartition("cut", 0);
    try (Admin admin = broker.admin()) {
      Topics.await(
          admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(2_000))).all());
    }
    await().untilAsserted(() -> assertThat(tier.segments("cut")).hasSizeBetween(1, before - 2));
    assertThat(ledger.verifyNewest(broker.bootstrap()).records()).isEqualTo(2_000);
  }

  @Test
  void tieringIsSwitchedOnWithExistingData() throws Exception {
    RecordLedger ledger =
        Tiers.topic(
            broker,
            "late",
            2,
            Map.of("segment.bytes", "" + TieredBrokers.SEGMENT, "index.interval.bytes", "4096"));
    kept.put("late", ledger);
    ledger.produce(broker.bootstrap(), 5_000, 1_500);
    assertThat(tier.segments("late")).isEmpty();
    Topics.alter(
        broker, "late", Map.of("remote.storage.enable", "true", "local.retention.bytes", "1"));
    tier.awaitTiered(broker, "late", 2, 2);
    ledger.produce(broker.bootstrap(), 1_000, 1_500);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(6_000);
  }

  @Test
  @Order(AFTER_ALL_SCENARIOS)
  void everythingIsThereAfterACleanRestartAndAfterAKill() throws Exception {
    broker.restart();
    assertAllKept();
    for (RecordLedger ledger : kept.values()) {
      ledger.produce(broker.bootstrap(), 1_000, 1_500);
    }
    broker.killAndStart();
    assertAllKept();
    assertThat(broker.console()).as("what went past the log").isEmpty();
  }

  private void assertAllKept() {
    for (RecordLedger ledger : kept.values()) {
      assertThat(ledger.verify(broker.bootstrap()).records())
          .as("records of %s, %s", ledger.topic(), SEED_OF_THIS_RUN)
          .isEqualTo(ledger.acknowledged());
    }
  }

  private RecordLedger topic(String name, int partitions, String... config)
      throws InterruptedException {
    RecordLedger ledger = Tiers.topic(broker, name, partitions, TieredBrokers.topic(config));
    kept.put(name, ledger);
    return ledger;
  }

  /** The path of a pool. */
  final Path pool(String size) {
    return work.newPool("hot", size, 256);
  }
}
