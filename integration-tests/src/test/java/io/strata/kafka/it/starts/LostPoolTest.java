package io.strata.kafka.it.starts;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.segment.ValidRecords;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A broker whose pool is gone for good: what it still has, and what its replicas bring back. */
@Tag("long")
class LostPoolTest {

  private static final String TOPIC = "hot";
  private static final int PARTITIONS = 2;
  private static final int RECORDS = 20_000;
  private static final int SIZE = 1_000;
  private static final int KEYS = 3_000;
  private static final int GROUPS = 8;
  private static final int COMMITTED = 50;

  @RegisterExtension static final Workspace WORK = new Workspace();

  private static StockBroker.Builder broker(String name, String threshold) {
    return Tiers.broker(WORK.folder(name), WORK.newPool(name, "24MiB", 128))
        .set("auto.leader.rebalance.enable", "false")
        .set("strata.migration.threshold", threshold);
  }

  /** Starts a broker that has the only replica of the topic. */
  private static StockBroker startAlone(String name, String threshold) throws Exception {
    StockBroker broker = WORK.start(broker(name, threshold));
    Topics.create(broker, TOPIC, PARTITIONS, Map.of());
    return broker;
  }

  private static Path pool(StockBroker broker) {
    return Path.of(broker.property("strata.pools"));
  }

  /**
   * Takes the pool away, accepts the loss, and returns from where on each partition may lack
   * records.
   */
  private static JsonNode losePool(StockBroker broker) throws Exception {
    broker.kill();
    Files.delete(pool(broker));
    JsonNode accepted = acceptLoss(broker);
    Path created = Pools.create(pool(broker), "24MiB", 128);
    assertThat(created).exists();
    return accepted;
  }

  private static JsonNode acceptLoss(StockBroker broker) throws Exception {
    assertThat(broker.startRefused().output()).contains("strata accept-loss", TOPIC + "-0");
    JavaProcess.Finished accepted = broker.strata("accept-loss", "--yes", "--json").orFail();
    String output = accepted.output();
    int end = output.lastIndexOf('}') + 1;
    return new ObjectMapper().readTree(output.substring(output.indexOf('{'), end));
  }

  private static long fromOffset(JsonNode accepted, int partition) {
    for (JsonNode loss : accepted.get("partitions")) {
      if (loss.get("topic").asText().equals(TOPIC) && loss.get("partition").asInt() == partition) {
        return loss.get("fromOffset").asLong();
      }
    }
    throw new AssertionError("partition %d is not in %s".formatted(partition, accepted));
  }

  private static long endOffset(StockBroker broker, int partition) throws Exception {
    TopicPartition of = new TopicPartition(TOPIC, partition);
    try (Admin admin = broker.admin()) {
      return admin.listOffsets(Map.of(of, OffsetSpec.latest())).partitionResult(of).get().offset();
    }
  }

  /** Without another replica: exactly what was named is missing. */
  @Test
  void whatIsNamedIsWhatIsMissing() throws Exception {
    StockBroker broker = startAlone("alone", "0");
    RecordLedger ledger = new RecordLedger(TOPIC, PARTITIONS, 1);
    // One by one: a partition may not be there yet for the first batch, and be there for the next.
    ledger.produce(broker.bootstrap(), PARTITIONS, SIZE);
    ledger.produce(broker.bootstrap(), RECORDS - PARTITIONS, SIZE);
    Tiers.awaitClean(broker, "hot");
    Tiers.alter(broker, Map.of("strata.migration.threshold", "-1"));
    ledger.produce(broker.bootstrap(), RECORDS / 10, SIZE);
    JsonNode accepted = losePool(broker);
    broker.start();

    RecordLedger.Verified left = ledger.verifyOldest(broker.bootstrap());
    assertThat(left.records()).isBetween(RECORDS / 2L, RECORDS + RECORDS / 10 - 1L);
    for (int partition = 0; partition < PARTITIONS; partition++) {
      assertThat(endOffset(broker, partition)).isEqualTo(fromOffset(accepted, partition));
    }
    // And it goes on from there.
    new RecordLedger(TOPIC, PARTITIONS, 2).produce(broker.bootstrap(), 100, SIZE);
    Tiers.audit(broker);
  }

