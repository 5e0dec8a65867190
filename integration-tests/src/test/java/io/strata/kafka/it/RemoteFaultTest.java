package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A store that is full, read-only, slow, gone, or damaged under a running broker: appends go on,
 * what can be read is read right, what cannot is an error with its path and never data, and
 * everything goes on when the store is well again.
 */
@Tag("long")
class RemoteFaultTest {

  private static final int MIB = 1 << 20;
  private static final int SIZE = 1_500;

  /** Of records in a segment, a little less than there are. */
  private static final int IN_A_SEGMENT = 650;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void theStoreIsFull() throws Exception {
    try (TestMount small = TestMount.ext4(WORK.folder("small"), 24);
        StockBroker broker = tier(small).alone(WORK.folder("full")).build().start()) {
      RecordLedger first = topic(broker, "first");
      first.produce(broker.bootstrap(), 3_000, SIZE);
      tier(small).awaitTiered(broker, "first", 1, 3);
      Path filler = FailingMedia.fill(small.path());
      RecordLedger second = topic(broker, "second");
      second.produce(broker.bootstrap(), 3_000, SIZE);
      broker.awaitLogged(
          "second-0",
          RemoteManager.ofThisRun() == RemoteManager.STRATA
              ? "no space"
              : "No space left on device");
      assertThat(tier(small).segments("second")).isEmpty();
      assertAllRead(broker, first, second);
      Files.delete(filler);
      tier(small).awaitTiered(broker, "second", 1, 3);
      assertAllRead(broker, first, second);
    }
  }

  @Test
  void theStoreTurnsReadOnly() throws Exception {
    try (TestMount mount = TestMount.bind(WORK.folder("data-ro"), WORK.folder("data-ro-mount"));
        StockBroker broker = tier(mount).alone(WORK.folder("turns")).build().start()) {
      RecordLedger ledger = topic(broker, "turned");
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      tier(mount).awaitTiered(broker, "turned", 1, 3);
      mount.turnReadOnly();
      int before = tier(mount).segments("turned").size();
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      broker.awaitLogged("turned-0", "Read-only file system");
      assertThat(tier(mount).segments("turned")).hasSize(before);
      assertAllRead(broker, ledger);
      mount.disappear();
      mount.comeBack();
      tier(mount).awaitTiered(broker, "turned", 1, 6);
      assertAllRead(broker, ledger);
    }
  }

