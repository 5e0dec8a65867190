package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Three brokers and one store that all of them see: what one has written, the others read and go on
 * with. The first is the controller and stays.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RemoteClusterTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int RECORDS = 3_000;
  private static final int SIZE = 1_500;

  @RegisterExtension final Workspace work = new Workspace();

  private final Map<Integer, StockBroker> brokers = new TreeMap<>();
  private RemoteTier tier;
  private Admin admin;

  @BeforeAll
  void start() throws Exception {
    tier = RemoteTier.over(work.folder("data-store"));
    StockBroker controller = work.closing(builder(1).build());
    brokers.put(1, controller);
    for (int id = 2; id <= 3; id++) {
      brokers.put(id, work.closing(builder(id).joining(controller, id).build()));
    }
    for (StockBroker broker : brokers.values()) {
      broker.startWithoutWaiting();
    }
    for (StockBroker broker : brokers.values()) {
      awaitStarted(broker);
    }
    admin = work.closing(controller.admin());
  }

  private StockBroker.Builder builder(int id) {
    return tier.alone(work.folder("broker-" + id))
        .set("auto.leader.rebalance.enable", "false")
        .set("offsets.topic.replication.factor", "3")
        .set("transaction.state.log.replication.factor", "3")
        .set("rlmm.config.remote.log.metadata.topic.replication.factor", "3")
        .set("broker.rack", "rack-" + id)
        .set("replica.selector.class", "org.apache.kafka.common.replica.RackAwareReplicaSelector");
  }

  private static void awaitStarted(StockBroker broker) throws Exception {
    String unused = broker.awaitOutput("Kafka Server started", Duration.ofMinutes(2));
  }

  private StockBroker broker(int id) {
    return Optional.ofNullable(brokers.get(id)).orElseThrow();
  }

  @AfterEach
  void allRun() throws Exception {
    for (StockBroker broker : brokers.values()) {
      if (!broker.isRunning()) {
        broker.close();
        StockBroker unused = broker.start();
      }
    }
  }

  @Test
  void aNewLeaderReadsWhatTheOldOneWrote() throws Exception {
    RecordLedger ledger = create("leaders", 2, 3);
    ledger.produce(broker(2).bootstrap(), RECORDS, SIZE);
    tier.awaitTiered(broker(2), "leaders", 1, 3);
    List<Long> before = digests("leaders");
    assertThat(before).hasSize(RECORDS);

    broker(2).kill();
    awaitState("leaders", 3, Set.of(3));
    assertThat(digests("leaders")).as("records from the new leader").isEqualTo(before);
    ledger.produce(broker(3).bootstrap(), RECORDS, SIZE);
    tier.awaitTiered(broker(3), "leaders", 1, 6);

    StockBroker back = broker(2).start();
    awaitState("leaders", 3, Set.of(2, 3));
    Topics.await(
        admin.electLeaders(ElectionType.PREFERRED, Set.of(new TopicPartition("leaders", 0))).all());
    awaitState("leaders", 2, Set.of(2, 3));
    assertThat(ledger.verify(back.bootstrap()).records()).isEqualTo(2 * RECORDS);
    // And all of it goes when the topic goes, whoever wrote it.
    Topics.delete(back, "leaders");
    tier.awaitNothingOf("leaders");
  }

  @Test
  void aReassignedPartitionIsReadFromItsNewBroker() throws Exception {
    RecordLedger ledger = create("reassigned", 2);
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(broker(1).bootstrap(), Map.of())) {
      send(ledger, producer);
      tier.awaitTiered(broker(2), "reassigned", 1, 3);
      long local = RemoteTier.offsets(broker(1), "reassigned", 0).earliestLocal();
      List<Long> before = digests("reassigned");

      reassign("reassigned", 3);
      awaitState("reassigned", 3, Set.of(3));
      assertBuiltFromTheStore(broker(3), "reassigned", local);
      assertThat(digests("reassigned")).as("records from the new broker").isEqualTo(before);
      // The same producer goes on: its sequence numbers came from the store, too.
      send(ledger, producer);
    }
    ledger.assertNoneFailed();
    tier.awaitTiered(broker(3), "reassigned", 1, 6);
    assertThat(ledger.verify(broker(1).bootstrap()).records()).isEqualTo(2 * RECORDS);
  }

  @Test
  void aNewFollowerBuildsItsStateFromTheStore() throws Exception {
    RecordLedger ledger = create("joined", 2);
    ledger.produce(broker(1).bootstrap(), RECORDS, SIZE);
    tier.awaitTiered(broker(2), "joined", 1, 3);
    long local = RemoteTier.offsets(broker(1), "joined", 0).earliestLocal();

    reassign("joined", 2, 3);
    awaitState("joined", 2, Set.of(2, 3));
    assertBuiltFromTheStore(broker(3), "joined", local);
    // A consumer in the follower's rack reads the store through the follower.
    assertThat(ledger.verify(broker(1).bootstrap(), Map.of("client.rack", "rack-3")).records())
        .isEqualTo(RECORDS);
    assertThat(remoteBytes(broker(3), "joined")).as("bytes that the follower fetched").isPositive();

    broker(2).kill();
    awaitState("joined", 3, Set.of(3));
    ledger.produce(broker(3).bootstrap(), RECORDS, SIZE);
    assertThat(ledger.verify(broker(3).bootstrap()).records()).isEqualTo(2 * RECORDS);
  }

  @Test
  void transactionsAreReadRightFromANewLeader() throws Exception {
    createTopic("transactions", 2);
    RemoteTransactions sent =
        RemoteTransactions.send(broker(1).bootstrap(), "transactions", 800, new Random(SEED));
    tier.awaitTiered(broker(2), "transactions", 1, 2);
    reassign("transactions", 3);
    awaitState("transactions", 3, Set.of(3));
    sent.verify(broker(1).bootstrap(), "strata.it.seed=" + SEED);
  }

  // ---------------------------------------------------------------------------------------------

  private RecordLedger create(String topic, Integer... replicas) throws InterruptedException {
    createTopic(topic, replicas);
    return new RecordLedger(topic, 1, SEED);
  }

  private void createTopic(String topic, Integer... replicas) throws InterruptedException {
    Topics.await(
        admin
            .createTopics(
                List.of(
                    new NewTopic(topic, Map.of(0, List.of(replicas))).configs(RemoteTier.topic())))
            .all());
    awaitState(topic, replicas[0], Set.of(replicas));
  }

  private static void send(RecordLedger ledger, Producer<byte[], byte[]> producer) {
    for (int i = 0; i < RECORDS; i++) {
      ledger.send(producer, 0, SIZE);
    }
    producer.flush();
  }

  private void reassign(String topic, Integer... replicas) throws InterruptedException {
    Topics.await(
        admin
            .alterPartitionReassignments(
                Map.of(
                    new TopicPartition(topic, 0),
                    Optional.of(new NewPartitionReassignment(List.of(replicas)))))
            .all());
  }

  private void awaitState(String topic, int leader, Set<Integer> inSync) {
    await()
        .atMost(Tiers.PATIENCE)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              TopicPartitionInfo now =
                  Topics.await(admin.describeTopics(List.of(topic)).allTopicNames())
                      .values()
                      .iterator()
                      .next()
                      .partitions()
                      .get(0);
              assertThat(now.leader().id()).as("leader of %s", topic).isEqualTo(leader);
              assertThat(now.isr().stream().map(Node::id).collect(Collectors.toSet()))
                  .as("in-sync replicas of %s", topic)
                  .isEqualTo(inSync);
            });
  }

  /** It has no record from before, but the producers' state of that place. */
  private static void assertBuiltFromTheStore(StockBroker replica, String topic, long local)
      throws Exception {
    Path partition = Homes.partition(replica, topic, 0);
    List<Path> segments = Homes.segments(partition);
    assertThat(segments.get(0).getFileName())
        .as("first segment on the new replica")
        .hasToString(String.format("%020d.log", local));
    assertThat(Files.exists(partition.resolve(String.format("%020d.snapshot", local))))
        .as("the producers' state at offset %d", local)
        .isTrue();
  }

  private static long remoteBytes(StockBroker broker, String topic) throws Exception {
    return Jmx.attributes(
            broker,
            "kafka.server:type=BrokerTopicMetrics,name=RemoteFetchBytesPerSec,topic=" + topic,
            "Count")
        .values()
        .stream()
        .mapToLong(Number::longValue)
        .sum();
  }

  /** For each record, in their order, a sum over all that a consumer sees of it. */
  private List<Long> digests(String topic) {
    List<Long> sums = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> record :
        RecordLedger.readAll(broker(1).bootstrap(), topic, 1, Map.of())) {
      CRC32C crc = new CRC32C();
      crc.update(
          ByteBuffer.allocate(2 * Long.BYTES)
              .putLong(record.offset())
              .putLong(record.timestamp())
              .flip());
      crc.update(record.key());
      crc.update(record.value());
      sums.add(crc.getValue());
    }
    return sums;
  }
}
