package io.strata.kafka.it.starts;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The reporter is added to a broker that runs without the flag, as one with the remote tier alone
 * does: Kafka has loaded its logs, so there is nothing left to protect by ending it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LiveReporterTest {

  @RegisterExtension final Workspace work = new Workspace();

  @Test
  void addedWithoutTheFlagEndsNoBroker() throws Exception {
    StockBroker broker = work.start(StockBroker.in(work.folder("broker")).jarAlone());
    RecordLedger ledger = Tiers.topic(broker, "plain", 1);
    ledger.produce(broker.bootstrap(), 100, 100);

    Tiers.alter(broker, Map.of("metric.reporters", StockBroker.REPORTERS));
    broker.awaitLogged("provider is not active");

    assertThat(broker.isRunning()).isTrue();
    ledger.produce(broker.bootstrap(), 100, 100);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(200);

    // Kafka has stored the key, and hands it over when the logs are loaded.
    broker.restart();
    broker.awaitLogged("provider is not active");
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(200);
  }
}
