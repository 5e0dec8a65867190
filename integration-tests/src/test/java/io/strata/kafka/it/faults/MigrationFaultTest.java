package io.strata.kafka.it.faults;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Waiting;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * LogFiles that are full, fail or are slow while segments move there: the pool's copy stays,
 * appends go on while the pool has space, the log says so, and what could not be moved is moved
 * when the log directory works again.
 */
@Tag("long")
class MigrationFaultTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void logFileIsFullWhileSegmentsMoveThere() throws Exception {
    try (TestMount small = TestMount.ext4(WORK.folder("small"), 160)) {
      StockBroker broker = start("full", small.path());
      RecordLedger sealed = FailingMedia.topic(broker, "sealed", Tiers.SEGMENT, 8_000);
      RecordLedger growing = FailingMedia.topic(broker, "growing", 64 * FailingMedia.MIB, 100);
      Path filler = FailingMedia.fill(small.path());
      assertOthersGoOn(broker, "no space", sealed, growing);
      Files.delete(filler);
      assertAllMoves(broker, sealed, growing);
    }
  }

  @Test
  void logFileFailsWhileSegmentsMoveThere() throws Exception {
    try (LogDevice device = LogDevice.ext4(WORK.folder("failing-device"), 160, 0)) {
      StockBroker broker = start("failing", device.path());
      RecordLedger sealed = FailingMedia.topic(broker, "sealed", Tiers.SEGMENT, 8_000);
      RecordLedger growing = FailingMedia.topic(broker, "growing", 64 * FailingMedia.MIB, 100);
      device.failWrites();
      assertOthersGoOn(broker, "Input/output error", sealed, growing);
      device.heal();
      assertAllMoves(broker, sealed, growing);
    }
  }

  @Test
  void appendsDoNotWaitForMovesToASlowLogFile() throws Exception {
    // A segment takes two seconds to move.
    try (LogDevice device = LogDevice.ext4(WORK.folder("slow-device"), 160, 0)) {
      StockBroker broker = start("slow", device.path());
      RecordLedger sealed = FailingMedia.topic(broker, "sealed", Tiers.SEGMENT, 8_000);
      // So many that the JVMs are warm.
      RecordLedger growing = FailingMedia.topic(broker, "growing", 64 * FailingMedia.MIB, 1_000);
      device.bytesPerSecond(FailingMedia.MIB / 2);
      Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
      long slowest = FailingMedia.slowest(growing, broker, Duration.ofSeconds(8));
      Tiers.Usage usage = Tiers.usage(broker);
      assertThat(usage.dirty() - usage.active())
          .as("bytes that still have to move, %s", usage)
          .isGreaterThan(Tiers.SEGMENT);
      assertThat(slowest)
          .as("milliseconds of the slowest of %d sends", growing.acknowledged())
          .isLessThan(1_500);
      device.bytesPerSecond(0);
      assertAllMoves(broker, sealed, growing);
    }
  }

  private static StockBroker start(String name, Path mount) throws Exception {
    Path pool = WORK.newPool(name, "32MiB", 256);
    return WORK.start(FailingMedia.broker(WORK.folder(name), mount, pool));
  }

  /** Moves fail, the log says so, and appends and reads do not notice. */
  private static void assertOthersGoOn(
      StockBroker broker, String cause, RecordLedger sealed, RecordLedger growing)
      throws Exception {
    Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
    await()
        .untilAsserted(
            () -> assertThat(Jmx.sum(broker, "type=Migration,name=Failures*,*")).isPositive());
    broker.awaitOutput("(WARN|ERROR).*sealed-0.*" + cause, Waiting.LIMIT);
    growing.produce(broker.bootstrap(), 6_000, 1_000);
    assertThat(broker.isRunning()).as("the broker runs").isTrue();
    Tiers.verify(broker, sealed, growing);
    Tiers.Usage usage = Tiers.usage(broker);
    assertThat(usage.dirty() - usage.active())
        .as("bytes that only the pool has, %s", usage)
        .isGreaterThan(4L * FailingMedia.MIB);
  }

  /** The log directory works again. */
  private static void assertAllMoves(StockBroker broker, RecordLedger... ledgers) throws Exception {
    Tiers.awaitClean(broker, "hot");
    Tiers.alter(broker, Map.of("strata.migration.mode", "threshold"));
    Tiers.awaitEvicted(broker);
    Tiers.assertAccounting(broker);
    Tiers.audit(broker);
    broker.start();
    Tiers.verify(broker, ledgers);
    broker.stop();
  }
}