  /**
   * Compaction leaves gaps between a segment's last record and the next one's first offset: they
   * say nothing about what is missing.
   */
  @Test
  void aCompactedTopicLosesNoSegmentThatItsLogFileHas() throws Exception {
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("compacted"), WORK.newPool("compacted", "64MiB"))
                .set("strata.topics.exclude", "none")
                .set("strata.migration.threshold", "0")
                .set("log.cleaner.min.cleanable.ratio", "0.01")
                .set("offsets.topic.segment.bytes", "" + Tiers.SEGMENT));
    Topics.create(broker, TOPIC, 1, Map.of("cleanup.policy", "compact"));
    Topics.create(broker, "with-commits", COMMITTED, Map.of());
    int sent = writeKeys(broker);
    commit(broker);
    await().until(() -> keys(broker).records() < sent - KEYS);
    Tiers.awaitQuiet(broker);
    Tiers.awaitClean(broker, "hot");
    await().untilAsserted(() -> assertGapsAndTags(broker));
    broker.kill();
    Files.delete(pool(broker));
    JsonNode accepted = acceptLoss(broker);
    assertThat(Pools.create(pool(broker), "64MiB")).exists();
    broker.start();

    for (JsonNode loss : accepted.get("partitions")) {
      assertThat(loss.get("dropped").asInt()).as("files deleted: %s", loss).isZero();
      assertThat(loss.get("droppedBytes").asInt()).isZero();
    }
    assertThat(keys(broker).keys()).as("keys").isEqualTo(KEYS);
    try (Admin admin = broker.admin()) {
      for (int group = 0; group < GROUPS; group++) {
        assertThat(
                admin
                    .listConsumerGroupOffsets("group-" + group)
                    .partitionsToOffsetAndMetadata()
                    .get())
            .hasSize(COMMITTED);
      }
    }
    Tiers.audit(broker);
  }

  /**
   * A segment of the pool that was compacted ends before the next one begins, and all tags but the
   * active segment's say that the file is whole.
   */
  private static void assertGapsAndTags(StockBroker broker) throws IOException {
    Path partition = LogFiles.partition(broker, TOPIC, 0);
    List<Path> segments = LogFiles.segments(partition);
    List<Path> sealed =
        LogFiles.hotSegments(partition).stream()
            .filter(file -> !file.equals(segments.get(segments.size() - 1)))
            .toList();
    int gaps = 0;
    for (Path file : sealed) {
      assertThat(SegmentTag.wholeLength(file)).as("%s", file).hasValue(Files.size(file));
      long base = Long.parseLong(file.getFileName().toString().replace(".log", ""));
      long next = ValidRecords.nextOffset(file, base);
      gaps += Files.exists(partition.resolve("%020d.log".formatted(next))) ? 0 : 1;
    }
    assertThat(gaps).as("gaps behind %s, of %s", sealed, segments).isPositive();
  }

  /**
   * Writes each key several times, in no order, and each record in a batch of its own, which
   * compaction removes with it; returns how many records that are.
   */
  private static int writeKeys(StockBroker broker) {
    Random random = new Random(1);
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(broker.bootstrap(), Map.of("batch.size", "0"))) {
      for (int i = 0; i < KEYS * 6; i++) {
        int key = i < KEYS ? i : random.nextInt(KEYS);
        byte[] value = ByteBuffer.allocate(SIZE).putInt(i).array();
        Future<RecordMetadata> unused = // the topic is read at the end
            producer.send(
                new ProducerRecord<>(TOPIC, 0, ByteBuffer.allocate(4).putInt(key).array(), value));
      }
    }
    return KEYS * 6;
  }

  private static void commit(StockBroker broker) throws Exception {
    try (Admin admin = broker.admin()) {
      for (int round = 0; round < 10; round++) {
        for (int group = 0; group < GROUPS; group++) {
          Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
          for (int partition = 0; partition < COMMITTED; partition++) {
            offsets.put(
                new TopicPartition("with-commits", partition),
                new OffsetAndMetadata(round, "x".repeat(2_000)));
          }
          Topics.await(admin.alterConsumerGroupOffsets("group-" + group, offsets).all());
        }
      }
    }
  }

  private record Keys(int records, int keys) {}

  private static Keys keys(StockBroker broker) {
    Set<ByteBuffer> keys = new HashSet<>();
    int records = 0;
    for (ConsumerRecord<byte[], byte[]> found :
        RecordLedger.readAll(broker.bootstrap(), TOPIC, 1, Map.of())) {
      keys.add(ByteBuffer.wrap(found.key()));
      records++;
    }
    return new Keys(records, keys.size());
  }

  /** Of several segments none has come to the log files: Kafka must not go on with the last one. */
  @Test
  void aLogWithoutAnyRecordBeginsAnew() throws Exception {
    StockBroker broker = startAlone("dirty", "-1");
    RecordLedger ledger = new RecordLedger(TOPIC, PARTITIONS, 1);
    ledger.produce(broker.bootstrap(), PARTITIONS, SIZE);
    ledger.produce(broker.bootstrap(), RECORDS / 2, SIZE);
    JsonNode accepted = losePool(broker);
    broker.start();
    for (int partition = 0; partition < PARTITIONS; partition++) {
      assertThat(fromOffset(accepted, partition)).isZero();
      assertThat(endOffset(broker, partition)).isZero();
    }
    new RecordLedger(TOPIC, PARTITIONS, 2).produce(broker.bootstrap(), 100, SIZE);
    Tiers.audit(broker);
  }

  /** The later segments of the partition are in other slots of the pool. */
  @Test
  void whatComesAfterADamagedSlotIsFreed() throws Exception {
    StockBroker broker = startAlone("damaged", "-1");
    RecordLedger ledger = new RecordLedger(TOPIC, PARTITIONS, 1);
    ledger.produce(broker.bootstrap(), PARTITIONS, SIZE);
    ledger.produce(broker.bootstrap(), RECORDS / 2, SIZE);
    broker.stop();
    List<Path> segments = LogFiles.hotSegments(LogFiles.partition(broker, TOPIC, 0));
    assertThat(segments).hasSizeGreaterThan(2);
    damageSlot(pool(broker), SegmentTag.read(segments.get(1)).orElseThrow().slot());
    broker.strata("pool", "repair", "--yes").orFail();
    JsonNode accepted = acceptLoss(broker);

    broker.start();

    assertThat(accepted.get("partitions")).hasSize(1);
    assertThat(endOffset(broker, 0)).isPositive().isEqualTo(fromOffset(accepted, 0));
    assertThat(LogFiles.segments(LogFiles.partition(broker, TOPIC, 0)))
        .containsExactlyElementsOf(segments.subList(0, 2));
    assertThat(broker.output()).doesNotContain("Log files are missing");
    new RecordLedger(TOPIC, PARTITIONS, 2).produce(broker.bootstrap(), 100, SIZE);
    Tiers.audit(broker);
  }

  private static void damageSlot(Path pool, int slot) throws IOException {
    long position = SlotLayout.slotPosition(slot) + SlotLayout.COMMITTED_LENGTH_OFFSET;
    try (FileChannel file = FileChannel.open(pool, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}), position);
    }
  }

  /** With two other replicas nothing is missing in the end, and only the tails are fetched. */
  @Test
  void replicasBringBackTheTails() throws Exception {
    StockBroker other = WORK.start(broker("other", "0"));
    StockBroker loser = WORK.start(broker("loser", "0").joining(other, 2));
    StockBroker third = WORK.start(broker("third", "0").joining(other, 3));
    Set<Integer> all = Set.of(1, 2, 3);
    try (Admin admin = other.admin()) {
      List<Integer> replicas = List.of(2, 1, 3);
      Topics.create(admin, new NewTopic(TOPIC, Map.of(0, replicas, 1, replicas)));
      Topics.awaitState(admin, TOPIC, 2, all);
    }
    RecordLedger ledger = new RecordLedger(TOPIC, PARTITIONS, 1);
    ledger.produce(other.bootstrap(), RECORDS, SIZE);
    Tiers.awaitClean(loser, "hot");
    Tiers.alter(loser, Map.of("strata.migration.threshold", "-1"));
    int tail = RECORDS / 10;
    ledger.produce(other.bootstrap(), tail, SIZE);
    JsonNode accepted = losePool(loser);
    long lost = 0;
    for (int partition = 0; partition < PARTITIONS; partition++) {
      lost += endOffset(other, partition) - fromOffset(accepted, partition);
    }
    assertThat(lost).isBetween((long) tail, RECORDS / 2L);
    loser.start();
    try (Admin admin = other.admin()) {
      Topics.awaitState(admin, TOPIC, 1, all);
      assertThat(fetchedBytes(loser)).isBetween(lost * SIZE, lost * SIZE * 11 / 10);
      Set<TopicPartition> both = Set.of(new TopicPartition(TOPIC, 0), new TopicPartition(TOPIC, 1));
      Topics.await(admin.electLeaders(ElectionType.PREFERRED, both).all());
      Topics.awaitState(admin, TOPIC, 2, all);
    }
    assertThat(ledger.verify(loser.bootstrap()).records()).isEqualTo(RECORDS + tail);
    for (StockBroker broker : List.of(loser, third, other)) {
      Tiers.audit(broker);
    }
  }

  /** What the broker's replicas have fetched since its start. */
  private static long fetchedBytes(StockBroker broker) throws IOException {
    Map<String, Number> counts =
        Jmx.attributes(
            broker, "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesInPerSec", "Count");
    assertThat(counts).hasSize(1);
    return counts.values().iterator().next().longValue();
  }
}
