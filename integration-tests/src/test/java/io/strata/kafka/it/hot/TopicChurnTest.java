package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.KafkaStorageException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Flushes on a busy disk meet deletions and renames: topics are created and deleted without a
 * delay, and their replicas moved between two log directories meanwhile. No log directory goes
 * offline, and no slot is left.
 */
@Tag("long")
class TopicChurnTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int THREADS = 4;
  private static final int ROUNDS = Integer.getInteger("strata.it.churn.rounds", 12);
  private static final int PARTITIONS = 3;
  private static final int MIB = 1 << 20;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void noLogDirectoryGoesOfflineAndNoSlotIsLeft() throws Exception {
    try (TestMount first = TestMount.ext4(WORK.folder("disk-1"), 512);
        TestMount second = TestMount.ext4(WORK.folder("disk-2"), 512)) {
      StockBroker broker =
          WORK.start(
              Tiers.broker(WORK.folder("churn"), WORK.newPool("churn", "24MiB", 64))
                  .set(
                      "log.dirs",
                      first.path().resolve("data") + "," + second.path().resolve("data"))
                  .set("metadata.log.dir", WORK.folder("churn-metadata").toString())
                  .set("log.segment.delete.delay.ms", "0")
                  .set("log.flush.interval.messages", "500")
                  .set("strata.migration.threshold", "0"));
      AtomicBoolean done = new AtomicBoolean();
      List<CompletableFuture<Void>> disks =
          List.of(busy(first.path(), done), busy(second.path(), done));
      RecordLedger steady = Tiers.topic(broker, "steady", 2);
      try {
        List<CompletableFuture<Void>> churns =
            IntStream.range(0, THREADS).mapToObj(i -> churn(broker, i)).toList();
        for (CompletableFuture<Void> each : churns) {
          while (!each.isDone()) {
            steady.produce(broker.bootstrap(), 500, 1_000);
          }
          each.join();
        }
      } finally {
        done.set(true);
        disks.forEach(CompletableFuture::join);
      }
      Tiers.verify(broker, steady);
      assertThat(Topics.logDirectories(broker).values())
          .hasSizeGreaterThan(1)
          .allSatisfy(each -> assertThat(each.error()).isNull());
      assertThat(broker.output()).doesNotContain("Stopping serving replicas in dir");
      assertThat(Jmx.value(broker, "type=LogFiles,name=FailuresTotal")).isZero();
      Topics.delete(broker, "steady");
      await().untilAsserted(() -> assertThat(Tiers.usage(broker).used()).isZero());
      Tiers.audit(broker);
      assertThat(Tiers.json("pool", "info", broker).path("pools").get(0).path("segments").asLong())
          .isZero();
    }
  }

  /** Keeps a disk and its journal busy: every flush beside it waits. */
  private static CompletableFuture<Void> busy(Path disk, AtomicBoolean done) {
    return CompletableFuture.runAsync(
        () -> {
          ByteBuffer block = ByteBuffer.allocateDirect(4 * MIB);
          try (FileChannel file =
              FileChannel.open(
                  disk.resolve("busy"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            while (!done.get()) {
              int unused = file.write(block.clear(), 0);
              file.force(true);
            }
          } catch (IOException e) {
            throw new CompletionException(e);
          }
        });
  }

  /** One topic after the other, each moved about while it is written. */
  private static CompletableFuture<Void> churn(StockBroker broker, int thread) {
    return CompletableFuture.runAsync(
        () -> {
          Random random = new Random(SEED + thread);
          try {
            for (int round = 0; round < ROUNDS; round++) {
              live(broker, "churn-%d-%d".formatted(thread, round), random);
            }
          } catch (InterruptedException e) {
            throw new CompletionException(e);
          }
        });
  }

  private static void live(StockBroker broker, String name, Random random)
      throws InterruptedException {
    RecordLedger ledger =
        Tiers.topic(
            broker, name, PARTITIONS, Map.of("file.delete.delay.ms", "0", "flush.messages", "200"));
    ledger.produce(broker.bootstrap(), 1_500 + random.nextInt(2_000), 1_000);
    for (int partition = 0; partition < PARTITIONS; partition++) {
      move(broker, name, partition, random);
    }
    ledger.produce(broker.bootstrap(), 1_000 + random.nextInt(1_000), 1_000);
    if (random.nextBoolean()) {
      assertThat(ledger.verify(broker.bootstrap()).records())
          .as("strata.it.seed=%s", SEED)
          .isEqualTo(ledger.acknowledged());
    }
    Topics.delete(broker, name);
  }

  private static void move(StockBroker broker, String name, int partition, Random random)
      throws InterruptedException {
    List<Path> directories = new ArrayList<>(broker.logDirectories());
    Path to = directories.get(random.nextInt(directories.size()));
    try {
      Topics.move(broker, to, List.of(new TopicPartition(name, partition)));
    } catch (KafkaStorageException e) {
      throw new AssertionError("a log directory is offline, strata.it.seed=" + SEED, e);
    }
    Thread.sleep(Duration.ofMillis(random.nextInt(50)).toMillis());
  }
}
