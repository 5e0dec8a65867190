package io.strata.kafka.it.faults;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager.Segment;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Waiting;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.it.remote.RemoteCluster;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A bit of a record flips on one of three replicas, which then leads: in a pool, in a log file, in
 * the store of all. No consumer and no follower takes the wrong bytes for right ones, the operator
 * is told, and the procedure of docs/runbooks.md brings the replica back from the others.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class FlippedBitTest {

  private static final int RECORDS = 3_000;
  private static final int SIZE = 1_000;
  private static final int DAMAGED = 100; // in the first segment
  private static final Integer[] ALL = {3, 2, 1};

  @RegisterExtension final Workspace work = new Workspace();

  private TieredBrokers tier;
  private RemoteCluster cluster;
  private int pools;

  @BeforeAll
  void start() throws Exception {
    tier = TieredBrokers.over(work.folder("data-store"));
    cluster = RemoteCluster.start(work, "broker", tier, this::withPool);
  }

  private StockBroker.Builder withPool(StockBroker.Builder builder) {
    Path pool = work.newPool("hot-" + ++pools, "8MiB", 64);
    return builder
        .strata(pool)
        .set("strata.topics.exclude", "__.*|store")
        .set("strata.migration.threshold", "0")
        // The machine may do other work.
        .set("broker.session.timeout.ms", "10000");
  }

  @Test
  void inThePool() throws Exception {
    threshold("-1");
    RecordLedger ledger = sent("pool");
    StockBroker damaged = cluster.broker(3);
    Path pool = Path.of(damaged.property("strata.pools"));
    damaged.stop();
    flip(pool, position(ledger, pool));
    damaged.start();
    lead("pool");

    assertNoWrongBytes("pool");
    // Strata reads what it copies down.
    Tiers.alter(damaged, Map.of("strata.migration.threshold", "0"));
    damaged.awaitLogged("pool-0", "is corrupt");
    await()
        .untilAsserted(
            () -> assertThat(Jmx.value(damaged, "type=Broker,name=Health")).isEqualTo(2));
    assertNoFollowerTakesThem("pool");
    repair("pool");
    assertAllThere(ledger);
    await().untilAsserted(() -> assertThat(Jmx.value(damaged, "type=Broker,name=Health")).isZero());
  }

  @Test
  void inTheLogFile() throws Exception {
    threshold("0");
    RecordLedger ledger = sent("file");
    StockBroker damaged = cluster.broker(3);
    Path first = LogFiles.segments(LogFiles.partition(damaged, "file", 0)).get(0);
    // What comes after it takes its space in the pool.
    for (int i = 0; LogFiles.isHot(first) && i < 20; i++) {
      ledger.produce(cluster.bootstrap(), RECORDS, SIZE);
      Tiers.awaitClean(damaged, "hot");
    }
    assertThat(LogFiles.isHot(first)).as("%s has bytes in the pool", first).isFalse();
    damaged.stop();
    flip(first, position(ledger, first));
    JavaProcess.Finished verified = Pools.strata("verify", damaged.logDirectory().toString());
    assertThat(verified.exitCode()).as("of strata verify").isEqualTo(1);
    assertThat(verified.output()).contains(first.toString());
    damaged.start();
    lead("file");

    assertNoWrongBytes("file");
    assertNoFollowerTakesThem("file");
    repair("file");
    assertAllThere(ledger);
  }

  @Test
  void inTheStore() throws Exception {
    RecordLedger ledger = cluster.topic("store", TieredBrokers.topic(), 2, 3, 1);
    ledger.produce(cluster.bootstrap(), RECORDS, SIZE);
    tier.awaitTiered(cluster.broker(2), "store", 1, 2);
    Segment segment =
        tier.segments("store").stream().filter(s -> s.startOffset() == 0).findAny().orElseThrow();
    long middle = Files.size(segment.log()) / 2;
    flip(segment.log(), middle);

    assertNothingWrongFromTheStore();
    cluster.reassign("store", 3, 2, 1);
    lead("store");
    assertNothingWrongFromTheStore();
    cluster.broker(3).awaitLogged("store-0", String.valueOf(segment.log().getParent()));
    JavaProcess.Finished scrub = cluster.broker(3).strata("remote", "scrub");
    assertThat(scrub.exitCode()).as("of strata remote scrub").isNotZero();
    assertThat(scrub.output()).contains(String.valueOf(segment.log().getParent()));

    flip(segment.log(), middle); // the file comes back, as from a backup
    for (StockBroker broker : cluster.brokers()) {
      Tiers.alter(broker, Map.of("rsm.config.scrub.interval.ms", "1000"));
    }
    await()
        .ignoreExceptions()
        .untilAsserted(
            () -> assertThat(Jmx.value(cluster.broker(3), "type=Broker,name=Health")).isZero());
    assertAllThere(ledger);
  }

  // ---------------------------------------------------------------------------------------------

  private void threshold(String value) throws Exception {
    for (StockBroker broker : cluster.brokers()) {
      Tiers.alter(broker, Map.of("strata.migration.threshold", value));
    }
  }

  private RecordLedger sent(String topic) throws Exception {
    RecordLedger ledger = cluster.topic(topic, Map.of("segment.bytes", "" + Tiers.SEGMENT), ALL);
    ledger.produce(cluster.bootstrap(), RECORDS, SIZE);
    return ledger;
  }

  private static long position(RecordLedger ledger, Path file) throws IOException {
    Long found = ledger.positionsIn(file).get(DAMAGED);
    assertThat(found).as("where record %d is in %s", DAMAGED, file).isNotNull();
    return found + SIZE / 2;
  }

  private static void flip(Path file, long position) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      assertThat(channel.read(one, position)).isEqualTo(1);
      one.put(0, (byte) (one.get(0) ^ 4));
      one.flip();
      assertThat(channel.write(one, position)).isEqualTo(1);
      channel.force(true);
    }
  }

  /** Broker 3, the preferred leader, leads. */
  private void lead(String topic) throws Exception {
    cluster.awaitInSync(topic, Set.of(ALL));
    TopicPartition partition = new TopicPartition(topic, 0);
    await()
        .ignoreExceptions()
        .until(
            () -> {
              if (cluster.state(topic).leader().id() != 3) {
                cluster.admin().electLeaders(ElectionType.PREFERRED, Set.of(partition)).all().get();
              }
              return cluster.state(topic).leader().id() == 3;
            });
    cluster.awaitState(topic, 3, Set.of(ALL));
  }

  /** What a consumer gets before the damage is right; there it fails, and says why. */
  private void assertNoWrongBytes(String topic) {
    TopicPartition partition = new TopicPartition(topic, 0);
    try (Consumer<byte[], byte[]> consumer = RecordLedger.consumer(cluster.bootstrap(), Map.of())) {
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      assertThatThrownBy(
              () -> {
                long end = System.nanoTime() + Waiting.LIMIT.toNanos();
                while (System.nanoTime() < end) {
                  for (ConsumerRecord<byte[], byte[]> found :
                      consumer.poll(Duration.ofMillis(500))) {
                    assertThat((long) RecordLedger.check(found)).isLessThan(DAMAGED);
                  }
                }
              })
          .isInstanceOf(KafkaException.class)
          .hasStackTraceContaining("corrupt");
    }
  }

  /** Broker 1 loses its replica and cannot have it again from the leader. */
  private void assertNoFollowerTakesThem(String topic) throws Exception {
    cluster.reassign(topic, 3, 2);
    cluster.awaitState(topic, 3, Set.of(3, 2));
    cluster.reassign(topic, ALL);
    cluster.broker(1).awaitLogged("Found invalid messages during fetch for partition " + topic);
    assertThat(cluster.state(topic).isr()).noneMatch(node -> node.id() == 1);
    // It will never be in sync, and Kafka ends no reassignment before that.
    Map<TopicPartition, Optional<NewPartitionReassignment>> none =
        Map.of(new TopicPartition(topic, 0), Optional.empty());
    Topics.await(cluster.admin().alterPartitionReassignments(none).all());
    cluster.awaitState(topic, 3, Set.of(3, 2));
  }

  /** As in docs/runbooks.md: the replica goes away, and comes again from those that are left. */
  private void repair(String topic) throws Exception {
    cluster.reassign(topic, 2);
    cluster.awaitState(topic, 2, Set.of(2));
    cluster.reassign(topic, ALL);
    lead(topic);
  }

  /** From broker 3, which leads. */
  private void assertAllThere(RecordLedger ledger) throws Exception {
    assertThat(ledger.verify(cluster.bootstrap()).records()).isEqualTo(ledger.acknowledged());
  }

  private void assertNothingWrongFromTheStore() {
    TopicPartition partition = new TopicPartition("store", 0);
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(cluster.bootstrap(), Map.of("max.partition.fetch.bytes", "10000"))) {
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      long next = 0;
      for (int empty = 0; empty < 20; empty++) {
        for (ConsumerRecord<byte[], byte[]> found : consumer.poll(Duration.ofMillis(500))) {
          assertThat((long) RecordLedger.check(found)).isEqualTo(next);
          next++;
          empty = 0;
        }
      }
      assertThat(next).as("records that were read up to the damage").isLessThan(RECORDS / 2);
      consumer.seek(partition, RECORDS / 2);
      assertThat(RecordLedger.first(consumer)).as("behind the damage").isEqualTo(RECORDS / 2);
    }
  }
}
