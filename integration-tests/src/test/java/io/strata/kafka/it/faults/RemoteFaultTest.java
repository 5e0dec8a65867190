package io.strata.kafka.it.faults;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.Reading;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A store that is full, read-only, slow, or gone under a running broker: appends go on, what can be
 * read is read right, what cannot is an error with its path and never data, and everything goes on
 * when the store is well again. {@link FlippedBitTest} has one that is damaged.
 */
@Tag("long")
class RemoteFaultTest {

  private static final int MIB = 1 << 20;
  private static final int SIZE = 1_500;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void theStoreIsFull() throws Exception {
    try (TestMount small = TestMount.ext4(WORK.folder("small"), 24);
        StockBroker broker = tier(small).alone(WORK.folder("full")).build().start()) {
      RecordLedger first = Tiers.topic(broker, "first", 1, TieredBrokers.topic());
      first.produce(broker.bootstrap(), 3_000, SIZE);
      tier(small).awaitTiered(broker, "first", 1, 3);
      Path filler = FailingMedia.fill(small.path());
      RecordLedger second = Tiers.topic(broker, "second", 1, TieredBrokers.topic());
      second.produce(broker.bootstrap(), 3_000, SIZE);
      broker.awaitLogged(
          "second-0",
          RemoteManager.ofThisRun() == RemoteManager.STRATA
              ? "no space"
              : "No space left on device");
      assertThat(tier(small).segments("second")).isEmpty();
      Tiers.verify(broker, first, second);
      Files.delete(filler);
      tier(small).awaitTiered(broker, "second", 1, 3);
      Tiers.verify(broker, first, second);
    }
  }

  @Test
  void theStoreTurnsReadOnly() throws Exception {
    try (TestMount mount = TestMount.bind(WORK.folder("data-ro"), WORK.folder("data-ro-mount"));
        StockBroker broker = tier(mount).alone(WORK.folder("turns")).build().start()) {
      RecordLedger ledger = Tiers.topic(broker, "turned", 1, TieredBrokers.topic());
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      tier(mount).awaitTiered(broker, "turned", 1, 3);
      mount.turnReadOnly();
      int before = tier(mount).segments("turned").size();
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      broker.awaitLogged("turned-0", "Read-only file system");
      assertThat(tier(mount).segments("turned")).hasSize(before);
      Tiers.verify(broker, ledger);
      mount.disappear();
      mount.comeBack();
      tier(mount).awaitTiered(broker, "turned", 1, 6);
      Tiers.verify(broker, ledger);
    }
  }

  @Test
  void theStoreIsSlow() throws Exception {
    try (LogDevice device = LogDevice.ext4(WORK.folder("slow-device"), 96, 0);
        StockBroker broker = tier(device).alone(WORK.folder("slow")).build().start()) {
      RecordLedger ledger = Tiers.topic(broker, "slow", 1, TieredBrokers.topic());
      RecordLedger other = Tiers.topic(broker, "other", 1, TieredBrokers.topic());
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      other.produce(broker.bootstrap(), 500, SIZE);
      tier(device).awaitTiered(broker, "slow", 1, 3);
      // A chunk takes longer than Kafka waits for a fetch: Kafka retries.
      device.bytesPerSecond(MIB);
      for (RemoteManager.Segment segment : tier(device).segments("slow")) {
        LogDevice.forgetCached(segment.log());
      }
      long slowest = 0;
      try (Reading reading = Reading.start(ledger, broker.bootstrap(), Reading.Start.BEGINNING);
          Producer<byte[], byte[]> producer =
              RecordLedger.producer(broker.bootstrap(), Map.of("linger.ms", "0"))) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (reading.records() < 3_000 && System.nanoTime() < end) {
          long start = System.nanoTime();
          other.send(producer, 0, SIZE);
          producer.flush();
          slowest = Math.max(slowest, System.nanoTime() - start);
          TimeUnit.MILLISECONDS.sleep(20);
        }
        assertThat(reading.records()).as("records read").isGreaterThanOrEqualTo(3_000);
      }
      assertThat(slowest / 1_000_000).as("milliseconds of the slowest append").isLessThan(2_000);
      device.bytesPerSecond(0);
      Tiers.verify(broker, ledger, other);
    }
  }

  /** A copy that hangs would stop the partition's tiering for good. */
  @Test
  void aCopyEndsInItsTime() throws Exception {
    assumeOurs();
    try (LogDevice device = LogDevice.ext4(WORK.folder("hanging-device"), 96, 0);
        StockBroker broker =
            tier(device)
                .alone(WORK.folder("hanging"))
                .set("rsm.config.copy.timeout.ms", "1500")
                .build()
                .start()) {
      RecordLedger ledger = Tiers.topic(broker, "hanging", 1, TieredBrokers.topic());
      ledger.produce(broker.bootstrap(), 1_000, SIZE);
      tier(device).awaitTiered(broker, "hanging", 1, 1);
      device.bytesPerSecond(200_000);
      ledger.produce(broker.bootstrap(), 2_000, SIZE);
      broker.awaitLogged("hanging-0", "Copying", "1500 ms");
      device.bytesPerSecond(0);
      tier(device).awaitTiered(broker, "hanging", 1, 3);
      Tiers.verify(broker, ledger);
      await().until(() -> Jmx.value(broker, "type=Remote,name=StuckThreads") == 0);
    }
  }

  @Test
  void theStoreDisappearsAndComesBack() throws Exception {
    assumeOurs(); // Kafka's goes on below the mount point
    try (TestMount mount = TestMount.bind(WORK.folder("data-real"), WORK.folder("data-mount"));
        StockBroker broker = tier(mount).alone(WORK.folder("gone")).build().start()) {
      RecordLedger ledger = Tiers.topic(broker, "gone", 1, TieredBrokers.topic());
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      tier(mount).awaitTiered(broker, "gone", 1, 3);
      mount.disappear();
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      broker.awaitLogged("gone-0", "Copying", mount.path().toString());
      assertThat(FailingMedia.readInVain(broker, ledger, 0)).as("records read").isZero();
      broker.awaitLogged("Reads fail", mount.path().toString());
      // It took nothing for its store that is not.
      assertThat(RemoteManager.files(mount.path())).as("files below the mount point").isEmpty();
      RecordLedger other = Tiers.topic(broker, "other", 1);
      other.produce(broker.bootstrap(), 100, SIZE);
      Tiers.verify(broker, other);
      // Nor does it when it is started so.
      broker.restart();
      other.produce(broker.bootstrap(), 100, SIZE);
      Tiers.verify(broker, other);
      assertThat(FailingMedia.readInVain(broker, ledger, 0)).as("records read").isZero();
      assertThat(RemoteManager.files(mount.path())).as("files below the mount point").isEmpty();
      mount.comeBack();
      tier(mount).awaitTiered(broker, "gone", 1, 6);
      Tiers.verify(broker, ledger);
    }
  }

  // ---------------------------------------------------------------------------------------------

  private static void assumeOurs() {
    Assumptions.assumeTrue(
        RemoteManager.ofThisRun() == RemoteManager.STRATA, "Kafka's manager cannot do this");
  }

  private static TieredBrokers tier(TestMount mount) {
    return TieredBrokers.over(mount.path());
  }

  private static TieredBrokers tier(LogDevice device) {
    return TieredBrokers.over(device.path());
  }
}
