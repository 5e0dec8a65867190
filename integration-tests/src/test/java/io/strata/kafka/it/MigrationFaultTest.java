package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
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

  private static final int MIB = 1 << 20;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void logFileIsFullWhileSegmentsMoveThere() throws Exception {
    try (TestMount small = TestMount.ext4(WORK.folder("small"), 160)) {
      StockBroker broker = start("full", small.path());
      RecordLedger sealed = topic(broker, "sealed", Tiers.SEGMENT);
      RecordLedger growing = topic(broker, "growing", 64 * MIB);
      sealed.produce(broker.bootstrap(), 8_000, 1_000);
      growing.produce(broker.bootstrap(), 100, 1_000);
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
      RecordLedger sealed = topic(broker, "sealed", Tiers.SEGMENT);
      RecordLedger growing = topic(broker, "growing", 64 * MIB);
      sealed.produce(broker.bootstrap(), 8_000, 1_000);
      growing.produce(broker.bootstrap(), 100, 1_000);
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
      RecordLedger sealed = topic(broker, "sealed", Tiers.SEGMENT);
      RecordLedger growing = topic(broker, "growing", 64 * MIB);
      sealed.produce(broker.bootstrap(), 8_000, 1_000);
      growing.produce(broker.bootstrap(), 1_000, 1_000); // and the JVMs are warm
      device.bytesPerSecond(MIB / 2);
      Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
      long slowest = 0;
      try (Producer<byte[], byte[]> producer =
          RecordLedger.producer(broker.bootstrap(), Map.of("linger.ms", "0"))) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(8);
        while (System.nanoTime() < end) {
          long start = System.nanoTime();
          growing.send(producer, 0, 2_000);
          producer.flush();
          slowest = Math.max(slowest, System.nanoTime() - start);
          TimeUnit.MILLISECONDS.sleep(2);
        }
      }
      growing.assertNoneFailed();
      Tiers.Usage usage = Tiers.usage(broker);
      assertThat(usage.dirty() - usage.active())
          .as("bytes that still have to move, %s", usage)
          .isGreaterThan(Tiers.SEGMENT);
      assertThat(slowest / 1_000_000)
          .as("milliseconds of the slowest of %d sends", growing.acknowledged())
          .isLessThan(1_500);
      device.bytesPerSecond(0);
      assertAllMoves(broker, sealed, growing);
    }
  }

  /**
   * A broker with its log directory on the device and its own files elsewhere, as far as it lets:
   * what Kafka itself writes in the log directory would fail first.
   */
  private static StockBroker start(String name, Path mount) throws Exception {
    Path pool = Pools.create(WORK.pool(name), "32MiB", 256);
    return WORK.closing(
            Tiers.broker(WORK.folder(name), pool)
                .set("log.dirs", mount.resolve("data").toString())
                .set("metadata.log.dir", WORK.folder(name + "-metadata").toString())
                .set("replica.high.watermark.checkpoint.interval.ms", "100000000")
                .set("log.flush.offset.checkpoint.interval.ms", "100000000")
                .set("log.flush.start.offset.checkpoint.interval.ms", "100000000")
                .set("log.index.interval.bytes", "1000000000")
                .set("log.index.size.max.bytes", "4096")
                .set("strata.migration.threshold", "-1")
                .set("strata.migration.promote", "false")
                .build())
        .start();
  }

  /**
   * One that rolls writes Kafka's own files in the log directory too: indexes, snapshots of
   * producers.
   */
  private static RecordLedger topic(StockBroker broker, String name, int segment)
      throws InterruptedException {
    Topics.create(broker, name, 1, Map.of("segment.bytes", "" + segment));
    return new RecordLedger(name, 1, name.hashCode());
  }

  /** Moves fail, the log says so, and appends and reads do not notice. */
  private static void assertOthersGoOn(
      StockBroker broker, String cause, RecordLedger sealed, RecordLedger growing)
      throws Exception {
    Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
    await()
        .atMost(Tiers.PATIENCE)
        .untilAsserted(
            () -> assertThat(Jmx.sum(broker, "type=Migration,name=Failures*,*")).isPositive());
    broker.awaitOutput("(WARN|ERROR).*sealed-0.*" + cause, Tiers.PATIENCE);
    growing.produce(broker.bootstrap(), 6_000, 1_000);
    assertThat(broker.isRunning()).as("the broker runs").isTrue();
    assertThat(sealed.verify(broker.bootstrap()).records()).isEqualTo(sealed.acknowledged());
    assertThat(growing.verify(broker.bootstrap()).records()).isEqualTo(growing.acknowledged());
    Tiers.Usage usage = Tiers.usage(broker);
    assertThat(usage.dirty() - usage.active())
        .as("bytes that only the pool has, %s", usage)
        .isGreaterThan(4L * MIB);
  }

  /** The log directory works again. */
  private static void assertAllMoves(StockBroker broker, RecordLedger... ledgers) throws Exception {
    Tiers.awaitClean(broker, "hot");
    Tiers.alter(broker, Map.of("strata.migration.mode", "threshold"));
    await()
        .atMost(Tiers.PATIENCE)
        .untilAsserted(
            () -> {
              Tiers.Usage usage = Tiers.usage(broker);
              assertThat(usage.used()).as("used bytes, %s", usage).isEqualTo(usage.active());
            });
    Tiers.assertAccounting(broker);
    broker.stop();
    Tiers.audit(broker);
    broker.start();
    for (RecordLedger ledger : ledgers) {
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(ledger.acknowledged());
    }
    broker.stop();
  }
}
