package io.strata.kafka.it.remote;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Brokers of a cluster die under load, again and again, while their leaders copy to one store of
 * two levels, delete from it, and one of them moves segments between the levels: another goes on
 * with all of it, every record can be read from the leader, and the store is whole.
 */
@Tag("long")
class RemoteClusterKillTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int CYCLES = Integer.getInteger("strata.it.remote.kill.cycles", 4);

  private static final Map<String, String> PATIENT =
      Map.of("delivery.timeout.ms", "1200000", "reconnect.backoff.max.ms", "200");

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  @SuppressWarnings("try") // the loads work by being open
  void anotherBrokerGoesOn() throws Exception {
    Assumptions.assumeTrue(
        RemoteManager.ofThisRun() == RemoteManager.STRATA, "the levels are those of our manager");
    Random random = new Random(SEED);
    TieredBrokers tier = TieredBrokers.over(WORK.folder("data-upper"), WORK.folder("data-lower"));
    RemoteCluster cluster =
        RemoteCluster.start(
            WORK,
            "broker",
            tier,
            builder ->
                builder
                    .set("rsm.config.level-0.capacity", "12MiB")
                    .set("rsm.config.migration.threshold", "0"));
    RecordLedger steady = cluster.topic("steady", TieredBrokers.topic(), 1, 2, 3);
    RecordLedger retained =
        cluster.topic("retained", TieredBrokers.topic("retention.bytes", "4000000"), 3, 2, 1);
    try (Load first = load(cluster, steady);
        Load second = load(cluster, retained)) {
      for (int cycle = 0; cycle < CYCLES; cycle++) {
        TimeUnit.MILLISECONDS.sleep(1_000 + random.nextInt(3_000));
        StockBroker victim = cluster.broker(2 + random.nextInt(2));
        victim.kill();
        assertWhole(tier);
        victim.start();
        cluster.awaitInSync("steady", Set.of(1, 2, 3));
        cluster.awaitInSync("retained", Set.of(1, 2, 3));
      }
    }
    steady.assertNoneFailed();
    retained.assertNoneFailed();
    StockBroker leader = cluster.broker(cluster.state("steady").leader().id());
    tier.awaitTiered(leader, "steady", 1, 3);
    assertThat(steady.verify(cluster.bootstrap()).records())
        .as("records, %s", seed())
        .isEqualTo(steady.acknowledged());
    assertThat(retained.verifyNewest(cluster.bootstrap(), 4_000_000).records())
        .as(seed())
        .isPositive();
    assertWhole(tier);
    for (StockBroker broker : cluster.brokers()) {
      assertThat(broker.output())
          .as("log of broker %s, %s", broker.property("node.id"), seed())
          .doesNotContain("CorruptChunkException", "CorruptManifestException");
    }
    Topics.delete(cluster.broker(1), "steady");
    Topics.delete(cluster.broker(1), "retained");
    tier.awaitNothingOf("steady");
    tier.awaitNothingOf("retained");
  }

  private static void assertWhole(TieredBrokers tier) {
    // A segment's directory may be renamed away while it is looked at: then it is looked at again.
    await()
        .ignoreExceptionsInstanceOf(IOException.class)
        .untilAsserted(
            () -> {
              for (Path directory : tier.directories()) {
                long unused = StoreAudit.assertNothingPartial(directory);
              }
            });
  }

  private static Load load(RemoteCluster cluster, RecordLedger ledger) {
    return Load.start(
        ledger, cluster.bootstrap(), Load.Shape.ofBytesPerSecond(2 << 20), SEED, PATIENT);
  }

  private static String seed() {
    return "strata.it.seed=" + SEED;
  }
}
