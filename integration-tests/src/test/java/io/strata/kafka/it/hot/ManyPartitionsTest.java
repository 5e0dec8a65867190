package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.Reading;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many partitions on one broker. */
@Tag("long")
class ManyPartitionsTest {

  private static final int PARTITIONS = 2_000;
  private static final int RECORD = 1_000;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void startRunAndRestart() throws Exception {
    Path pool = WORK.pool("many");
    Pools.strata("pool", "create", "--size", "256MiB", "--slots", "4096", pool.toString()).orFail();
    StockBroker broker = WORK.start(StockBroker.in(WORK.folder("broker")).strata(pool));
    RecordLedger ledger = Tiers.topic(broker, "many", PARTITIONS);
    ledger.produce(broker.bootstrap(), 2 * PARTITIONS, 1_000);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(2 * PARTITIONS);
    List<Path> partitions = LogFiles.partitions(broker.logDirectory(), "many");
    assertThat(partitions).hasSize(PARTITIONS);
    for (Path partition : partitions) {
      assertThat(LogFiles.hotSegments(partition)).as("hot segments of %s", partition).hasSize(1);
    }

    broker.restart();
    ledger.produce(broker.bootstrap(), PARTITIONS, 1_000);
    broker.killAndStart();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(3 * PARTITIONS);
    broker.stop();
  }

  /**
   * A pool that has space for a small part of each segment: 0.6 MiB of 4 MiB, where 2,000
   * partitions of segments of 1 GiB in a pool of 16 GiB have 8 MiB. Producers stay below what the
   * log directory takes.
   */
  @Test
  void segmentsRollWithoutASpillAndTheTailIsReadFromThePool() throws Exception {
    int partitions = 200;
    int batch = 64_000;
    Path pool = WORK.newPool("steady", "128MiB", 1024);
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("steady-broker"), pool)
                .set("log.segment.bytes", "" + (4 << 20)));
    RecordLedger ledger = Tiers.topic(broker, "steady", partitions);
    Path first = LogFiles.partition(broker, "steady", 0);
    try (Reading tail = Reading.start(ledger, broker.bootstrap(), Reading.Start.TAIL)) {
      // Until the consumer has found where the tails are.
      await()
          .until(
              () -> {
                ledger.produce(broker.bootstrap(), partitions, RECORD);
                return tail.records() > 0;
              });
      while (LogFiles.segments(first).size() < 3) {
        long before = tail.records();
        int sent = partitions * batch / RECORD;
        ledger.produce(broker.bootstrap(), sent, RECORD);
        // It is at the tail as long as it has read all before: a busy machine may hold it up.
        await().until(() -> tail.records() >= before + sent);
        // There is no more to be had when only the last extents of the active segments are dirty.
        await()
            .until(
                () -> {
                  Tiers.Usage usage = Tiers.usage(broker);
                  return usage.reserve() > 3L * partitions * batch
                      || usage.dirty() == usage.active();
                });
      }
    }
    assertThat(Tiers.total(broker, "SpilledBytesTotal")).isZero();
    assertThat(Tiers.overflows(broker)).isZero();
    assertThat(Jmx.value(broker, "type=Read,name=LogFileBytesTotal"))
        .as("bytes that the consumer at the tail read from log files")
        .isZero();
    // Without what active segments keep.
    await()
        .until(
            () -> {
              Tiers.Usage usage = Tiers.usage(broker);
              return usage.dirty() - usage.active() <= usage.capacity() / 2;
            });
    assertThat(Tiers.usage(broker).clean()).isPositive();
    Tiers.verify(broker, ledger);
  }
}
