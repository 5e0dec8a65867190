package io.strata.kafka.it.remote;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Hooks;
import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Waiting;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.tier.spec.TestHook;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A broker that dies at every stage of a copy to the store, of a deletion there and of a move
 * between its levels, as by {@code kill -9}: every record can be read, no part of a segment is ever
 * seen as one, and nothing stays behind when the store is scrubbed. The JVM halts itself where
 * {@link TestHook#HALT} says. After each death the store is checked as it lies.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class RemoteKillTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());

  /** How often each stage is met; more in a longer run. */
  private static final int ROUNDS = Integer.getInteger("strata.it.kill.rounds", 1);

  /** Of the random loop. */
  private static final int CYCLES = Integer.getInteger("strata.it.remote.kill.cycles", 5);

  /** What is younger may be a copy that another broker is making. */
  private static final Duration ORPHAN_AGE = Duration.ofSeconds(3);

  private static final List<String> COPY =
      List.of(
          "COPY_STAGED",
          "COPY_LOG_WRITTEN",
          "COPY_INDEXES_WRITTEN",
          "COPY_MANIFEST_WRITTEN",
          "COPY_PUBLISHED");
  private static final List<String> DELETE =
      List.of("DELETE_STARTED", "DELETE_TRASHED", "DELETE_EMPTIED");
  private static final List<String> MOVE =
      List.of("MOVE_STAGED", "MOVE_PUBLISHED", "MOVE_CONFIRMED", "EVICT_TRASHED");

  private static final List<String> COLD =
      List.of("COLD_MARKED", "COLD_COPIED", "COLD_CONFIRMED", "COLD_DROPPED");

  /** A record is sent while the broker dies at one stage after the other. */
  private static final Map<String, String> PATIENT =
      Map.of(
          "delivery.timeout.ms",
          "" + Waiting.LIMIT.multipliedBy(6).toMillis(),
          "reconnect.backoff.max.ms",
          "200");

  @RegisterExtension final Workspace work = new Workspace();

  private final Random random = new Random(SEED);
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void end() throws Exception {
    for (AutoCloseable one : open) {
      one.close();
    }
    open.clear();
  }

  @Test
  @Order(1)
  void atEveryStageOfACopy() throws Exception {
    TieredBrokers tier = strata("copy", 1);
    StockBroker broker = open(tier.alone(work.folder("copy"))).start();
    RecordLedger copied = Tiers.topic(broker, "copied", 2, TieredBrokers.topic());
    // An orderly stop waits for minutes if Kafka has not set up its remote metadata yet.
    broker.kill();
    for (int round = 0; round < ROUNDS; round++) {
      haltAtEach(tier, broker, copied, COPY, 3);
    }
    tier.awaitTiered(broker, "copied", 2, 3);
    verify(broker, copied);
    // What was published and not confirmed to Kafka is there twice, until Kafka deletes it; a
    // death can meet that in each partition, wherever it was in the other.
    int twice = twice(tier, "copied");
    assertThat(twice)
        .as("segments that are there twice, %s", seed())
        .isBetween(0, 2 * COPY.size() * ROUNDS);
    JavaProcess.Finished unused =
        TieredBrokers.scrubAsking(broker, "--remove-unneeded", "--older-than", "1s").orFail();
    // Copies that Kafka has begun are left alone for an hour; and none that it needs is removed.
    assertThat(twice(tier, "copied")).as("there twice, %s", seed()).isLessThanOrEqualTo(twice);
    verify(broker, copied);
    assertNothingStaysBehind(tier, broker, "copied");
  }

  @Test
  @Order(2)
  void atEveryStageOfADeletion() throws Exception {
    TieredBrokers tier = strata("delete", 1);
    StockBroker broker = open(tier.alone(work.folder("delete"))).start();
    RecordLedger cut = Tiers.topic(broker, "cut", 2, TieredBrokers.topic());
    RecordLedger whole = Tiers.topic(broker, "whole", 2, TieredBrokers.topic());
    whole.produce(broker.bootstrap(), 4_000, 1_500);
    cut.produce(broker.bootstrap(), 3_000, 1_500);
    tier.awaitTiered(broker, "cut", 2, 2);
    for (int round = 0; round < ROUNDS; round++) {
      for (String stage : DELETE) {
        cut.produce(broker.bootstrap(), 3_000, 1_500);
        tier.awaitTiered(broker, "cut", 2, 1);
        long before = TieredBrokers.offsets(broker, "cut", 0).earliestLocal();
        broker.stop();
        haltAt(tier, broker, stage, () -> deleteRecords(broker, before));
        broker.start();
        // Kafka forgets a log's start that it has not noted in its checkpoint yet.
        deleteRecords(broker, before);
        await()
            .untilAsserted(
                () ->
                    assertThat(StoreAudit.startOffsets(tier, "cut", 0).keySet())
                        .as("segments after a death at %s, %s", stage, seed())
                        .allMatch(offset -> offset >= before));
        long read = cut.verifyNewest(broker.bootstrap()).records();
        assertThat(read).as("records left after %s, %s", stage, seed()).isPositive();
        verify(broker, whole);
      }
    }
    assertNothingStaysBehind(tier, broker, "cut", "whole");
  }

  private static void deleteRecords(StockBroker victim, long before) throws Exception {
    String unused = victim.awaitOutput("Kafka Server started", Waiting.LIMIT);
    try (Admin admin = victim.admin()) {
      Topics.await(
          admin
              .deleteRecords(
                  Map.of(new TopicPartition("cut", 0), RecordsToDelete.beforeOffset(before)))
              .all());
    }
  }

  @Test
  @Order(3)
  void atEveryStageOfAMoveBetweenLevels() throws Exception {
    TieredBrokers tier = strata("move", 2);
    StockBroker broker =
        open(tier.alone(work.folder("move"))
                .set("rsm.config.migration.threshold", "0")
                .set("rsm.config.level-0.capacity", "6MiB"))
            .start();
    RecordLedger moved = Tiers.topic(broker, "moved", 2, TieredBrokers.topic());
    moved.produce(broker.bootstrap(), 2_000, 1_500);
    broker.kill();
    for (int round = 0; round < ROUNDS; round++) {
      haltAtEach(tier, broker, moved, MOVE, 2);
    }
    tier.awaitTiered(broker, "moved", 2, 2);
    verify(broker, moved);
    assertNothingStaysBehind(tier, broker, "moved");
  }

  /** The cold manager is Kafka's own, of its tests. */
  @Test
  @Order(4)
  void atEveryStageOfTheWayToTheColdManager() throws Exception {
    TieredBrokers tier = strata("cold", 1);
    Path below = work.folder("data-below");
    StockBroker broker =
        open(tier.alone(work.folder("cold"))
                .libraries(KafkaVersion.ofThisRun().storageTests())
                .set("rsm.config.cold.class.name", RemoteManager.LOCAL.className())
                .set("rsm.config.cold.dir", below.toString())
                .set("rsm.config.level-0.capacity", "6MiB")
                .set("rsm.config.migration.threshold", "0"))
            .systemProperty(TestHook.PROMOTE, "false")
            .start();
    RecordLedger chilled = Tiers.topic(broker, "chilled", 2, TieredBrokers.topic());
    chilled.produce(broker.bootstrap(), 2_000, 1_500);
    broker.kill();
    for (int round = 0; round < ROUNDS; round++) {
      haltAtEach(tier, broker, chilled, COLD, 2);
      tier.awaitTiered(broker, "chilled", 2, 0);
      assertThat(RemoteManager.LOCAL.segments(below)).as("the cold manager's").isNotEmpty();
      verify(broker, chilled);
      broker.stop();
      broker
          .set("rsm.config.level-0.capacity", "64MiB")
          .set("rsm.config.migration.threshold", "0.9")
          .systemProperty(TestHook.PROMOTE, "true");
      haltAt(tier, broker, "COLD_RESTORED", () -> {});
      broker.start();
      verify(broker, chilled);
      broker
          .set("rsm.config.level-0.capacity", "6MiB")
          .set("rsm.config.migration.threshold", "0")
          .systemProperty(TestHook.PROMOTE, "false");
    }
    assertNothingStaysBehind(tier, broker, "chilled");
    assertThat(RemoteManager.LOCAL.segments(below)).as("the cold manager's").isEmpty();
  }

  @Test
  @Order(5)
  @SuppressWarnings("try") // the load works by being open
  void atRandom() throws Exception {
    TieredBrokers tier = strata("random", 2);
    StockBroker broker =
        open(tier.withPools(work.folder("random"), work.newPool("random", "24MiB", 256))).start();
    RecordLedger steady = Tiers.topic(broker, "steady", 2, TieredBrokers.topic());
    RecordLedger retained =
        Tiers.topic(broker, "retained", 2, TieredBrokers.topic("retention.bytes", "3000000"));
    try (Load first = load(broker, steady);
        Load second = load(broker, retained)) {
      for (int cycle = 1; cycle <= CYCLES; cycle++) {
        TimeUnit.MILLISECONDS.sleep(500 + random.nextInt(2_500));
        broker.kill();
        assertNothingPartial(tier);
        broker.start();
      }
    }
    tier.awaitTiered(broker, "steady", 2, 1);
    verify(broker, steady);
    retained.assertNoneFailed();
    long read = retained.verifyNewest(broker.bootstrap(), 3_000_000).records();
    assertThat(read).as("records that retention has left, %s", seed()).isPositive();
    assertNothingStaysBehind(tier, broker, "steady", "retained");
  }

  // ---------------------------------------------------------------------------------------------

  /** The broker dies under load at each of the stages, at one of the first that it comes to. */
  private void haltAtEach(
      TieredBrokers tier, StockBroker victim, RecordLedger ledger, List<String> stages, int first)
      throws Exception {
    try (Load load = load(victim, ledger)) {
      for (String stage : stages) {
        haltAt(tier, victim, stage + ":" + (1 + random.nextInt(first)), () -> {});
      }
      assertThat(load.isRunning()).as("the load goes on").isTrue();
      StockBroker unused = victim.start();
    }
  }

  /** Starts the stopped broker, and waits until it has halted at the stage. */
  private static void haltAt(
      TieredBrokers tier, StockBroker victim, String stage, Hooks.Deed meanwhile) throws Exception {
    Hooks.haltAt(victim, stage, seed(), meanwhile);
    assertNothingPartial(tier);
  }

  private static void assertNothingPartial(TieredBrokers tier) throws Exception {
    for (Path directory : tier.directories()) {
      long unused = StoreAudit.assertNothingPartial(directory);
    }
  }

  /** With all topics every file of theirs goes, and of every copy that failed. */
  private static void assertNothingStaysBehind(
      TieredBrokers tier, StockBroker broker, String... topics) throws Exception {
    for (String topic : topics) {
      Topics.delete(broker, topic);
    }
    for (String topic : topics) {
      tier.awaitNothingOf(topic);
    }
    broker.stop();
    TimeUnit.MILLISECONDS.sleep(ORPHAN_AGE.toMillis());
    broker
        .strata("remote", "scrub", "--remove-orphans", "--orphan-age", ORPHAN_AGE.toSeconds() + "s")
        .orFail();
    for (Path directory : tier.directories()) {
      assertThat(StoreAudit.unfinished(directory)).as("what failed copies left").isEmpty();
      assertThat(tier.manager().segments(directory)).as("segments").isEmpty();
    }
  }

  private static int twice(TieredBrokers tier, String topic) throws Exception {
    int twice = 0;
    for (int p = 0; p < 2; p++) {
      for (int count : StoreAudit.startOffsets(tier, topic, p).values()) {
        twice += count - 1;
      }
    }
    return twice;
  }

  private static void verify(StockBroker broker, RecordLedger ledger) {
    ledger.assertNoneFailed();
    assertThat(ledger.verify(broker.bootstrap()).records())
        .as("records of %s, %s", ledger.topic(), seed())
        .isEqualTo(ledger.acknowledged());
  }

  private TieredBrokers strata(String name, int levels) {
    Assumptions.assumeTrue(
        RemoteManager.ofThisRun() == RemoteManager.STRATA, "the stages are those of our manager");
    Path[] directories = new Path[levels];
    for (int i = 0; i < levels; i++) {
      directories[i] = work.folder("data-" + name + "-" + i);
    }
    return TieredBrokers.over(directories);
  }

  private StockBroker open(StockBroker.Builder builder) throws Exception {
    StockBroker broker =
        builder
            .library(Hooks.folder(work))
            .jvmOption("-D" + TestHook.ORPHAN_MILLIS + "=" + ORPHAN_AGE.toMillis())
            .build();
    open.add(broker);
    return broker;
  }

  private static Load load(StockBroker broker, RecordLedger ledger) {
    return Load.start(
        ledger, broker.bootstrap(), Load.Shape.ofBytesPerSecond(3 << 20), SEED, PATIENT);
  }

  private static String seed() {
    return "strata.it.seed=" + SEED;
  }
}
