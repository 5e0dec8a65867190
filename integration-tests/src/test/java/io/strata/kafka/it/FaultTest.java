package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Media that fail under a running broker: Kafka must learn of it as of a failed disk. */
@Tag("long")
class FaultTest {

  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int RECORD = 1_000;

  /** With a producer's default batch.size of 16 KiB; a batch is whole, or lost. */
  private static final int RECORDS_IN_A_BATCH = 17;

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
    Path pool = Pools.create(WORK.pool("truncated"), "64MiB");
    StockBroker broker =
        WORK.closing(
                StockBroker.in(WORK.folder("truncated"))
                    .strata(pool)
                    .set("strata.topics.exclude", "cold,__.*")
                    .build())
            .start();
    RecordLedger cold = topic(broker, "cold", 1);
    cold.produce(broker.bootstrap(), 2_000, RECORD);
    List<RecordLedger> hot = new ArrayList<>();
    for (String name : List.of("hot-1", "hot-2", "hot-3")) {
      RecordLedger ledger = topic(broker, name, 1);
      ledger.produce(broker.bootstrap(), 4_000, RECORD);
      hot.add(ledger);
    }
    List<Map<Integer, Long>> positions = new ArrayList<>();
    for (RecordLedger ledger : hot) {
      positions.add(ledger.positionsIn(pool));
    }
    // Below the end of one topic, so that what is appended to it next is beyond the cut.
    int victim = 0;
    for (int i = 1; i < hot.size(); i++) {
      if (end(positions.get(i)) > end(positions.get(victim))) {
        victim = i;
      }
    }
    long cut = (end(positions.get(victim)) - (256 << 10)) / 4096 * 4096;

    truncate(pool, cut);
    // Kafka answers a fetch that fails with an error, and goes on: so it does with a failed disk.
    int lost = firstBeyond(positions.get(victim), cut).orElseThrow() + RECORDS_IN_A_BATCH;
    TopicPartition partition = new TopicPartition(hot.get(victim).topic(), 0);
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(broker.bootstrap(), Map.of("default.api.timeout.ms", "5000"))) {
      consumer.assign(List.of(partition));
      consumer.seek(partition, lost);
      assertThat(consumer.poll(Duration.ofSeconds(2))).as("records that are lost").isEmpty();
    }
    assertLogged(broker, "now has " + cut);
    assertThat(cold.verify(broker.bootstrap()).records()).isEqualTo(2_000);
    // An append that fails takes the log directory offline.
    try (Producer<byte[], byte[]> producer = RecordLedger.producer(broker.bootstrap(), IMPATIENT)) {
      for (int i = 0; i < 100; i++) {
        hot.get(victim).send(producer, 0, RECORD);
      }
    }
    // Its only log directory has failed: a broker ends then, by itself and not by a signal.
    assertThat(broker.awaitExit(PATIENCE)).as("exit code").isEqualTo(1);
    assertLogged(broker, "Stopping serving replicas in dir");
    assertLogged(broker, "Shutdown broker because all log dirs in");
    broker.close();

    // The operator brings the file back to its length; what was cut off is gone.
    truncate(pool, size);
    broker.start();
    assertThat(cold.verify(broker.bootstrap()).records()).isEqualTo(2_000);
    long survived = 0;
    for (int i = 0; i < hot.size(); i++) {
      int whole = firstBeyond(positions.get(i), cut - RECORD).orElse(4_000);
      survived += whole;
      assertThat(hot.get(i).verifyOldest(broker.bootstrap()).records())
          .as("records of %s before the first that was cut off", hot.get(i).topic())
          .isGreaterThanOrEqualTo(whole - RECORDS_IN_A_BATCH);
    }
    assertThat(survived).as("records in the part of the pool that stayed").isPositive();
    assertThat(survived).as("records, some of which were cut off").isLessThan(12_000);
    broker.stop();
  }

  /** Where the newest record begins. */
  private static long end(Map<Integer, Long> positions) {
    return Objects.requireNonNull(positions.get(3_999));
  }

  /** The number of the first record that lies beyond. */
  private static OptionalInt firstBeyond(Map<Integer, Long> positions, long cut) {
    return positions.entrySet().stream()
        .filter(entry -> entry.getValue() > cut)
        .mapToInt(Map.Entry::getKey)
        .min();
  }

  @Test
  void logFileIsFull() throws Exception {
    try (TestMount small = TestMount.ext4(WORK.folder("small"), 96)) {
      Path pool = Pools.create(WORK.pool("disk-full"), "32MiB");
      StockBroker broker =
          WORK.closing(
                  StockBroker.in(WORK.folder("disk-full"))
                      .strata(pool)
                      .set("log.dirs", small.path().resolve("data").toString())
                      .set("metadata.log.dir", WORK.folder("disk-full-metadata").toString())
                      .set("strata.topics.exclude", "__.*")
                      // Kafka's own files in the log directory would fail first: checkpoints and
                      // indexes.
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
      assertThat(broker.isRunning()).as("the broker runs while the pool has space").isTrue();
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(11_000);

      try (Producer<byte[], byte[]> producer =
          RecordLedger.producer(broker.bootstrap(), IMPATIENT)) {
        for (int i = 0; i < 30_000; i++) {
          ledger.send(producer, 0, 1_000);
        }
      }
      assertThat(broker.awaitExit(PATIENCE)).as("exit code").isEqualTo(1);
      assertLogged(broker, "No space left on device");
      assertLogged(broker, "Shutdown broker because all log dirs in");
      broker.close();

      Files.delete(filler);
      broker.start();
      assertThat(ledger.verify(broker.bootstrap()).records())
          .isGreaterThanOrEqualTo(ledger.acknowledged());
      broker.stop();
    }
  }

  /** With the log's end in the message and not, as an assertion on the text, all of it. */
  private static void assertLogged(StockBroker broker, String words) throws IOException {
    String output = broker.output();
    assertThat(output.contains(words))
        .as("'%s' in the broker's log, which ends\n%s", words, JavaProcess.tail(output))
        .isTrue();
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
