package io.strata.kafka.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Waiting;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;

/**
 * What the tests of failing media share: a broker with its log directory there, producers that do
 * not wait for what cannot succeed, and how the broker ended.
 */
final class FailingMedia {

  static final int MIB = 1 << 20;

  /** What cannot succeed fails soon. */
  private static final Map<String, String> IMPATIENT =
      Map.of(
          "delivery.timeout.ms", "5000",
          "request.timeout.ms", "4000",
          "max.block.ms", "4000",
          "linger.ms", "0");

  private FailingMedia() {}

  /**
   * A broker with its only log directory for topics there, and its own files elsewhere as far as it
   * lets: what Kafka itself writes in the log directory would fail first.
   */
  static StockBroker.Builder broker(Path folder, Path mount, Path... pools) {
    return Tiers.broker(folder, pools)
        .set("log.dirs", mount.resolve("data").toString())
        .set("metadata.log.dir", folder.resolve("metadata").toString())
        .set("replica.high.watermark.checkpoint.interval.ms", "100000000")
        .set("log.flush.offset.checkpoint.interval.ms", "100000000")
        .set("log.flush.start.offset.checkpoint.interval.ms", "100000000")
        .set("log.cleaner.backoff.ms", "100000000")
        // A full index rolls a segment, and a mapped one faults where there is no space for it.
        .set("log.index.interval.bytes", "1000000000")
        .set("log.index.size.max.bytes", "4096")
        .set("strata.migration.threshold", "-1")
        .set("strata.migration.promote", "false");
  }

  /** A topic of one partition. */
  static RecordLedger topic(StockBroker broker, String name, int segment)
      throws InterruptedException {
    return topic(broker, name, Map.of("segment.bytes", "" + segment));
  }

  /** The same with so many records of 1,000 bytes. */
  static RecordLedger topic(StockBroker broker, String name, int segment, int records)
      throws InterruptedException {
    RecordLedger ledger = topic(broker, name, segment);
    ledger.produce(broker.bootstrap(), records, 1_000);
    return ledger;
  }

  /** A topic of one partition. */
  static RecordLedger topic(StockBroker broker, String name, Map<String, String> settings)
      throws InterruptedException {
    return Tiers.topic(broker, name, 1, settings);
  }

  /** Sends what may fail, as long as the broker answers, and waits for the outcome. */
  static void attempt(RecordLedger ledger, StockBroker broker, int records, int size) {
    try (Producer<byte[], byte[]> producer = RecordLedger.producer(broker.bootstrap(), IMPATIENT)) {
      for (int i = 0; i < records && broker.isRunning(); i++) {
        long start = System.nanoTime();
        ledger.send(producer, 0, size);
        if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(3)) {
          return; // the cluster no longer answers
        }
      }
    }
  }

  /** Its only log directory has failed: Kafka ends then by itself, and not by a signal. */
  static void assertOffline(StockBroker broker, String... words)
      throws IOException, InterruptedException {
    assertThat(broker.awaitExit(Waiting.LIMIT)).as("exit code").isEqualTo(1);
    assertLogged(broker, "Shutdown broker because all log dirs in");
    assertLogged(broker, words);
    broker.close();
  }

  /** A line of its log has all the words. */
  static void assertLogged(StockBroker broker, String... words) throws IOException {
    String output = broker.output();
    List<String> all = List.of(words);
    assertThat(output.lines().anyMatch(line -> all.stream().allMatch(line::contains)))
        .as("a line with %s in the broker's log, which ends\n%s", all, JavaProcess.tail(output))
        .isTrue();
  }

  /** It does not start; what it says has all the words. */
  static void assertRefused(StockBroker broker, String... words)
      throws IOException, InterruptedException {
    StockBroker.Refusal refusal = broker.startRefused();
    assertThat(refusal.exitCode()).as("exit code").isNotZero();
    assertThat(refusal.output()).contains(words).doesNotContain("Kafka Server started");
    broker.close();
  }

  /** Everything that was acknowledged is read. */
  static void assertAllThere(StockBroker broker, RecordLedger... ledgers) {
    for (RecordLedger ledger : ledgers) {
      assertThat(ledger.verify(broker.bootstrap()).records())
          .as("records of %s", ledger.topic())
          .isGreaterThanOrEqualTo(ledger.acknowledged());
    }
  }

  /** What a consumer gets of the topic from an offset on in some seconds. */
  static int readInVain(StockBroker broker, RecordLedger ledger, long offset) {
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(broker.bootstrap(), Map.of("default.api.timeout.ms", "5000"))) {
      TopicPartition partition = new TopicPartition(ledger.topic(), 0);
      consumer.assign(List.of(partition));
      consumer.seek(partition, offset);
      return consumer.poll(Duration.ofSeconds(3)).count();
    }
  }

  /**
   * Sends one record after the other for so long.
   *
   * @return milliseconds that the slowest took
   */
  static long slowest(RecordLedger ledger, StockBroker broker, Duration time)
      throws InterruptedException {
    long slowest = 0;
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(broker.bootstrap(), Map.of("linger.ms", "0"))) {
      long end = System.nanoTime() + time.toNanos();
      while (System.nanoTime() < end) {
        long start = System.nanoTime();
        ledger.send(producer, 0, 2_000);
        producer.flush();
        slowest = Math.max(slowest, System.nanoTime() - start);
        TimeUnit.MILLISECONDS.sleep(5);
      }
    }
    ledger.assertNoneFailed();
    return slowest / 1_000_000;
  }

  /** Makes files until there is space for no other one. */
  static List<Path> fillWithFiles(Path folder) throws IOException {
    List<Path> fillers = new ArrayList<>();
    try {
      for (int i = 0; i < 10_000; i++) {
        fillers.add(Files.createFile(folder.resolve("filler-" + i)));
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
      return fillers;
    }
    throw new AssertionError(folder + " took 10,000 files and is not full");
  }

  /** Writes until nothing more fits. */
  static Path fill(Path folder) throws IOException {
    Path filler = folder.resolve("filler");
    try (FileChannel out =
        FileChannel.open(filler, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer piece = ByteBuffer.allocate(4 << 10);
      for (long written = 0; written < 1L << 30; written += piece.capacity()) {
        out.write(piece.clear());
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
      return filler;
    }
    throw new AssertionError(folder + " took a gigabyte and is not full");
  }
}
