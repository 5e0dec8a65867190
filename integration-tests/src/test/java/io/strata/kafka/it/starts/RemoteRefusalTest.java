package io.strata.kafka.it.starts;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Stores and settings that a broker must not start with, or must not read from silently. */
class RemoteRefusalTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  @BeforeEach
  void ours() {
    Assumptions.assumeTrue(RemoteManager.ofThisRun() == RemoteManager.STRATA, "what ours refuses");
  }

  @Test
  void keysAreMalformed() throws Exception {
    Path store = WORK.folder("data-keys");
    StockBroker broker =
        TieredBrokers.over(store)
            .alone(WORK.folder("keys"))
            .set("rsm.config.level-0.directories", store + "," + store.resolve("missing"))
            .set("rsm.config.level-0.capacity", "much")
            .set("rsm.config.fetch.timeout.ms", "soon")
            .build();
    assertRefused(
        broker,
        store.resolve("missing").toString(),
        "rsm.config.level-0.capacity",
        "'much'",
        "rsm.config.fetch.timeout.ms",
        "'soon'");
  }

  @Test
  void levelsAreMissing() throws Exception {
    StockBroker broker =
        TieredBrokers.over(WORK.folder("data-levels")).alone(WORK.folder("levels")).build();
    assertRefused(broker.unset("rsm.config.levels"), "rsm.config.levels");
  }

  @Test
  void classesWouldLoadTwice() throws Exception {
    StockBroker broker =
        TieredBrokers.over(WORK.folder("data-twice"))
            .alone(WORK.folder("twice"))
            .set("remote.log.storage.manager.class.path", Distribution.strataJar().toString())
            .build();
    assertRefused(broker, "remote.log.storage.manager.class.path");
  }

  @Test
  @Tag("long")
  void theStoreIsOfAnotherCluster() throws Exception {
    Path store = WORK.folder("data-shared");
    StockBroker first = TieredBrokers.over(store).alone(WORK.folder("first")).build();
    try (first) {
      first.start().kill();
    }
    StockBroker second = TieredBrokers.over(store).alone(WORK.folder("second")).build();
    assertRefused(second, store.toString(), first.clusterId(), second.clusterId());
    // And the first one's is untouched.
    try (first) {
      first.start().kill();
    }
  }

  @Test
  @Tag("long")
  void brokersOfOneClusterHaveDifferentStores() throws Exception {
    StockBroker one =
        WORK.start(
            TieredBrokers.over(WORK.folder("data-one"))
                .alone(WORK.folder("one"))
                .set("auto.leader.rebalance.enable", "false"));
    Path elsewhere = WORK.folder("data-two");
    StockBroker two =
        WORK.start(TieredBrokers.over(elsewhere).alone(WORK.folder("two")).joining(one, 2));
    TieredBrokers tier = TieredBrokers.over(WORK.folder("data-one"));
    TopicPartition partition = new TopicPartition("apart", 0);
    try (Admin admin = one.admin()) {
      Topics.create(admin, "apart", TieredBrokers.topic(), 1);
      RecordLedger ledger = new RecordLedger("apart", 1, 1);
      ledger.produce(one.bootstrap(), 2_000, 1_500);
      tier.awaitTiered(one, "apart", 1, 2);
      Topics.await(
          admin
              .alterPartitionReassignments(
                  Map.of(partition, Optional.of(new NewPartitionReassignment(List.of(2, 1)))))
              .all());
      // The new replica asks its store for what the old one wrote to another.
      two.awaitLogged("apart-0", "Broker 1 wrote it", elsewhere.toString());
      // From the broker that wrote it, it can be read.
      assertThat(ledger.verify(one.bootstrap()).records()).isEqualTo(2_000);
    }
  }

  private static void assertRefused(StockBroker broker, String... said) throws Exception {
    try (broker) {
      Refusals.assertWhileStarting(broker.startRefused(), said);
    }
  }
}
