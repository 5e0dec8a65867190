package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Reading;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.Record;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What producers and consumers see of moves: nothing. One broker with a pool of 32 MiB serves all;
 * each test sets what it needs on the live broker, and leaves an empty pool behind.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class MigrationTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int MIB = 1 << 20;

  /** Of the test of steady load: how often it fills the pool. */
  private static final int POOLS_FULL = Integer.getInteger("strata.it.steady.pools", 4);

  private static final int RATE = 12 * MIB;

  @RegisterExtension final Workspace work = new Workspace();

  private StockBroker broker;

  @BeforeAll
  void start() throws Exception {
    Path pool = work.newPool("hot", "32MiB", 256);
    broker = work.start(Tiers.broker(work.folder("broker"), pool));
  }

  @AfterEach
  void leaveNothing() throws Exception {
    Tiers.deleteTopics(broker);
    Tiers.reset(
        broker,
        "strata.migration.threshold",
        "strata.migration.mode",
        "strata.migration.promote",
        "strata.migration.rate.down");
    await()
        .untilAsserted(
            () -> assertThat(Tiers.usage(broker).used()).as("bytes of deleted topics").isZero());
    Tiers.assertAccounting(broker);
  }

  @Test
  void aSteadyLoadOfSeveralPoolsIsSeenByNobody() throws Exception {
    Tiers.alter(broker, Map.of("strata.migration.threshold", "0.25"));
    long overflows = Tiers.overflows(broker);
    long evicted = Tiers.total(broker, "EvictedBytesTotal");
    RecordLedger ledger = Tiers.topic(broker, "steady", 3);
    long capacity = Tiers.usage(broker).capacity();
    long records = POOLS_FULL * capacity / 8_500;
    String bootstrap = broker.bootstrap();
    List<Long> read = new ArrayList<>();
    try (Load load =
        Load.start(ledger, bootstrap, Load.Shape.ofBytesPerSecond(RATE), SEED, Map.of())) {
      assertThat(load.isRunning()).isTrue();
      await().until(() -> ledger.acknowledged() > 1_000);
      try (Reading tail = Reading.start(ledger, bootstrap, Reading.Start.TAIL);
          Reading middle = Reading.start(ledger, bootstrap, Reading.Start.MIDDLE);
          Reading beginning = Reading.start(ledger, bootstrap, Reading.Start.BEGINNING)) {
        await()
            .atMost(Duration.ofMinutes(2 + POOLS_FULL / 10))
            .pollInterval(Duration.ofMillis(500))
            .until(
                () -> {
                  assertThat(Tiers.usage(broker).used()).isLessThanOrEqualTo(capacity);
                  return ledger.acknowledged() > records;
                });
        for (Reading reading : List.of(tail, middle, beginning)) {
          read.add(reading.records());
        }
      }
    }
    ledger.assertNoneFailed();
    assertThat(read)
        .as("records read at the tail, from the middle and the beginning")
        .doesNotContain(0L);
    assertThat(Tiers.overflows(broker) - overflows).as("spills, %s", seed()).isZero();
    assertThat(Tiers.total(broker, "EvictedBytesTotal") - evicted)
        .as("bytes evicted")
        .isGreaterThan((POOLS_FULL - 2) * capacity);
    assertThat(ledger.verify(bootstrap).records()).isEqualTo(ledger.acknowledged());
  }

  @Test
  void aBurstOfTheReserveIsAbsorbedAndTheNextOneAfterTheDrainToo() throws Exception {
    RecordLedger ledger = Tiers.topic(broker, "bursts", 2);
    Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
    burst(ledger, Tiers.usage(broker).capacity() * 3 / 2);
    for (int round = 1; round <= 2; round++) {
      Tiers.awaitClean(broker, "hot");
      Tiers.Usage before = Tiers.usage(broker);
      assertThat(before.clean()).as("clean bytes before burst %d", round).isGreaterThan(8L * MIB);
      // No copy may help.
      Tiers.alter(broker, Map.of("strata.migration.threshold", "-1"));
      TimeUnit.MILLISECONDS.sleep(300);
      long overflows = Tiers.overflows(broker);
      // From four fifths dirty on some new segments begin in their log files.
      burst(ledger, before.capacity() * 4 / 5 - before.dirty() - 2 * Tiers.SEGMENT);
      assertThat(Tiers.overflows(broker) - overflows)
          .as("spills by burst %d into %s, %s", round, before, seed())
          .isZero();
      assertThat(Tiers.usage(broker).dirty())
          .as("dirty bytes after burst %d", round)
          .isGreaterThan(before.capacity() * 2 / 3);
      Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
    }
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(ledger.acknowledged());
  }

  private void burst(RecordLedger ledger, long bytes) {
    // Batches of 64 KiB: as many bytes of the pool as of records, and a little.
    ledger.produce(
        broker.bootstrap(),
        Math.toIntExact(bytes / 4_200),
        4_096,
        Map.of("batch.size", "65536", "linger.ms", "5"));
  }

  @Test
  void aFetchInFlightEndsThoughItsSegmentIsEvictedAndItsSpaceTaken() throws Exception {
    Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
    RecordLedger ledger = Tiers.topic(broker, "fetched", 1);
    ledger.produce(broker.bootstrap(), 3_000, 1_000);
    Tiers.awaitClean(broker, "hot");
    Path oldest = LogFiles.segments(LogFiles.partition(broker, "fetched", 0)).get(0);
    assertThat(LogFiles.isHot(oldest)).as("%s is in the pool", oldest).isTrue();
    TopicPartition partition = new TopicPartition("fetched", 0);
    try (SlowFetch fetch = SlowFetch.begin(broker, partition, 0, Tiers.SEGMENT)) {
      Tiers.alter(broker, Map.of("strata.migration.mode", "threshold"));
      await().until(() -> !LogFiles.isHot(oldest));
      burst(Tiers.topic(broker, "taker", 1), Tiers.usage(broker).capacity());
      assertThat(fetch.length()).as("bytes fetched").isGreaterThan(Tiers.SEGMENT * 9 / 10);
      assertNumbered(fetch.finish());
    }
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(3_000);
  }

  private static void assertNumbered(List<Record> records) {
    assertThat(records).hasSizeGreaterThan(800);
    long expected = 0;
    for (Record found : records) {
      ConsumerRecord<byte[], byte[]> consumed =
          new ConsumerRecord<>(
              "fetched", 0, found.offset(), bytes(found.key()), bytes(found.value()));
      assertThat(RecordLedger.check(consumed)).isEqualTo(Math.toIntExact(expected));
      assertThat(found.offset()).isEqualTo(expected++);
    }
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  @Test
  void nothingMovesAtTheBalancePoint() throws Exception {
    for (String mode : List.of("eager", "threshold")) {
      Tiers.alter(broker, Map.of("strata.migration.mode", mode));
      Tiers.topic(broker, "balanced-" + mode, 2).produce(broker.bootstrap(), 10_000, 8_000);
      Tiers.awaitQuiet(broker);
      List<Long> before = Tiers.moved(broker);
      TimeUnit.SECONDS.sleep(3);
      assertThat(Tiers.moved(broker))
          .as("bytes moved while nothing happens, %s", mode)
          .isEqualTo(before);
    }
  }

  @Test
  void whatWasEvictedComesBackWhenThereIsSpace() throws Exception {
    RecordLedger kept = Tiers.topic(broker, "kept", 1);
    kept.produce(broker.bootstrap(), 8_000, 1_000);
    RecordLedger pushing = Tiers.topic(broker, "pushing", 1);
    Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
    Path partition = LogFiles.partition(broker, "kept", 0);
    await()
        .until(
            () -> {
              pushing.produce(broker.bootstrap(), 4_000, 2_000);
              return LogFiles.hotSegments(partition).size() <= 1;
            });
    long promoted = Tiers.total(broker, "PromotedBytesTotal");
    Topics.delete(broker, "pushing");
    await()
        .untilAsserted(
            () ->
                assertThat(LogFiles.hotSegments(partition))
                    .as("segments in the pool")
                    .hasSameSizeAs(LogFiles.segments(partition)));
    assertThat(Tiers.total(broker, "PromotedBytesTotal")).isGreaterThan(promoted);
    assertThat(kept.verify(broker.bootstrap()).records()).isEqualTo(8_000);
  }

  private static String seed() {
    return "strata.it.seed=" + SEED;
  }
}
