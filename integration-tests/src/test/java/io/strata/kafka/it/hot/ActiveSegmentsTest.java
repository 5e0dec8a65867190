package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Segments that Kafka never seals: of Kafka's default size of 1 GiB, in a pool that is a small part
 * of what they could grow to. The pool keeps the newest bytes of each, and no append spills.
 */
class ActiveSegmentsTest {

  private static final int PARTITIONS = 30;
  private static final int RECORDS = 4_000;
  private static final int SIZE = 1_000;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void thePoolKeepsTheNewestBytesOfSegmentsThatAreLargerThanIt() throws Exception {
    Path pool = WORK.newPool("pool", "48MiB", 128);
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("broker"), pool).set("log.segment.bytes", "" + (1 << 30)));
    RecordLedger steady = Tiers.topic(broker, "steady", PARTITIONS);
    RecordLedger one = Tiers.topic(broker, "one", 1);
    for (int round = 0; round < 14; round++) {
      steady.produce(broker.bootstrap(), RECORDS, SIZE);
      one.produce(broker.bootstrap(), RECORDS, SIZE);
      // Below the bandwidth of the log directory, however slow that is. In one round all partitions
      // of a topic may want their next extent, which is as long as what they have. There is no
      // more to be had when only the last extents of the segments are dirty.
      await().until(() -> hasReserve(Tiers.usage(broker)));
    }
    assertThat(Tiers.overflows(broker)).as("segments that have spilled").isZero();
    assertThat(Jmx.value(broker, "type=Tier,name=EvictedBytesTotal,tier=hot"))
        .as("bytes evicted, of segments of which none is sealed")
        .isPositive();
    for (Path partition : LogFiles.partitions(broker.logDirectory(), "steady")) {
      assertThat(LogFiles.hotSegments(partition)).hasSize(1);
    }
    Path only = LogFiles.partitions(broker.logDirectory(), "one").get(0);
    assertThat(Files.size(LogFiles.segments(only).get(0)))
        .as("bytes of one segment in its log file")
        .isGreaterThan(Tiers.usage(broker).capacity());
    Tiers.verify(broker, steady, one);
    Tiers.assertAccounting(broker);

    goesOnAfterAKillAndADrain(broker, steady, one);
  }

  private static boolean hasReserve(Tiers.Usage usage) {
    return usage.reserve() > 5 * RECORDS * SIZE || usage.dirty() == usage.active();
  }

  private static void goesOnAfterAKillAndADrain(StockBroker broker, RecordLedger... ledgers)
      throws Exception {
    broker.killAndStart();
    Tiers.verify(broker, ledgers);
    for (RecordLedger ledger : ledgers) {
      ledger.produce(broker.bootstrap(), RECORDS, SIZE);
    }
    Tiers.verify(broker, ledgers);
    Tiers.audit(broker);

    broker.strata("drain").orFail();
    broker.withoutStrata().start();
    Tiers.verify(broker, ledgers);
    broker.stop();
  }

  /** More idle partitions than the pool has slots, and some that have a few bytes. */
  @Test
  void idlePartitionsLeaveTheSlotsToOthers() throws Exception {
    Path pool = WORK.newPool("slots", "32MiB");
    StockBroker broker = WORK.start(Tiers.broker(WORK.folder("slots-broker"), pool));
    RecordLedger few = Tiers.topic(broker, "few", 5);
    few.produce(broker.bootstrap(), 5, 10);
    RecordLedger idle = Tiers.topic(broker, "idle", 40);
    await().until(() -> Jmx.value(broker, "type=Pool,name=FreeSlots,*") > 0);
    RecordLedger records = Tiers.topic(broker, "records", 1);
    records.produce(broker.bootstrap(), RECORDS, SIZE);
    Path partition = LogFiles.partitions(broker.logDirectory(), "records").get(0);
    assertThat(LogFiles.hotSegments(partition)).isNotEmpty();
    assertThat(Jmx.value(broker, "type=Broker,name=Health")).isZero();
    assertThat(idle.acknowledged()).isZero();

    goesOnAfterAKillAndADrain(broker, few, records);
  }

  /** One partition that has spilled, and one that has found no space in the pool. */
  @Tag("long")
  @Test
  void appendsGoToThePoolAgainWhenItHasSpace() throws Exception {
    Path pool = WORK.newPool("full", "16MiB", 64);
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("full-broker"), pool).set("strata.migration.threshold", "-1"));
    RecordLedger spilled = Tiers.topic(broker, "spilled", 1);
    while (Tiers.overflows(broker) == 0) {
      spilled.produce(broker.bootstrap(), RECORDS, SIZE);
    }
    RecordLedger late = Tiers.topic(broker, "late", 1);
    late.produce(broker.bootstrap(), 10, SIZE);
    Path partition = LogFiles.partitions(broker.logDirectory(), "late").get(0);
    assertThat(LogFiles.hotSegments(partition)).isEmpty();

    Tiers.alter(broker, Map.of("strata.migration.threshold", "0.5"));
    await()
        .until(
            () -> {
              long before = Tiers.total(broker, "SpilledBytesTotal");
              spilled.produce(broker.bootstrap(), 10, SIZE);
              late.produce(broker.bootstrap(), 10, SIZE);
              return !LogFiles.hotSegments(partition).isEmpty()
                  && Tiers.total(broker, "SpilledBytesTotal") == before;
            });
    assertThat(LogFiles.segments(partition)).hasSize(1);
    Tiers.verify(broker, spilled, late);

    goesOnAfterAKillAndADrain(broker, spilled, late);
  }
}
