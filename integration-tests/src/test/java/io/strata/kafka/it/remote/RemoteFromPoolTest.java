package io.strata.kafka.it.remote;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * How segments get from a pool to the store: their bytes from the pool while they are nowhere else,
 * and by shared blocks, without copying any, when the log file has them and the file system, which
 * is the store's too, can share.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class RemoteFromPoolTest {

  private static final int RECORDS = 4_000;
  private static final int SIZE = 1_500;

  @RegisterExtension final Workspace work = new Workspace();

  private TieredBrokers tier;
  private StockBroker broker;

  @BeforeAll
  void start() throws Exception {
    Assumptions.assumeTrue(RemoteManager.ofThisRun() == RemoteManager.STRATA, "how ours copies");
    Path disk = work.folder("data");
    tier = TieredBrokers.over(Files.createDirectory(disk.resolve("data-store")));
    broker =
        work.start(
            tier.withPools(
                    Files.createDirectory(disk.resolve("broker")),
                    work.newPool("hot", "96MiB", 256))
                .set("strata.migration.threshold", "-1")
                .set("strata.migration.promote", "false"));
  }

  @Test
  @Order(1)
  void hotSegmentsAreCopiedFromThePool() throws Exception {
    RecordLedger ledger =
        Tiers.topic(broker, "hot", 1, TieredBrokers.topic("local.retention.bytes", "-2"));
    ledger.produce(broker.bootstrap(), RECORDS, SIZE);
    List<Path> sealed = awaitCopied("hot");
    for (Path segment : sealed) {
      assertThat(LogFiles.isHot(segment)).as("%s is in the pool", segment).isTrue();
      assertThat(LogFiles.allocatedBytes(segment))
          .as("bytes of %s in the log file", segment)
          .isZero();
    }
    assertThat(StoreAudit.assertNothingPartial(tier.directories().get(0)))
        .as("bytes in the store")
        .isGreaterThan(3L * TieredBrokers.SEGMENT);
    assertReadFromTheStore(ledger, sealed);
  }

  @Test
  @Order(2)
  void cleanSegmentsAreCopied() throws Exception {
    RecordLedger ledger =
        Tiers.topic(broker, "clean", 1, Map.of("segment.bytes", "" + TieredBrokers.SEGMENT));
    ledger.produce(broker.bootstrap(), RECORDS, SIZE);
    Tiers.alter(
        broker, Map.of("strata.migration.threshold", "0", "strata.migration.mode", "eager"));
    Tiers.awaitClean(broker, "hot");
    assertThat(Tiers.usage(broker).clean()).as("clean bytes").isPositive();
    assertCopied(ledger, "clean");
  }

  @Test
  @Order(3)
  void segmentsThatHaveLeftThePoolAreCopied() throws Exception {
    RecordLedger ledger =
        Tiers.topic(broker, "evicted", 1, Map.of("segment.bytes", "" + TieredBrokers.SEGMENT));
    ledger.produce(broker.bootstrap(), RECORDS, SIZE);
    Tiers.alter(
        broker, Map.of("strata.migration.threshold", "0", "strata.migration.mode", "threshold"));
    Path partition = LogFiles.partition(broker, "evicted", 0);
    await()
        .untilAsserted(
            () -> assertThat(LogFiles.hotSegments(partition)).hasSizeLessThanOrEqualTo(1));
    assertCopied(ledger, "evicted");
  }

  // ---------------------------------------------------------------------------------------------

  private void assertCopied(RecordLedger ledger, String topic) throws Exception {
    Topics.alter(
        broker, topic, Map.of("remote.storage.enable", "true", "local.retention.bytes", "-2"));
    List<Path> sealed = awaitCopied(topic);
    long unused = StoreAudit.assertNothingPartial(tier.directories().get(0));
    assertReadFromTheStore(ledger, sealed);
  }

  /** Waits until all sealed segments are in the store; they are here too. */
  private List<Path> awaitCopied(String topic) throws IOException {
    Path partition = LogFiles.partition(broker, topic, 0);
    List<Path> all = LogFiles.segments(partition);
    List<Path> sealed = all.subList(0, all.size() - 1);
    assertThat(sealed).hasSizeGreaterThan(3);
    await().untilAsserted(() -> assertThat(tier.segments(topic)).hasSize(sealed.size()));
    assertThat(LogFiles.segments(partition)).as("local segments of %s", topic).isEqualTo(all);
    return sealed;
  }

  /** Drops the local ones; what is read then can come from the store alone. */
  private void assertReadFromTheStore(RecordLedger ledger, List<Path> sealed) throws Exception {
    Topics.alter(broker, ledger.topic(), Map.of("local.retention.bytes", "1"));
    tier.awaitTiered(broker, ledger.topic(), 1, sealed.size());
    await().until(() -> sealed.stream().noneMatch(Files::exists));
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(RECORDS);
  }
}
