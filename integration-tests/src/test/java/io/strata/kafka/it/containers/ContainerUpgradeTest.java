package io.strata.kafka.it.containers;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.RecordLedger;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A stock cluster in containers, with data, is given Strata broker by broker, and loses it again
 * after {@code strata drain}; producers go on all the time.
 */
@Tag("long")
class ContainerUpgradeTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int PARTITIONS = 3;

  @Test
  void toStrataAndBack() throws Exception {
    ContainerEngine.assumeThere();
    String stock = ContainerEngine.kafka();
    String strata = ContainerEngine.kafkaWithStrata();
    System.out.println("seed " + SEED);
    try (ContainerCluster cluster =
        ContainerCluster.start("upgrade", stock, (all, broker) -> broker)) {
      RecordLedger ledger = cluster.create("upgraded", PARTITIONS, SEED, Map.of());
      ledger.produce(cluster.bootstrap(), 3_000, 2_000);
      try (Load load =
          Load.start(ledger, cluster.bootstrap(), 150, SEED, Map.of("linger.ms", "20"))) {
        cluster.roll(broker -> cluster.withStrata(broker.remove(), strata, "mapped"));
        for (ContainerNode broker : cluster.brokers().values()) {
          assertThat(broker.logs()).contains("Opened pool " + ContainerCluster.POOL);
        }
        assertThat(load.isRunning()).as("the load goes on").isTrue();
      }
      ledger.assertNoneFailed();
      assertThat(ledger.verify(cluster.bootstrap()).records()).isEqualTo(ledger.acknowledged());
      assertThat(hot(cluster.broker(1))).as("hot segments with Strata").isTrue();

      try (Load load =
          Load.start(ledger, cluster.bootstrap(), 150, SEED, Map.of("linger.ms", "20"))) {
        cluster.roll(
            broker -> {
              assertThat(drained(broker))
                  .contains("nothing of Strata is left in the log directories", "exit code 0");
              return ContainerCluster.withoutStrata(broker.remove(), stock);
            });
        assertThat(load.isRunning()).as("the load goes on").isTrue();
      }
      ledger.assertNoneFailed();
      assertThat(ledger.verify(cluster.bootstrap()).records()).isEqualTo(ledger.acknowledged());
      assertThat(
              cluster
                  .broker(1)
                  .exec("bash", "-c", "cat /proc/1/cmdline /opt/kafka/config/server.properties")
                  .getStdout())
          .as("a stock broker's command line and properties")
          .doesNotContain("strata");
    }
  }

  private static boolean hot(ContainerNode broker) throws Exception {
    return broker
        .exec(
            "java",
            "-jar",
            "/opt/kafka/libs/strata-kafka.jar",
            "segments",
            "--config",
            "/opt/kafka/config/server.properties")
        .getStdout()
        .contains("hot");
  }

  private static String drained(ContainerNode broker) {
    try {
      return broker.strata("drain", "--config", "CONFIG");
    } catch (Exception e) {
      throw new AssertionError("drain did not run", e);
    }
  }
}