  @Test
  void theStoreIsSlow() throws Exception {
    try (LogDevice device = LogDevice.ext4(WORK.folder("slow-device"), 96, 0);
        StockBroker broker = tier(device).alone(WORK.folder("slow")).build().start()) {
      RecordLedger ledger = topic(broker, "slow");
      RecordLedger other = topic(broker, "other");
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      other.produce(broker.bootstrap(), 500, SIZE);
      tier(device).awaitTiered(broker, "slow", 1, 3);
      // A chunk takes longer than Kafka waits for a fetch: Kafka retries.
      device.bytesPerSecond(MIB);
      for (RemoteManager.Segment segment : tier(device).segments("slow")) {
        TestMount.must("dd", "of=" + segment.log(), "oflag=nocache", "conv=notrunc", "count=0");
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
      assertAllRead(broker, ledger, other);
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
      RecordLedger ledger = topic(broker, "hanging");
      ledger.produce(broker.bootstrap(), 1_000, SIZE);
      tier(device).awaitTiered(broker, "hanging", 1, 1);
      device.bytesPerSecond(200_000);
      ledger.produce(broker.bootstrap(), 2_000, SIZE);
      broker.awaitLogged("hanging-0", "Copying", "1500 ms");
      device.bytesPerSecond(0);
      tier(device).awaitTiered(broker, "hanging", 1, 3);
      assertAllRead(broker, ledger);
      await()
          .atMost(Tiers.PATIENCE)
          .until(() -> Jmx.value(broker, "type=Remote,name=StuckThreads") == 0);
    }
  }

  @Test
  void theStoreDisappearsAndComesBack() throws Exception {
    assumeOurs(); // Kafka's goes on below the mount point
    try (TestMount mount = TestMount.bind(WORK.folder("data-real"), WORK.folder("data-mount"));
        StockBroker broker = tier(mount).alone(WORK.folder("gone")).build().start()) {
      RecordLedger ledger = topic(broker, "gone");
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      tier(mount).awaitTiered(broker, "gone", 1, 3);
      mount.disappear();
      ledger.produce(broker.bootstrap(), 3_000, SIZE);
      broker.awaitLogged("gone-0", "Copying", mount.path().toString());
      assertNotRead(broker, "gone", 0);
      broker.awaitLogged("Reads fail", mount.path().toString());
      // It took nothing for its store that is not.
      assertThat(RemoteManager.files(mount.path())).as("files below the mount point").isEmpty();
      RecordLedger other = new RecordLedger("other", 1, 1);
      Topics.create(broker, "other", 1, Map.of());
      other.produce(broker.bootstrap(), 100, SIZE);
      assertAllRead(broker, other);
      // Nor does it when it is started so.
      broker.stop();
      broker.start();
      other.produce(broker.bootstrap(), 100, SIZE);
      assertAllRead(broker, other);
      assertNotRead(broker, "gone", 0);
      assertThat(RemoteManager.files(mount.path())).as("files below the mount point").isEmpty();
      mount.comeBack();
      tier(mount).awaitTiered(broker, "gone", 1, 6);
      assertAllRead(broker, ledger);
    }
  }

  @Test
  void aFlippedBitIsNeverReturned() throws Exception {
    assumeOurs(); // Kafka's returns it
    TieredBrokers tier = TieredBrokers.over(WORK.folder("data-flipped"));
    StockBroker broker = WORK.closing(tier.alone(WORK.folder("flipped")).build()).start();
    RecordLedger ledger = topic(broker, "flipped");
    ledger.produce(broker.bootstrap(), 4_000, SIZE);
    tier.awaitTiered(broker, "flipped", 1, 4);
    assertAllRead(broker, ledger);
    List<RemoteManager.Segment> segments =
        tier.segments("flipped").stream()
            .sorted(Comparator.comparingLong(RemoteManager.Segment::startOffset))
            .toList();
    RemoteManager.Segment damaged = segments.get(1);
    flipBit(damaged.log(), Files.size(damaged.log()) / 2);
    try {
      assertNotRead(broker, "flipped", damaged.startOffset() + IN_A_SEGMENT / 2);
      broker.awaitLogged("flipped-0", String.valueOf(damaged.log().getParent()));
      // Before it and after it all is well.
      assertRead(broker, "flipped", 0, damaged.startOffset());
      assertRead(broker, "flipped", segments.get(2).startOffset(), 4_000);
      JavaProcess.Finished scrub =
          Pools.strata("remote", "scrub", "--config", broker.propertiesFile().toString());
      assertThat(scrub.exitCode()).as("exit code of scrub").isNotZero();
      assertThat(scrub.output()).contains(String.valueOf(damaged.log().getParent()));
    } finally {
      flipBit(damaged.log(), Files.size(damaged.log()) / 2);
    }
    assertAllRead(broker, ledger);
    Pools.strata("remote", "scrub", "--config", broker.propertiesFile().toString()).orFail();
    broker.stop();
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

  private static RecordLedger topic(StockBroker broker, String name) throws InterruptedException {
    Topics.create(broker, name, 1, TieredBrokers.topic());
    return new RecordLedger(name, 1, name.hashCode());
  }

  private static void assertAllRead(StockBroker broker, RecordLedger... ledgers) {
    for (RecordLedger ledger : ledgers) {
      assertThat(ledger.verify(broker.bootstrap()).records())
          .as("records of %s", ledger.topic())
          .isEqualTo(ledger.acknowledged());
    }
  }

  /** A client that asks for the offset gets nothing while the store fails. */
  private static void assertNotRead(StockBroker broker, String topic, long offset) {
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(broker.bootstrap(), Map.of("max.partition.fetch.bytes", "10000"))) {
      TopicPartition partition = new TopicPartition(topic, 0);
      consumer.assign(List.of(partition));
      consumer.seek(partition, offset);
      for (int i = 0; i < 3; i++) {
        assertThat(consumer.poll(Duration.ofSeconds(1)))
            .as("records of %s from %d on", topic, offset)
            .isEmpty();
      }
    }
  }

  private static void assertRead(StockBroker broker, String topic, long from, long to) {
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(broker.bootstrap(), Map.of("max.partition.fetch.bytes", "10000"))) {
      TopicPartition partition = new TopicPartition(topic, 0);
      consumer.assign(List.of(partition));
      consumer.seek(partition, from);
      long next = from;
      long end = System.nanoTime() + Tiers.PATIENCE.toNanos();
      while (next < to) {
        assertThat(System.nanoTime()).as("reading %s, at %d", topic, next).isLessThan(end);
        for (ConsumerRecord<byte[], byte[]> found : consumer.poll(Duration.ofMillis(500))) {
          assertThat((long) RecordLedger.check(found)).isEqualTo(next);
          next++;
        }
      }
    }
  }

  private static void flipBit(Path file, long position) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      int read = channel.read(one, position);
      assertThat(read).isEqualTo(1);
      one.flip();
      one.put(0, (byte) (one.get(0) ^ 4));
      int written = channel.write(one, position);
      assertThat(written).isEqualTo(1);
      channel.force(true);
    }
  }
}
