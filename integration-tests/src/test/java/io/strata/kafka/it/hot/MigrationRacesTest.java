package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.Reading;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeReplicaLogDirsResult.ReplicaLogDirInfo;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartitionReplica;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Everything that Kafka does to a segment while it moves: retention deletes it, its topic is
 * deleted, it is compacted away, its partition moves to another log directory. The engine moves all
 * sealed segments down, and up again when there is space, all the time; its mode changes.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class MigrationRacesTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final Duration RUN =
      Duration.ofSeconds(Long.getLong("strata.it.races.seconds", 15));

  private static final int KEYS = 200;
  private static final String COMPACTED = "compacted";

  @RegisterExtension final Workspace work = new Workspace();

  private final Random random = new Random(SEED);
  private StockBroker broker;

  @BeforeAll
  void start() throws Exception {
    Path pool = work.newPool("hot", "24MiB", 256);
    broker =
        work.start(
            Tiers.broker(work.folder("broker"), pool)
                .logDirectories(2)
                .set("strata.migration.threshold", "0")
                .set("strata.migration.threads", "4"));
  }

  @Test
  void whateverKafkaDoesWinsAndNothingIsLost() throws Exception {
    RecordLedger steady = Tiers.topic(broker, "steady", 2);
    RecordLedger retained =
        Tiers.topic(broker, "retained", 2, Map.of("retention.bytes", "3000000"));
    RecordLedger moved = Tiers.topic(broker, "moved", 2);
    Topics.create(
        broker,
        COMPACTED,
        1,
        Map.of(
            "cleanup.policy", "compact",
            "min.cleanable.dirty.ratio", "0.01",
            "max.compaction.lag.ms", "500",
            "segment.ms", "1000"));
    int rounds = 0;
    int newest = 0;
    try (Load first = load(steady);
        Load second = load(retained);
        Load third = load(moved);
        Reading reading = Reading.start(steady, broker.bootstrap(), Reading.Start.BEGINNING)) {
      long end = System.nanoTime() + RUN.toNanos();
      for (; System.nanoTime() < end; rounds++) {
        Tiers.alter(
            broker, Map.of("strata.migration.mode", random.nextBoolean() ? "eager" : "threshold"));
        RecordLedger deleted = Tiers.topic(broker, "deleted-" + rounds, 1);
        deleted.produce(broker.bootstrap(), 2_000 + random.nextInt(3_000), 2_000);
        newest = compact(newest);
        moveReplica(moved.topic(), random.nextInt(2));
        TimeUnit.MILLISECONDS.sleep(random.nextInt(500));
        Topics.delete(broker, deleted.topic());
        assertThat(first.isRunning() && second.isRunning() && third.isRunning()).isTrue();
        assertThat(reading.records()).isPositive();
      }
    }
    for (RecordLedger ledger : List.of(steady, retained, moved)) {
      ledger.assertNoneFailed();
    }
    assertThat(rounds).as("rounds").isPositive();
    verify(steady, retained, moved, newest);
    awaitNoReplicaMoves("moved");
    Tiers.awaitQuiet(broker);
    Tiers.assertAccounting(broker);
    Tiers.audit(broker);
    broker.start();
    verify(steady, retained, moved, newest);
    broker.stop();
  }

  private void verify(RecordLedger steady, RecordLedger retained, RecordLedger moved, int newest) {
    String bootstrap = broker.bootstrap();
    for (RecordLedger ledger : List.of(steady, moved)) {
      assertThat(ledger.verify(bootstrap).records())
          .as("records of %s, strata.it.seed=%s", ledger.topic(), SEED)
          .isEqualTo(ledger.acknowledged());
    }
    retained.verifyNewest(bootstrap, 3_000_000);
    Map<Integer, Integer> values = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> found :
        RecordLedger.readAll(bootstrap, COMPACTED, 1, Map.of())) {
      values.put(ByteBuffer.wrap(found.key()).getInt(), ByteBuffer.wrap(found.value()).getInt());
    }
    assertThat(values).as("keys of the compacted topic").hasSize(KEYS);
    assertThat(values.values()).as("newest of each key").containsOnly(newest);
  }

  /** Writes a new value of each key, several segments in all. */
  private int compact(int newest) {
    int last = newest;
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(broker.bootstrap(), Map.of("linger.ms", "5"))) {
      for (int round = 0; round < 5; round++) {
        last++;
        for (int key = 0; key < KEYS; key++) {
          Future<RecordMetadata> unused = // the topic is read at the end
              producer.send(
                  new ProducerRecord<>(COMPACTED, 0, number(key, 4), number(last, 2_000)));
        }
      }
      producer.flush();
    }
    return last;
  }

  private void moveReplica(String topic, int partition) throws InterruptedException {
    TopicPartitionReplica replica = new TopicPartitionReplica(topic, partition, 1);
    try (Admin admin = broker.admin()) {
      ReplicaLogDirInfo now =
          Topics.await(admin.describeReplicaLogDirs(List.of(replica)).all()).get(replica);
      if (now == null || now.getFutureReplicaLogDir() != null) {
        return;
      }
      String other =
          broker.logDirectories().stream()
              .map(Path::toString)
              .filter(dir -> !dir.equals(now.getCurrentReplicaLogDir()))
              .findFirst()
              .orElseThrow();
      Topics.await(admin.alterReplicaLogDirs(Map.of(replica, other)).all());
    }
  }

  private void awaitNoReplicaMoves(String topic) throws InterruptedException {
    List<TopicPartitionReplica> replicas =
        List.of(new TopicPartitionReplica(topic, 0, 1), new TopicPartitionReplica(topic, 1, 1));
    try (Admin admin = broker.admin()) {
      await()
          .until(
              () ->
                  Topics.await(admin.describeReplicaLogDirs(replicas).all()).values().stream()
                      .allMatch(info -> info.getFutureReplicaLogDir() == null));
    }
  }

  private Load load(RecordLedger ledger) {
    return Load.start(
        ledger, broker.bootstrap(), Load.Shape.ofBytesPerSecond(2 << 20), SEED, Map.of());
  }

  private static byte[] number(int number, int size) {
    return ByteBuffer.allocate(size).putInt(number).array();
  }
}
