package io.strata.kafka.it.faults;

import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Pool files whose file system fails, or that are taken away, under a running broker; beside {@link
 * FaultTest}, where one is truncated, and {@code RefusalTest}, where a broker does not start.
 */
@Tag("long")
class PoolFaultTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  /** The broker has the file itself, whatever becomes of its name. */
  @Test
  void theFileIsReplacedUnderARunningBroker() throws Exception {
    Path pool = WORK.newPool("replaced", "32MiB", 128);
    try (StockBroker broker =
        Tiers.broker(WORK.folder("replaced"), pool)
            .set("strata.migration.threshold", "-1")
            .build()
            .start()) {
      RecordLedger ledger = FailingMedia.topic(broker, "hot", Tiers.SEGMENT, 3_000);
      Path away = pool.resolveSibling("away.pool");
      Files.move(pool, away);
      ledger.produce(broker.bootstrap(), 3_000, 1_000);
      FailingMedia.assertAllThere(broker, ledger);
      // A new one of the operator's, who has seen that the file is not there.
      Pools.create(pool, "32MiB", 128);
      ledger.produce(broker.bootstrap(), 1_000, 1_000);
      FailingMedia.assertAllThere(broker, ledger);
      broker.kill();

      FailingMedia.assertRefused(broker, pool.toString(), "hot-0");
      Files.delete(pool);
      FailingMedia.assertRefused(broker, pool.toString(), "hot-0", "accept-loss");
      Files.move(away, pool, StandardCopyOption.ATOMIC_MOVE);
      broker.start();
      FailingMedia.assertAllThere(broker, ledger);
      Tiers.audit(broker);
    }
  }

  @Test
  void theDeviceCannotBeReadAtAStartAndFailsWritesLater() throws Exception {
    try (LogDevice device = LogDevice.ext4(WORK.folder("device"), 96, 0)) {
      Path pool = Pools.create(device.path().resolve("hot.pool"), "64MiB", 128);
      StockBroker broker =
          WORK.start(
              Tiers.broker(WORK.folder("device-broker"), pool)
                  .set("strata.migration.threshold", "-1"));
      RecordLedger ledger = FailingMedia.topic(broker, "hot", Tiers.SEGMENT, 5_000);
      broker.stop();
      LogDevice.forgetCached(pool);
      device.failReads();
      FailingMedia.assertRefused(broker, pool.toString());
      device.heal();
      broker.start();
      FailingMedia.assertAllThere(broker, ledger);

      // Kafka flushes each batch of this one: it must learn of it.
      RecordLedger flushed =
          FailingMedia.topic(
              broker, "flushed", Map.of("flush.messages", "1", "segment.bytes", "4194304"));
      flushed.produce(broker.bootstrap(), 100, 1_000);
      device.failWrites();
      FailingMedia.attempt(flushed, broker, 100, 1_000);
      FailingMedia.assertOffline(broker, "Error while flushing log for flushed-0");
      FailingMedia.assertLogged(broker, "Input/output error");
      FailingMedia.assertLogged(broker, pool.toString());
      device.heal();
      broker.start();
      FailingMedia.assertAllThere(broker, ledger, flushed);
      Tiers.audit(broker);
    }
  }

  /** As the kernel does with a file system in which it has found an error. */
  @Test
  void theFileSystemTurnsReadOnly() throws Exception {
    try (TestMount mount = TestMount.fragile(WORK.folder("read-only"), 96)) {
      Path pool = Pools.create(mount.path().resolve("hot.pool"), "64MiB", 128);
      StockBroker broker =
          WORK.start(
              Tiers.broker(WORK.folder("read-only-broker"), pool)
                  .set("strata.migration.threshold", "-1"));
      RecordLedger ledger = FailingMedia.topic(broker, "hot", Tiers.SEGMENT, 5_000);
      TestMount.must("sync", pool.toString());
      RecordLedger after = FailingMedia.topic(broker, "after", Tiers.SEGMENT);
      mount.fail();
      FailingMedia.attempt(after, broker, 3_000, 1_000);
      // The first segment that is rolled is flushed.
      FailingMedia.assertOffline(broker, "Error while flushing log for after-0");
      FailingMedia.assertRefused(broker, pool.toString(), "ead-only");
      mount.repair();
      broker.start();
      // What the page cache alone had went with the file system, as with Kafka's own files: nothing
      // is said of the records after the fault.
      FailingMedia.assertAllThere(broker, ledger);
      Tiers.audit(broker);
    }
  }
}
