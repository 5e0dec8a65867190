package io.strata.kafka.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Media that fail under a running broker: Kafka must learn of it as of a failed disk. */
@Tag("long")
class FaultTest {

  private static final int RECORD = 1_000;

  /** With a producer's default batch.size of 16 KiB; a batch is whole, or lost. */
  private static final int RECORDS_IN_A_BATCH = 17;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void poolFileIsTruncatedUnderARunningBroker() throws Exception {
    long size = 64L << 20;
    Path pool = WORK.newPool("truncated", "64MiB");
    StockBroker broker =
        WORK.start(
            StockBroker.in(WORK.folder("truncated"))
                .strata(pool)
                .set("strata.topics.exclude", "cold,__.*"));
    RecordLedger cold = Tiers.topic(broker, "cold", 1);
    cold.produce(broker.bootstrap(), 2_000, RECORD);
    List<RecordLedger> hot = new ArrayList<>();
    for (String name : List.of("hot-1", "hot-2", "hot-3")) {
      RecordLedger ledger = Tiers.topic(broker, name, 1);
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
    assertThat(FailingMedia.readInVain(broker, hot.get(victim), lost)).as("lost records").isZero();
    FailingMedia.assertLogged(broker, "now has " + cut);
    assertThat(cold.verify(broker.bootstrap()).records()).isEqualTo(2_000);
    // An append that fails takes the log directory offline.
    FailingMedia.attempt(hot.get(victim), broker, 100, RECORD);
    FailingMedia.assertOffline(broker, "Stopping serving replicas in dir");

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
      Path pool = WORK.newPool("disk-full", "32MiB");
      StockBroker broker =
          WORK.start(FailingMedia.broker(WORK.folder("disk-full"), small.path(), pool));
      RecordLedger ledger = FailingMedia.topic(broker, "hot", 64 * FailingMedia.MIB, 1_000);
      Path filler = FailingMedia.fill(small.path());

      ledger.produce(broker.bootstrap(), 10_000, 1_000);
      assertThat(broker.isRunning()).as("the broker runs while the pool has space").isTrue();
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(11_000);

      FailingMedia.attempt(ledger, broker, 30_000, 1_000);
      FailingMedia.assertOffline(broker, "No space left on device");

      Files.delete(filler);
      broker.start();
      FailingMedia.assertAllThere(broker, ledger);
      broker.stop();
    }
  }

  private static void truncate(Path file, long size) throws IOException, InterruptedException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(size);
    }
    if (Files.size(file) < size) {
      assertThat(TestMount.run("fallocate", "-l", "" + size, "" + file)).isEmpty();
    }
  }
}
