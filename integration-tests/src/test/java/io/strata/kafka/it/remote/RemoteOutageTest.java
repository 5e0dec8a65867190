package io.strata.kafka.it.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One of a store's two directories is unmounted lazily, on a stock broker. */
@Tag("long")
class RemoteOutageTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  private static final TopicPartition PARTITION = new TopicPartition("watched", 0);

  /** More than Kafka has threads for them. */
  private static final int PARKED = 12;

  private static final long MEASURED = TimeUnit.SECONDS.toNanos(8);

  @Test
  void theOtherDirectoryIsReadAtItsUsualRateAndRecordsComeSoonAfterwards(TestReporter report)
      throws Exception {
    assumeTrue(RemoteManager.ofThisRun() == RemoteManager.STRATA, "Kafka's has one directory");
    Path intact = WORK.folder("data-intact");
    ExecutorService parked = Executors.newFixedThreadPool(PARKED);
    try (TestMount mount = TestMount.bind(WORK.folder("data-real"), WORK.folder("data-mount"));
        StockBroker broker =
            TieredBrokers.over(intact)
                .alone(WORK.folder("broker"))
                .set("rsm.config.level-0.directories", intact + "," + mount.path())
                .set("rsm.config.level-0.capacity", "100MB")
                .build()
                .start()) {
      RecordLedger ledger = Tiers.topic(broker, PARTITION.topic(), 1, TieredBrokers.topic());
      ledger.produce(broker.bootstrap(), 12_000, 1_000);
      TieredBrokers.over(intact, mount.path()).awaitTiered(broker, PARTITION.topic(), 1, 10);
      List<Long> served = offsetsIn(intact);
      List<Long> away = offsetsIn(mount.path());
      assertThat(served).isNotEmpty();
      assertThat(away).isNotEmpty();

      double before = readsPerSecond(broker, served);
      mount.disappear();
      List<Future<Long>> first = new ArrayList<>();
      for (int i = 0; i < PARKED; i++) {
        long offset = away.get(i % away.size());
        first.add(parked.submit(() -> arrival(broker, offset)));
      }
      broker.awaitLogged("Reads fail", mount.path().toString());
      double meanwhile = readsPerSecond(broker, served);
      mount.comeBack();
      long back = System.nanoTime();
      long latest = 0;
      for (Future<Long> arrival : first) {
        assertThat(arrival.get()).as("before the directory was back").isGreaterThan(back);
        latest = Math.max(latest, arrival.get() - back);
      }
      report.publishEntry(
          "reads in a second before %.1f, meanwhile %.1f; the last first record after %d ms"
              .formatted(before, meanwhile, TimeUnit.NANOSECONDS.toMillis(latest)));
      // 0.8 and two seconds on a machine of its own.
      assertThat(meanwhile / before).isGreaterThan(0.5);
      assertThat(latest).isLessThan(TimeUnit.SECONDS.toNanos(10));
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(ledger.acknowledged());
    } finally {
      List<Runnable> unused = parked.shutdownNow();
    }
  }

  private static List<Long> offsetsIn(Path directory) throws IOException {
    return TieredBrokers.over(directory).segments(PARTITION.topic()).stream()
        .map(RemoteManager.Segment::startOffset)
        .sorted()
        .toList();
  }

  private static Consumer<byte[], byte[]> consumer(StockBroker broker) {
    Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(broker.bootstrap(), Map.of("max.partition.fetch.bytes", "100000"));
    consumer.assign(List.of(PARTITION));
    return consumer;
  }

  /** Reads each of the segments' first records in turn. */
  private static double readsPerSecond(StockBroker broker, List<Long> segments) {
    try (Consumer<byte[], byte[]> consumer = consumer(broker)) {
      int reads = 0;
      long begun = System.nanoTime();
      while (System.nanoTime() - begun < MEASURED) {
        awaitRecord(consumer, segments.get(reads % segments.size()));
        reads++;
      }
      return reads * 1e9 / (System.nanoTime() - begun);
    }
  }

  private static long arrival(StockBroker broker, long offset) {
    try (Consumer<byte[], byte[]> consumer = consumer(broker)) {
      awaitRecord(consumer, offset);
      return System.nanoTime();
    }
  }

  private static void awaitRecord(Consumer<byte[], byte[]> consumer, long offset) {
    consumer.seek(PARTITION, offset);
    assertThat(RecordLedger.first(consumer)).isEqualTo((int) offset);
  }
}
