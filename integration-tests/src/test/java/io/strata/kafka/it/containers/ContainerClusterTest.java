package io.strata.kafka.it.containers;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Three brokers with a pool each and three controllers, each in a container; three replicas, of
 * which two must be in sync. One pool is of type file, and one broker's root file system is
 * read-only. One thing goes wrong at a time, under load, and after it every record is there, whole
 * and in its order.
 */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ContainerClusterTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int PARTITIONS = 3;
  private static final int RATE = 150;

  private static final int TYPE_FILE = 1;
  private static final int READ_ONLY = 2;

  private ContainerCluster cluster;

  @BeforeAll
  void start() throws Exception {
    ContainerEngine.assumeThere();
    String image = ContainerEngine.kafkaWithStrata();
    System.out.println("seed " + SEED);
    cluster =
        ContainerCluster.start(
            "cluster",
            image,
            (all, broker) -> {
              String type = is(broker, TYPE_FILE) ? "file" : "mapped";
              ContainerNode node = all.withRemoteTier(all.withStrata(broker, image, type));
              return is(broker, READ_ONLY) ? node.readOnlyRoot() : node;
            });
  }

  private static boolean is(ContainerNode broker, int id) {
    return broker.address().endsWith(Integer.toString(id));
  }

  @AfterAll
  void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  /** Whatever a test has left, the next one begins with all brokers. */
  @AfterEach
  void allRun() throws Exception {
    for (ContainerNode broker : cluster.brokers().values()) {
      if (!broker.isRunning()) {
        ContainerNode unused = broker.start();
      }
    }
    cluster.awaitInSync();
  }

  @Test
  void recordsAreRead() throws Exception {
    RecordLedger ledger = cluster.create("plain", PARTITIONS, SEED, Map.of());
    ledger.produce(cluster.bootstrap(), 3_000, 2_000);
    assertThat(ledger.verify(cluster.bootstrap()).records()).isEqualTo(3_000);
    assertThat(cluster.broker(1).exec("ls", "-l", ContainerCluster.POOL).getStdout())
        .as("the pool, created by the broker's user")
        .contains("appuser", "-rw-------");
    assertThat(cluster.broker(READ_ONLY).exec("touch", "/opt/kafka/libs/new").getStderr())
        .contains("Read-only file system");
  }

  @Test
  void rollingRestart() throws Exception {
    RecordLedger ledger = cluster.create("rolled", PARTITIONS, SEED, Map.of());
    underLoad(ledger, () -> cluster.roll(broker -> broker));
  }

  @Test
  void aBrokerIsKilled() throws Exception {
    RecordLedger ledger = cluster.create("killed", PARTITIONS, SEED, Map.of());
    underLoad(
        ledger,
        () -> {
          ContainerNode unused = cluster.broker(1).kill();
          cluster.awaitLeadsNothing(1);
          unused = cluster.broker(1).start();
        });
    readFromEach(ledger);
  }

  @Test
  void aBrokerIsPaused() throws Exception {
    RecordLedger ledger = cluster.create("paused", PARTITIONS, SEED, Map.of());
    underLoad(
        ledger,
        () -> {
          cluster.broker(2).pause();
          cluster.awaitLeadsNothing(2);
          cluster.broker(2).unpause();
        });
    readFromEach(ledger);
  }

  @Test
  void aBrokerIsCutOff() throws Exception {
    RecordLedger ledger = cluster.create("cut", PARTITIONS, SEED, Map.of());
    underLoad(
        ledger,
        () -> {
          cluster.broker(3).disconnect();
          cluster.awaitLeadsNothing(3);
          cluster.broker(3).connect();
        });
    readFromEach(ledger);
  }

  @Test
  void aBrokerLosesItsLogDirectory() throws Exception {
    RecordLedger ledger = cluster.create("disk", PARTITIONS, SEED, Map.of());
    ContainerNode broker = cluster.broker(2);
    underLoad(
        ledger,
        () -> {
          ContainerNode unused = broker.kill();
          assertThat(broker.shell("rm -rf " + ContainerCluster.DATA + "/logs")).contains("code 0");
          ContainerNode.Refusal refusal = broker.startRefused();
          assertThat(refusal.exitCode()).isNotZero();
          assertThat(refusal.output())
              .contains("Strata refuses to start this broker", "none of log.dirs is that one");
          Matcher command =
              Pattern.compile("strata (pool forget [^'`\\n]*?--directory[ =](\\S+))")
                  .matcher(refusal.output());
          assertThat(command.find()).as("the command, in:\n%s", refusal.output()).isTrue();
          assertThat(
                  broker.strata(
                      "pool",
                      "forget",
                      "--config",
                      "CONFIG",
                      "--directory",
                      command.group(2).replaceAll("[^0-9a-f-]", ""),
                      "--yes",
                      ContainerCluster.POOL))
              .contains("exit code 0");
          unused = broker.start();
        });
    readFromEach(ledger);
  }

  @Test
  void aBrokerLosesItsPool() throws Exception {
    RecordLedger ledger = cluster.create("pool", PARTITIONS, SEED, Map.of());
    ContainerNode broker = cluster.broker(3);
    underLoad(
        ledger,
        () -> {
          ContainerNode unused = broker.kill();
          assertThat(broker.shell("rm " + ContainerCluster.POOL)).contains("exit code 0");
          ContainerNode.Refusal refusal = broker.startRefused();
          assertThat(refusal.exitCode()).isNotZero();
          assertThat(refusal.output())
              .contains("Strata refuses to start this broker", ContainerCluster.POOL, "pool-0");
          assertThat(broker.strata("accept-loss", "--config", "CONFIG", "--yes"))
              .contains("exit code 0");
          assertThat(broker.strata("pool", "create", "--config", "CONFIG", "--size", "24MiB"))
              .contains("exit code 0");
          unused = broker.start();
        });
    readFromEach(ledger);
  }

  @Test
  void aBrokerIsStartedWithoutStrata() throws Exception {
    RecordLedger ledger = cluster.create("without", PARTITIONS, SEED, Map.of());
    ContainerNode broker = cluster.broker(1);
    Map<String, String> whole = broker.environment();
    underLoad(
        ledger,
        () -> {
          for (List<String> missing :
              List.of(List.of("KAFKA_OPTS"), List.of("KAFKA_OPTS", "KAFKA_METRIC_REPORTERS"))) {
            ContainerNode unused = broker.stop().remove();
            for (String variable : missing) {
              unused = broker.set(variable, "");
            }
            ContainerNode.Refusal refusal = broker.startRefused();
            assertThat(refusal.exitCode()).as("exit code without %s", missing).isNotZero();
            assertThat(refusal.output()).contains("Strata");
            unused = broker.remove().setAll(whole).start();
            cluster.awaitInSync();
          }
        });
    readFromEach(ledger);
  }

  @Test
  void aNewLeaderReadsTheRemoteTier() throws Exception {
    RecordLedger ledger =
        cluster.create(
            "tiered",
            PARTITIONS,
            SEED,
            Map.of(
                "remote.storage.enable", "true",
                "local.retention.bytes", "1",
                "file.delete.delay.ms", "1000"));
    ledger.produce(cluster.bootstrap(), 6_000, 2_000);
    awaitOnlyRemote("tiered");
    assertThat(ledger.verify(cluster.bootstrap()).records()).isEqualTo(6_000);

    ContainerNode unused = cluster.broker(2).kill();
    cluster.awaitLeadsNothing(2);
    assertThat(ledger.verify(cluster.bootstrap()).records()).isEqualTo(6_000);
    ledger.produce(cluster.bootstrap(), 3_000, 2_000);
    unused = cluster.broker(2).start();
    cluster.awaitInSync();
    cluster.preferredLeaders("tiered", PARTITIONS);
    assertThat(ledger.verify(cluster.bootstrap()).records()).isEqualTo(9_000);
  }

  /** The first records of each partition are in the store and nowhere else. */
  private void awaitOnlyRemote(String topic) {
    try (Admin admin = cluster.admin()) {
      for (int p = 0; p < PARTITIONS; p++) {
        TopicPartition partition = new TopicPartition(topic, p);
        await()
            .atMost(ContainerCluster.PATIENCE)
            .pollInterval(Duration.ofSeconds(1))
            .ignoreExceptions()
            .until(
                () ->
                    Topics.await(
                                admin
                                    .listOffsets(Map.of(partition, OffsetSpec.earliestLocal()))
                                    .partitionResult(partition))
                            .offset()
                        > 0);
      }
    }
  }

  // ---------------------------------------------------------------------------------------------

  private interface Trouble {
    void happens() throws Exception;
  }

  /** Every record that was acknowledged before, during and after the trouble is there. */
  private void underLoad(RecordLedger ledger, Trouble trouble) throws Exception {
    ledger.produce(cluster.bootstrap(), 1_500, 2_000);
    try (Load load =
        Load.start(ledger, cluster.bootstrap(), RATE, SEED, Map.of("linger.ms", "20"))) {
      trouble.happens();
      cluster.awaitInSync();
      assertThat(load.isRunning()).as("the load goes on").isTrue();
    }
    ledger.assertNoneFailed();
    assertThat(ledger.verify(cluster.bootstrap()).records()).isEqualTo(ledger.acknowledged());
  }

  /** Each broker has all records: with the others' leaders gone, it is read alone. */
  private void readFromEach(RecordLedger ledger) throws Exception {
    List<Long> read = new ArrayList<>();
    for (int id : cluster.brokers().keySet()) {
      cluster.lead(ledger.topic(), PARTITIONS, id);
      read.add(ledger.verify(cluster.bootstrap()).records());
    }
    assertThat(read).as("records from each broker as leader").containsOnly(ledger.acknowledged());
  }
}
