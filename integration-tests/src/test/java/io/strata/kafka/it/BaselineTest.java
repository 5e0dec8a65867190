package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The harness on a stock broker without Strata: what fails here is no fault of the tier. Records
 * survive a clean stop and a {@code kill -9}, and the checker sees a change.
 */
@Tag("long")
class BaselineTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void recordsSurviveStopAndKill() throws Exception {
    StockBroker broker = WORK.closing(StockBroker.in(WORK.folder("broker")).build());
    broker.start();
    Topics.create(broker, "plain", 3, Map.of("segment.bytes", "1048576"));
    RecordLedger ledger = new RecordLedger("plain", 3, 1);
    ledger.produce(broker.bootstrap(), 5_000, 1_000);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(5_000);

    assertThat(broker.stop()).as("exit code after SIGTERM").isIn(0, 143);
    broker.start();
    ledger.produce(broker.bootstrap(), 1_000, 1_000);
    broker.kill();
    broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(6_000);
  }
}
