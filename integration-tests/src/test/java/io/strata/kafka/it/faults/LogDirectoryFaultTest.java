package io.strata.kafka.it.faults;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Log directories whose file system fails under a running broker, beyond what {@link FaultTest} and
 * {@link MigrationFaultTest} have: what is in the pool goes on; where Kafka itself needs the file
 * system it takes the log directory offline, as it does without Strata; and when the file system is
 * back every acknowledged record is there.
 */
@Tag("long")
class LogDirectoryFaultTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void logFileTurnsReadOnly() throws Exception {
    try (TestMount mount = TestMount.fragile(WORK.folder("read-only"), 160);
        StockBroker broker = start("read-only", mount.path())) {
      RecordLedger rolling = FailingMedia.topic(broker, "rolling", Tiers.SEGMENT, 4_000);
      RecordLedger growing = FailingMedia.topic(broker, "growing", 64 * FailingMedia.MIB, 1_000);
      mount.fail();
      growing.produce(broker.bootstrap(), 4_000, 1_000);
      FailingMedia.assertAllThere(broker, rolling, growing);
      assertThat(broker.isRunning()).as("the broker runs while it needs no new file").isTrue();
      FailingMedia.attempt(rolling, broker, 3_000, 1_000);
      FailingMedia.assertOffline(broker, "rolling-0", "Read-only file system");
      mount.repair();
      broker.start();
      FailingMedia.assertAllThere(broker, rolling, growing);
      Tiers.audit(broker);
    }
  }

  @Test
  void logFileDisappearsAndComesBack() throws Exception {
    try (TestMount mount = TestMount.ext4(WORK.folder("gone"), 160);
        StockBroker broker = start("gone", mount.path())) {
      RecordLedger rolling = FailingMedia.topic(broker, "rolling", Tiers.SEGMENT, 4_000);
      RecordLedger growing = FailingMedia.topic(broker, "growing", 64 * FailingMedia.MIB, 1_000);
      mount.disappear();
      growing.produce(broker.bootstrap(), 4_000, 1_000);
      assertThat(broker.isRunning()).as("the broker runs while it needs no new file").isTrue();
      FailingMedia.attempt(rolling, broker, 3_000, 1_000);
      FailingMedia.assertOffline(broker, "rolling-0");
      // A start before it is mounted again finds no log directory: nothing in the pool is
      // discarded.
      StockBroker.Refusal refusal = broker.startRefused();
      assertThat(refusal.exitCode()).as("exit code").isNotZero();
      assertThat(refusal.output()).contains(mount.path().toString());
      mount.comeBack();
      broker.start();
      FailingMedia.assertAllThere(broker, rolling, growing);
      Tiers.audit(broker);
    }
  }

  /**
   * No space for a file. (For a file's bytes see {@link FaultTest}; an index of Kafka's own, which
   * is mapped and sparse, then faults, and a stock broker answers with errors until it is
   * restarted.)
   */
  @Test
  void newSegmentsAndIndexesFindNoSpace() throws Exception {
    try (TestMount mount = TestMount.withFewFiles(WORK.folder("full"), 96, 256);
        StockBroker broker = start("full", mount.path())) {
      RecordLedger rolling = FailingMedia.topic(broker, "rolling", Tiers.SEGMENT, 4_000);
      RecordLedger growing = FailingMedia.topic(broker, "growing", 64 * FailingMedia.MIB, 1_000);
      List<Path> fillers = FailingMedia.fillWithFiles(mount.path());
      growing.produce(broker.bootstrap(), 3_000, 1_000);
      FailingMedia.assertAllThere(broker, rolling, growing);
      FailingMedia.attempt(rolling, broker, 3_000, 1_000);
      FailingMedia.assertOffline(broker, "rolling-0", "No space left on device");
      for (Path filler : fillers) {
        Files.delete(filler);
      }
      broker.start();
      FailingMedia.assertAllThere(broker, rolling, growing);
      Tiers.audit(broker);
    }
  }

  @Test
  void logFileCannotBeReadThenStandsStill() throws Exception {
    try (LogDevice device = LogDevice.ext4(WORK.folder("device"), 160, 0);
        StockBroker broker = start("device", device.path())) {
      RecordLedger sealed = FailingMedia.topic(broker, "sealed", Tiers.SEGMENT, 6_000);
      RecordLedger growing = FailingMedia.topic(broker, "growing", 64 * FailingMedia.MIB, 1_000);
      Tiers.alter(
          broker, Map.of("strata.migration.threshold", "0", "strata.migration.mode", "threshold"));
      Tiers.awaitClean(broker, "hot");
      Tiers.awaitEvicted(broker);
      for (Path segment : LogFiles.segments(LogFiles.partition(broker, "sealed", 0))) {
        LogDevice.forgetCached(segment);
      }
      device.failReads();
      int read = FailingMedia.readInVain(broker, sealed, 0);
      assertThat(read).as("records read from a device that fails").isLessThan(6_000);
      device.heal();
      if (!broker.isRunning()) { // Kafka may take it for a failed disk
        broker.start();
      }
      growing.produce(broker.bootstrap(), 1_000, 1_000);
      // A copy drops what the page cache has of its log file: the reads come after the last one.
      Tiers.awaitClean(broker, "hot");
      FailingMedia.assertAllThere(broker, sealed, growing);

      Tiers.alter(broker, Map.of("strata.migration.threshold", "-1"));
      sealed.produce(broker.bootstrap(), 4_000, 1_000);
      device.stall();
      Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
      assertThat(FailingMedia.slowest(growing, broker, Duration.ofSeconds(8)))
          .as("milliseconds of the slowest append while the log directory stands still")
          .isLessThan(4_000);
      assertThat(broker.isRunning()).as("the broker runs").isTrue();
      FailingMedia.assertAllThere(broker, growing);
      device.goOn();
      Tiers.awaitClean(broker, "hot");
      FailingMedia.assertAllThere(broker, sealed, growing);
      broker.killAndStart();
      FailingMedia.assertAllThere(broker, sealed, growing);
      Tiers.audit(broker);
    }
  }

  /** Below pools there is another pool, on the device. */
  @Test
  void aLowerTierStandsStillThenFails() throws Exception {
    try (LogDevice device = LogDevice.ext4(WORK.folder("lower-device"), 160, 0)) {
      Path fast = WORK.newPool("lower", "48MiB", 256);
      Path slow = Pools.create(device.path().resolve("slow.pool"), "96MiB", 256);
      StockBroker broker =
          WORK.start(
              Tiers.broker(WORK.folder("lower"), fast)
                  .secondTier(slow)
                  .set("strata.tier.ssd.type", "file")
                  .set("strata.tier.ssd.threshold", "-1")
                  .set("strata.migration.threshold", "-1")
                  .set("strata.migration.promote", "false"));
      RecordLedger sealed = FailingMedia.topic(broker, "sealed", Tiers.SEGMENT, 6_000);
      RecordLedger growing = FailingMedia.topic(broker, "growing", 64 * FailingMedia.MIB, 1_000);
      device.stall();
      Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
      assertThat(FailingMedia.slowest(growing, broker, Duration.ofSeconds(8)))
          .as("milliseconds of the slowest append while the lower tier stands still")
          .isLessThan(4_000);
      FailingMedia.assertAllThere(broker, sealed, growing);
      device.goOn();
      Tiers.awaitClean(broker, "hot");
      sealed.produce(broker.bootstrap(), 2_000, 1_000);
      Tiers.awaitClean(broker, "hot");
      device.failWrites();
      FailingMedia.attempt(sealed, broker, 3_000, 1_000);
      sealed.assertNoneFailed();
      await()
          .untilAsserted(
              () -> assertThat(Jmx.sum(broker, "type=Migration,name=Failures*,*")).isPositive());
      assertThat(broker.isRunning()).as("the broker runs").isTrue();
      growing.produce(broker.bootstrap(), 1_000, 1_000);
      FailingMedia.assertAllThere(broker, sealed, growing);
      device.heal();
      broker.killAndStart();
      FailingMedia.assertAllThere(broker, sealed, growing);
      Tiers.awaitClean(broker, "hot");
      Tiers.audit(broker);
    }
  }

  private static StockBroker start(String name, Path mount) throws Exception {
    Path pool = WORK.newPool(name, "48MiB", 256);
    return FailingMedia.broker(WORK.folder(name + "-broker"), mount, pool).build().start();
  }
}
