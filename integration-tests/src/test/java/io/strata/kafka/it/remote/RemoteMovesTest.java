package io.strata.kafka.it.remote;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ReplicaInfo;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A hot, tiered partition whose replica moves, is fetched from the last tiered offset on, or whose
 * copies have failed hundreds of times.
 */
@Tag("long")
class RemoteMovesTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final String AS = "strata.it.seed=" + SEED;
  private static final int SIZE = 1_500;
  private static final String TRANSACTIONS = "transactions";
  private static final int OPEN = 50;

  @RegisterExtension static final Workspace WORK = new Workspace();

  /** KAFKA-16711: the replica moves between two log directories while it is copied. */
  @Test
  void aPartitionMovesBetweenLogDirectoriesWhileItIsCopied() throws Exception {
    TieredBrokers tier = TieredBrokers.over(WORK.folder("data-moved"));
    StockBroker broker =
        WORK.start(
            tier.withPools(WORK.folder("moved"), WORK.newPool("moved", "24MiB", 128))
                .logDirectories(2));
    RecordLedger ledger =
        Tiers.topic(broker, "moved", 1, TieredBrokers.topic("local.retention.bytes", "4000000"));
    int moves = 0;
    try (Load load =
        Load.start(
            ledger,
            broker.bootstrap(),
            Load.Shape.ofBytesPerSecond(3 << 20),
            SEED,
            Map.of("delivery.timeout.ms", "1200000"))) {
      for (; moves < 8; moves++) {
        assertThat(load.isRunning()).isTrue();
        move(broker, "moved");
        TimeUnit.MILLISECONDS.sleep(500);
      }
    }
    ledger.assertNoneFailed();
    Topics.alter(broker, "moved", Map.of("local.retention.bytes", "1"));
    tier.awaitTiered(broker, "moved", 1, 5);
    assertThat(ledger.verify(broker.bootstrap()).records()).as(AS).isEqualTo(ledger.acknowledged());
    broker.killAndStart();
    assertThat(ledger.verify(broker.bootstrap()).records()).as(AS).isEqualTo(ledger.acknowledged());
    Tiers.audit(broker);
    for (Path directory : tier.directories()) {
      long unused = StoreAudit.assertNothingPartial(directory);
    }
  }

  private static void move(StockBroker broker, String topic) throws InterruptedException {
    Path to = LogFiles.elsewhere(broker, topic, 0);
    List<TopicPartition> moved = List.of(new TopicPartition(topic, 0));
    Topics.move(broker, to, moved);
    Topics.awaitMoved(broker, to, moved);
  }

  /**
   * KIP-1023: an empty follower begins at the last tiered offset, with transactions that are
   * committed, aborted and open; it leads then, and is killed.
   */
  @Test
  void anEmptyFollowerBeginsAtTheLastTieredOffset() throws Exception {
    Assumptions.assumeTrue(
        KafkaVersion.ofThisRun().compareTo(KafkaVersion.V4_3) >= 0, "Kafka 4.3 has it");
    TieredBrokers tier = TieredBrokers.over(WORK.folder("data-follower"));
    StockBroker follower = WORK.start(member(tier, "follower"));
    StockBroker leader = WORK.start(member(tier, "leader").joining(follower, 2));
    String both = follower.bootstrap() + "," + leader.bootstrap();
    try (Admin admin = leader.admin();
        Producer<byte[], byte[]> open =
            RecordLedger.producer(
                both, Map.of("transactional.id", "open", "transaction.timeout.ms", "900000"))) {
      Topics.create(
          admin, TRANSACTIONS, TieredBrokers.topic("local.retention.bytes", "3000000"), 2, 1);
      RemoteTransactions sent =
          RemoteTransactions.send(both, TRANSACTIONS, 1_400, new Random(SEED));
      await().until(() -> TieredBrokers.offsets(leader, TRANSACTIONS, 0).latestTiered() > 300);
      sent.verify(both, AS, 0);

      follower.stop();
      Path replica = LogFiles.partition(follower, TRANSACTIONS, 0);
      Path moved = Files.move(replica, WORK.folder("away").resolve("replica"));
      assertThat(moved).exists();
      follower.start();
      Topics.awaitState(admin, TRANSACTIONS, 2, Set.of(1, 2));
      assertThat(firstOffset(follower)).as("where the follower begins").isGreaterThan(300);

      open.initTransactions();
      open.beginTransaction();
      for (int i = 0; i < OPEN; i++) {
        Future<RecordMetadata> unused =
            open.send(new ProducerRecord<>(TRANSACTIONS, 0, new byte[4], new byte[4_000]));
      }
      open.flush();
      leader.kill();
      awaitLeader(follower, 1, Set.of(1));
      sent.verify(follower.bootstrap(), AS, OPEN);
      leader.start();
      awaitLeader(follower, 1, Set.of(1, 2));
      follower.killAndStart();
      awaitLeader(follower, 2, Set.of(1, 2));
      sent.verify(both, AS, OPEN);
      open.abortTransaction();
      sent.verify(both, AS, OPEN);
    }
    // The follower last: it has the controller, without which a broker waits for its own end.
    leader.stop();
    int unused = follower.stop();
    // What the pool has of the replica that was moved away waits for a broker of ten minutes.
    Path logs = follower.logDirectories().get(0);
    byte[] id = (byte[]) Files.getAttribute(logs, "user:strata.directory");
    follower
        .strata("pool", "forget", "--directory", new String(id, StandardCharsets.US_ASCII), "--yes")
        .orFail();
    for (StockBroker broker : List.of(leader, follower)) {
      Tiers.audit(broker);
    }
  }

  private static void awaitLeader(StockBroker asked, int leader, Set<Integer> inSync)
      throws InterruptedException {
    try (Admin admin = asked.admin()) {
      Topics.awaitState(admin, TRANSACTIONS, leader, inSync);
    }
  }

  private static StockBroker.Builder member(TieredBrokers tier, String name) {
    return tier.withPools(WORK.folder(name), WORK.newPool(name, "24MiB", 128))
        .set("follower.fetch.last.tiered.offset.enable", "true")
        .set("auto.leader.rebalance.enable", "false")
        .set("offsets.topic.replication.factor", "2")
        .set("transaction.state.log.replication.factor", "2")
        .set("transaction.state.log.min.isr", "1")
        .set("rlmm.config.remote.log.metadata.topic.replication.factor", "2");
  }

  private static long firstOffset(StockBroker broker) throws IOException {
    Path first = LogFiles.segments(LogFiles.partition(broker, TRANSACTIONS, 0)).get(0);
    return Long.parseLong(first.getFileName().toString().replace(".log", ""));
  }

  /** KAFKA-17062: what has failed counts for nothing; exactly the excess goes. */
  @Test
  void retentionAfterHundredsOfFailedCopiesDeletesTheExcess() throws Exception {
    int partitions = 5;
    try (TestMount mount = TestMount.bind(WORK.folder("data-fails"), WORK.folder("data-mount"))) {
      TieredBrokers tier = TieredBrokers.over(mount.path());
      StockBroker broker =
          WORK.start(
              tier.withPools(WORK.folder("fails"), WORK.newPool("fails", "24MiB", 128))
                  .set("remote.log.manager.task.retry.backoff.ms", "20")
                  .set("remote.log.manager.task.retry.backoff.max.ms", "50"));
      RecordLedger ledger = Tiers.topic(broker, "fails", partitions, TieredBrokers.topic());
      ledger.produce(broker.bootstrap(), partitions * 1_000, SIZE);
      tier.awaitTiered(broker, "fails", partitions, 1);
      mount.turnReadOnly();
      ledger.produce(broker.bootstrap(), partitions * 4_000, SIZE);
      await().until(() -> failures(broker) > 300);
      mount.disappear();
      mount.comeBack();
      tier.awaitTiered(broker, "fails", partitions, 5);
      assertThat(ledger.verify(broker.bootstrap()).records()).as(AS).isEqualTo(5_000L * partitions);

      long keep = 3_500_000;
      Topics.alter(broker, "fails", Map.of("retention.bytes", "" + keep));
      for (int p = 0; p < partitions; p++) {
        int partition = p;
        await()
            .ignoreExceptionsInstanceOf(NoSuchFileException.class)
            .untilAsserted(() -> assertExcessIsGone(tier, broker, partition, keep));
      }
      // And no more than that, later.
      TimeUnit.SECONDS.sleep(5);
      for (int p = 0; p < partitions; p++) {
        assertExcessIsGone(tier, broker, p, keep);
      }
      assertThat(ledger.verifyNewest(broker.bootstrap()).records()).isPositive();
      Tiers.audit(broker);
    }
  }

  /** What is left is as much as is to be kept, and would be less without its oldest segment. */
  private static void assertExcessIsGone(
      TieredBrokers tier, StockBroker broker, int partition, long keep) throws Exception {
    List<RemoteManager.Segment> segments =
        tier.segments("fails", partition).stream()
            .sorted(Comparator.comparingLong(RemoteManager.Segment::startOffset))
            .toList();
    long remote = 0;
    for (RemoteManager.Segment each : segments) {
      remote += Files.size(each.log());
    }
    long total = remote + localBytes(broker, new TopicPartition("fails", partition));
    assertThat(total).as("bytes of %s and the local ones", segments).isGreaterThanOrEqualTo(keep);
    assertThat(total - Files.size(segments.get(0).log())).isLessThan(keep);
  }

  private static long localBytes(StockBroker broker, TopicPartition partition)
      throws InterruptedException {
    return Topics.logDirectories(broker).values().stream()
        .map(each -> each.replicaInfos().get(partition))
        .filter(Objects::nonNull)
        .mapToLong(ReplicaInfo::size)
        .sum();
  }

  /** Kafka's own count has none that it tries again. */
  private static long failures(StockBroker broker) throws IOException {
    return Jmx.values(broker, "type=RemoteOperation,name=FailuresTotal,operation=copy,*")
        .values()
        .stream()
        .mapToLong(Number::longValue)
        .sum();
  }
}
