package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Media that fail under a running broker: Kafka must learn of it as of a failed disk. */
class FaultTest {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** What cannot succeed fails soon. */
  private static final Map<String, String> IMPATIENT =
      Map.of(
          "delivery.timeout.ms", "5000",
          "request.timeout.ms", "4000",
          "max.block.ms", "5000",
          "linger.ms", "0");

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void poolFileIsTruncatedUnderARunningBroker() throws Exception {
    long size = 64L << 20;
    Path pool = Pools.create(WORK.pool("truncated"), "64m");
    StockBroker broker =
        WORK.closing(
                StockBroker.in(WORK.folder("truncated"))
                    .strata(pool)
                    .set("strata.topics.exclude", "cold,__.*")
                    .build())
            .start();
    RecordLedger cold = topic(broker, "cold", 1);
    cold.produce(broker.bootstrap(), 2_000, 1_000);
    // Extents are taken from the pool's low end, so what is written first survives the cut.
    RecordLedger early = topic(broker, "early", 1);
    early.produce(broker.bootstrap(), 4_000, 1_000);
    RecordLedger late = topic(broker, "late", 1);
    late.produce(broker.bootstrap(), 36_000, 1_000);

    truncate(pool, size / 4);
    try (Producer<byte[], byte[]> producer = RecordLedger.producer(broker.bootstrap(), IMPATIENT)) {
      for (int i = 0; i < 50; i++) {
        late.send(producer, 0, 1_000);
        early.send(producer, 0, 1_000);
      }
    }
    // Its only log directory has failed: a broker ends then, by itself and not by a signal.
    assertThat(broker.awaitExit(PATIENCE)).as("exit code").isEqualTo(1);
    assertThat(broker.output())
        .contains("Shutdown broker because all log dirs in")
        .containsPattern("(IOException|KafkaStorageException)");
    broker.close();

    // The operator brings the file back to its length; what was cut off is gone.
    truncate(pool, size);
    broker.start();
    assertThat(cold.verify(broker.bootstrap()).records()).isEqualTo(2_000);
    assertThat(early.verify(broker.bootstrap()).records())
        .as("records in the part of the pool that stayed")
        .isGreaterThanOrEqualTo(early.acknowledged());
    assertThat(late.verifyOldest(broker.bootstrap()).records())
        .as("records before the first that is lost")
        .isPositive();
    broker.stop();
  }

  @Test
  void homeIsFull() throws Exception {
    try (LoopMount small = LoopMount.ext4(WORK.folder("small"), 96)) {
      Path pool = Pools.create(WORK.pool("home-full"), "32m");
      StockBroker broker =
          WORK.closing(
                  StockBroker.in(WORK.folder("home-full"))
                      .strata(pool)
                      .set("log.dirs", small.path().resolve("data").toString())
                      .set("metadata.log.dir", WORK.folder("home-full-metadata").toString())
                      .set("strata.topics.exclude", "__.*")
                      // Kafka's own files at home would fail first: checkpoints and indexes.
                      .set("replica.high.watermark.checkpoint.interval.ms", "100000000")
                      .set("log.flush.offset.checkpoint.interval.ms", "100000000")
                      .set("log.flush.start.offset.checkpoint.interval.ms", "100000000")
                      .set("log.index.interval.bytes", "1000000000")
                      .build())
              .start();
      RecordLedger ledger = topic(broker, "hot", 1);
      ledger.produce(broker.bootstrap(), 1_000, 1_000);
      Path filler = fill(small.path());

      ledger.produce(broker.bootstrap(), 10_000, 1_000);
      assertThat(broker.isRunning()).as("the broker runs while the pool has room").isTrue();
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(11_000);

      try (Producer<byte[], byte[]> producer =
          RecordLedger.producer(broker.bootstrap(), IMPATIENT)) {
        for (int i = 0; i < 30_000; i++) {
          ledger.send(producer, 0, 1_000);
        }
      }
      assertThat(broker.awaitExit(PATIENCE)).as("exit code").isEqualTo(1);
      assertThat(broker.output())
          .contains("No space left on device")
          .contains("Shutdown broker because all log dirs in");
      broker.close();

      Files.delete(filler);
      broker.start();
      assertThat(ledger.verify(broker.bootstrap()).records())
          .isGreaterThanOrEqualTo(ledger.acknowledged());
      broker.stop();
    }
  }

  private static RecordLedger topic(StockBroker broker, String name, int partitions)
      throws InterruptedException {
    Topics.create(broker, name, partitions, Map.of());
    return new RecordLedger(name, partitions, name.hashCode());
  }

  private static void truncate(Path file, long size) throws IOException, InterruptedException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(size);
    }
    if (Files.size(file) < size) {
      Process fallocate =
          new ProcessBuilder("fallocate", "-l", Long.toString(size), file.toString()).start();
      assertThat(fallocate.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(fallocate.exitValue()).as("fallocate").isZero();
    }
  }

  /** Writes until nothing more fits. */
  private static Path fill(Path folder) throws IOException {
    Path filler = folder.resolve("filler");
    byte[] piece = new byte[4096];
    try (OutputStream out = Files.newOutputStream(filler, StandardOpenOption.CREATE_NEW)) {
      for (long written = 0; written < 1L << 30; written += piece.length) {
        out.write(piece);
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
      return filler;
    }
    throw new AssertionError(folder + " took a gigabyte and is not full");
  }
}
