package io.strata.kafka.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.it.remote.RemoteCluster;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Three brokers with pools and one store are rolled from one release of Kafka to the next under
 * load, and back while the metadata version allows it. One of them is killed instead of stopped,
 * each way.
 */
@Tag("long")
class KafkaUpgradeTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final String TOPIC = "rolled";

  /** The controller's broker last: without it no leader is elected. */
  private static final int[] ORDER = {3, 2, 1};

  private static final int KILLED = 2;
  private static final String VERSION = "Kafka version: ";

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void toTheNextReleaseAndBack() throws Exception {
    Assumptions.assumeTrue(RemoteManager.ofThisRun() == RemoteManager.STRATA, "our store");
    System.out.println("seed " + SEED);
    TieredBrokers tier = TieredBrokers.over(WORK.folder("store"));
    AtomicInteger pools = new AtomicInteger();
    try (RemoteCluster cluster =
        RemoteCluster.start(
            WORK,
            "roll",
            tier,
            builder ->
                builder
                    .kafka(KafkaVersion.V4_3)
                    .strata(WORK.pool("roll-" + pools.incrementAndGet()))
                    .set("strata.pool.create", "64MiB"))) {
      RecordLedger ledger =
          cluster.topic(TOPIC, TieredBrokers.topic("min.insync.replicas", "2"), 1, 2, 3);
      ledger.produce(cluster.bootstrap(), 3_000, 1_500);
      rollUnderLoad(cluster, ledger, KafkaVersion.CURRENT);
      rollUnderLoad(cluster, ledger, KafkaVersion.V4_3);
      assertThat(tier.segments(TOPIC)).as("segments in the store").isNotEmpty();
    }
  }

  private static void rollUnderLoad(RemoteCluster cluster, RecordLedger ledger, KafkaVersion to)
      throws Exception {
    try (Load load = Load.start(ledger, cluster.bootstrap(), 300, SEED, Map.of("linger.ms", "5"))) {
      for (int id : ORDER) {
        StockBroker broker = cluster.broker(id);
        if (id == KILLED) {
          broker.kill();
        } else {
          assertThat(broker.stop()).as("exit code after SIGTERM").isIn(0, 143);
        }
        StockBroker unused = broker.kafka(to).start();
        String output = broker.output();
        assertThat(output.substring(output.lastIndexOf(VERSION))).startsWith(VERSION + to);
        cluster.awaitInSync(TOPIC, Set.of(1, 2, 3));
      }
      assertThat(load.isRunning()).as("the load goes on").isTrue();
    }
    ledger.assertNoneFailed();
    assertThat(ledger.verify(cluster.bootstrap()).records()).isEqualTo(ledger.acknowledged());
  }
}
