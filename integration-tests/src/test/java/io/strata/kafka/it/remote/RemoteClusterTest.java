package io.strata.kafka.it.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Three brokers and one store that all of them see: what one has written, the others read and go on
 * with. The first is the controller and stays.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class RemoteClusterTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int RECORDS = 3_000;
  private static final int SIZE = 1_500;

  @RegisterExtension final Workspace work = new Workspace();

  private TieredBrokers tier;
  private RemoteCluster cluster;

  @BeforeAll
  void start() throws Exception {
    tier = TieredBrokers.over(work.folder("data-store"));
    cluster = RemoteCluster.start(work, "broker", tier, builder -> builder);
  }

  @AfterEach
  void allRun() throws Exception {
    cluster.startAll();
  }

  private StockBroker broker(int id) {
    return cluster.broker(id);
  }

  @Test
  void aNewLeaderReadsWhatTheOldOneWrote() throws Exception {
    RecordLedger ledger = cluster.topic("leaders", TieredBrokers.topic(), 2, 3);
    ledger.produce(broker(2).bootstrap(), RECORDS, SIZE);
    tier.awaitTiered(broker(2), "leaders", 1, 3);
    List<Long> before = digests("leaders");
    assertThat(before).hasSize(RECORDS);

    broker(2).kill();
    cluster.awaitState("leaders", 3, Set.of(3));
    assertThat(digests("leaders")).as("records from the new leader").isEqualTo(before);
    ledger.produce(broker(3).bootstrap(), RECORDS, SIZE);
    tier.awaitTiered(broker(3), "leaders", 1, 6);

    StockBroker back = broker(2).start();
    cluster.awaitState("leaders", 3, Set.of(2, 3));
    Topics.await(
        cluster
            .admin()
            .electLeaders(ElectionType.PREFERRED, Set.of(new TopicPartition("leaders", 0)))
            .all());
    cluster.awaitState("leaders", 2, Set.of(2, 3));
    assertThat(ledger.verify(back.bootstrap()).records()).isEqualTo(2 * RECORDS);
    // And all of it goes when the topic goes, whichever broker wrote it.
    Topics.delete(back, "leaders");
    tier.awaitNothingOf("leaders");
  }

  @Test
  void aReassignedPartitionIsReadFromItsNewBroker() throws Exception {
    RecordLedger ledger = cluster.topic("reassigned", TieredBrokers.topic(), 2);
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(broker(1).bootstrap(), Map.of())) {
      send(ledger, producer);
      tier.awaitTiered(broker(2), "reassigned", 1, 3);
      long local = TieredBrokers.offsets(broker(1), "reassigned", 0).earliestLocal();
      List<Long> before = digests("reassigned");

      cluster.reassign("reassigned", 3);
      cluster.awaitState("reassigned", 3, Set.of(3));
      assertBuiltFromTheStore(broker(3), "reassigned", local);
      assertThat(digests("reassigned")).as("records from the new broker").isEqualTo(before);
      // The same producer goes on.
      send(ledger, producer);
    }
    ledger.assertNoneFailed();
    tier.awaitTiered(broker(3), "reassigned", 1, 6);
    assertThat(ledger.verify(broker(1).bootstrap()).records()).isEqualTo(2 * RECORDS);
  }

  @Test
  void aNewFollowerBuildsItsStateFromTheStore() throws Exception {
    RecordLedger ledger = cluster.topic("joined", TieredBrokers.topic(), 2);
    ledger.produce(broker(1).bootstrap(), RECORDS, SIZE);
    tier.awaitTiered(broker(2), "joined", 1, 3);
    long local = TieredBrokers.offsets(broker(1), "joined", 0).earliestLocal();

    cluster.reassign("joined", 2, 3);
    cluster.awaitState("joined", 2, Set.of(2, 3));
    assertBuiltFromTheStore(broker(3), "joined", local);
    // A consumer in the follower's rack reads the store through the follower.
    assertThat(ledger.verify(broker(1).bootstrap(), Map.of("client.rack", "rack-3")).records())
        .isEqualTo(RECORDS);
    assertThat(remoteBytes(broker(3), "joined")).as("bytes that the follower fetched").isPositive();

    broker(2).kill();
    cluster.awaitState("joined", 3, Set.of(3));
    ledger.produce(broker(3).bootstrap(), RECORDS, SIZE);
    assertThat(ledger.verify(broker(3).bootstrap()).records()).isEqualTo(2 * RECORDS);
  }

  /**
   * No transaction reaches from what is in the store into what is local: of those a new replica
   * knows nothing in Kafka 4.3, which deletes the snapshot of the producers' state that it has just
   * fetched (see "Limits" in docs/remote.md).
   */
  @Test
  void transactionsAreReadRightFromANewLeader() throws Exception {
    Topics.create(cluster.admin(), "transactions", TieredBrokers.topic(), 2, 3);
    RemoteTransactions sent =
        RemoteTransactions.send(broker(1).bootstrap(), "transactions", 800, new Random(SEED));
    tier.awaitTiered(broker(2), "transactions", 1, 2);
    broker(2).kill();
    cluster.awaitState("transactions", 3, Set.of(3));
    sent.verify(broker(1).bootstrap(), "strata.it.seed=" + SEED);
    cluster.reassign("transactions", 1);
    cluster.awaitState("transactions", 1, Set.of(1));
    sent.verify(broker(1).bootstrap(), "strata.it.seed=" + SEED);
  }

  // ---------------------------------------------------------------------------------------------

  private static void send(RecordLedger ledger, Producer<byte[], byte[]> producer) {
    for (int i = 0; i < RECORDS; i++) {
      ledger.send(producer, 0, SIZE);
    }
    producer.flush();
  }

  /** It has no record from before, but knows the leader epochs from the first record on. */
  private static void assertBuiltFromTheStore(StockBroker replica, String topic, long local)
      throws Exception {
    Path partition = LogFiles.partition(replica, topic, 0);
    assertThat(LogFiles.segments(partition).get(0).getFileName())
        .as("first segment on the new replica")
        .hasToString(String.format("%020d.log", local));
    assertThat(Files.readAllLines(partition.resolve("leader-epoch-checkpoint")))
        .as("version, count, and the leader epochs with their first offsets")
        .contains("0 0");
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
