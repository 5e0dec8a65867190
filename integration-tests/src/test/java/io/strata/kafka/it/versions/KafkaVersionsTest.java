package io.strata.kafka.it.versions;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.harness.Reading;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The one jar on stock brokers of every release of Kafka that it is for: the remote tier's data
 * comes back, its errors are errors, and a pool keeps what was acknowledged.
 */
@Tag("long")
class KafkaVersionsTest {

  private static final int RECORDS = 3_000;
  private static final int SIZE = 1_500;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @ParameterizedTest
  @MethodSource("io.strata.kafka.it.harness.KafkaVersion#ofTheCore")
  void theRemoteTierIsReadFromTheBeginningAndItsErrorsAreErrors(KafkaVersion version)
      throws Exception {
    Path store = WORK.folder("store-" + version);
    TieredBrokers tier = TieredBrokers.over(store).with(RemoteManager.STRATA);
    try (StockBroker broker =
        tier.alone(WORK.folder("remote-" + version)).kafka(version).build().start()) {
      RecordLedger ledger = Tiers.topic(broker, "tiered", 1, TieredBrokers.topic());
      ledger.produce(broker.bootstrap(), RECORDS, SIZE);
      tier.awaitTiered(broker, "tiered", 1, 3);
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(RECORDS);

      // Nothing is there for a while: what is not found, and what cannot be copied, is said.
      Path away = store.resolveSibling("away-" + version);
      Path unused = Files.move(store, away);
      try (Reading reading = Reading.start(ledger, broker.bootstrap(), Reading.Start.BEGINNING)) {
        ledger.produce(broker.bootstrap(), RECORDS, SIZE);
        broker.awaitLogged("Remote store: Reads fail", store.toString());
        broker.awaitLogged("Copying tiered-0", store.toString());
        // A read has failed when it has waited for the store as long as Kafka does.
        await()
            .until(
                () ->
                    Jmx.sum(broker, "type=RemoteOperation,name=FailuresTotal,operation=fetch,*")
                        > 0);
        assertThat(reading.records()).isZero();
      }
      assertThat(Jmx.sum(broker, "type=RemoteOperation,name=FailuresTotal,operation=copy,*"))
          .isPositive();
      assertThat(Jmx.sum(broker, "type=RemoteOperation,name=FailuresTotal,cause=fault,*")).isZero();
      Files.move(away, store);
      tier.awaitTiered(broker, "tiered", 1, 6);
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(2 * RECORDS);
      assertThat(broker.output()).doesNotContain("NoClassDefFoundError");

      Topics.delete(broker, "tiered");
      await().until(() -> tier.segments("tiered").isEmpty());
    }
  }

  @ParameterizedTest
  @MethodSource("io.strata.kafka.it.harness.KafkaVersion#ofTheCore")
  void aPoolKeepsWhatWasAcknowledgedThroughAKill(KafkaVersion version) throws Exception {
    Path pool = WORK.newPool("hot-" + version, "24MiB", 256);
    try (StockBroker broker =
        Tiers.broker(WORK.folder("pool-" + version), pool).kafka(version).build().start()) {
      RecordLedger ledger = Tiers.topic(broker, "hot", 1);
      for (int round = 1; round <= 2; round++) {
        ledger.produce(broker.bootstrap(), RECORDS, SIZE);
        broker.kill();
        StockBroker unused = broker.start();
        assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo((long) round * RECORDS);
      }
      assertThat(Jmx.value(broker, "type=Segments,name=Hot")).isPositive();
      assertThat(Jmx.publishers(broker).values())
          .as("the reporter of Kafka's own registry, which has them all")
          .isNotEmpty()
          .allMatch(publisher -> publisher.startsWith("com.yammer.metrics.reporting.JmxReporter$"));
      assertThat(broker.stop()).as("exit code after SIGTERM").isIn(0, 143);
    }
  }
}
