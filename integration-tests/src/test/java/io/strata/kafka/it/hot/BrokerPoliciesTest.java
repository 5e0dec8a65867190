package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The policies on a broker: what each of them keeps in the pool, and what leaves it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class BrokerPoliciesTest {

  private static final int MIB = 1 << 20;

  @RegisterExtension final Workspace work = new Workspace();

  private StockBroker broker;

  @BeforeAll
  void start() throws Exception {
    Path pool = work.newPool("hot", "32MiB", 256);
    broker =
        work.start(
            Tiers.broker(work.folder("broker"), pool)
                .set("strata.migration.policy.after", "4s")
                .set("strata.migration.threshold", "0.9")
                .set("strata.migration.mode", "threshold"));
  }

  @AfterEach
  void leaveNothing() throws Exception {
    Tiers.reset(broker, "strata.migration.policy", "strata.migration.threshold");
    Tiers.deleteTopics(broker);
    await().until(() -> Tiers.usage(broker).used() == 0);
  }

  @Test
  void agedSegmentsLeaveThoughThereIsSpace() throws Exception {
    Tiers.alter(broker, Map.of("strata.migration.policy", "age"));
    RecordLedger ledger = Tiers.topic(broker, "aging", 1);
    ledger.produce(broker.bootstrap(), 6_000, 1_000);
    assertThat(hot("aging")).as("young segments in the pool").isGreaterThan(4);
    await().until(() -> hot("aging") == 1);
    assertThat(Tiers.usage(broker).used()).as("used bytes").isLessThan(3L * MIB);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(6_000);
  }

  @Test
  void whatIsReadStaysAndWhatIsNotLeaves() throws Exception {
    Tiers.alter(
        broker, Map.of("strata.migration.policy", "access", "strata.migration.threshold", "0.9"));
    RecordLedger read = Tiers.topic(broker, "read", 1);
    read.produce(broker.bootstrap(), 8_000, 1_000);
    RecordLedger unread = Tiers.topic(broker, "unread", 1);
    unread.produce(broker.bootstrap(), 8_000, 1_000);
    assertThat(read.verify(broker.bootstrap()).records()).isEqualTo(8_000);
    Tiers.alter(broker, Map.of("strata.migration.threshold", "0.4"));
    await().until(() -> hot("unread") <= 4);
    assertThat(hot("read"))
        .as("segments of the topic that is read, older than those that left")
        .isGreaterThanOrEqualTo(8);
  }

  @Test
  void theNewestStays() throws Exception {
    RecordLedger older = Tiers.topic(broker, "older", 1);
    older.produce(broker.bootstrap(), 8_000, 1_000);
    RecordLedger newer = Tiers.topic(broker, "newer", 1);
    newer.produce(broker.bootstrap(), 8_000, 1_000);
    assertThat(older.verify(broker.bootstrap()).records()).isEqualTo(8_000);
    Tiers.alter(broker, Map.of("strata.migration.threshold", "0.4"));
    await().until(() -> hot("older") <= 4);
    assertThat(hot("newer")).as("segments of the newer topic").isGreaterThanOrEqualTo(8);
  }

  private int hot(String topic) throws IOException {
    return LogFiles.hotSegments(LogFiles.partition(broker, topic, 0)).size();
  }
}
