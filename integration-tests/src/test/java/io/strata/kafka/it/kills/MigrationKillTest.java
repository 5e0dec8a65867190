package io.strata.kafka.it.kills;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Hooks;
import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.tier.spec.TestHook;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A broker that dies at every stage of every kind of move, as by {@code kill -9}: no acknowledged
 * record is lost or there twice, and the pools' accounting is exact. The JVM halts itself where
 * {@link TestHook#HALT} says. After each death the pools are checked as they lie, and after each
 * kind of move all records are read.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class MigrationKillTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());

  /** How often each stage is met; more in a longer run. */
  private static final int ROUNDS = Integer.getInteger("strata.it.kill.rounds", 1);

  /** Of the random loop. */
  private static final int CYCLES = Integer.getInteger("strata.it.kill.migration.cycles", 3);

  private static final List<String> DOWN =
      List.of(
          "DESTAGE_STARTED",
          "DESTAGE_COPIED",
          "DESTAGE_FORCED",
          "DESTAGE_VERIFIED",
          "DESTAGE_CLEAN",
          "EVICT_STARTED",
          "EVICT_FREED",
          "EVICT_UNTAGGED");
  private static final List<String> UP =
      List.of(
          "RELOCATE_STARTED",
          "RELOCATE_COPIED",
          "RELOCATE_COMMITTED",
          "RELOCATE_TAGGED",
          "RELOCATE_DONE");
  private static final Map<String, String> DOWNWARDS =
      Map.of(
          "strata.migration.threshold", "0",
          "strata.migration.mode", "threshold",
          "strata.migration.promote", "false");
  private static final Map<String, String> UPWARDS =
      Map.of(
          "strata.migration.threshold", "0.5",
          "strata.migration.mode", "eager",
          "strata.migration.promote", "true");
  private static final List<String> WHOLE_AGAIN =
      List.of("RELOCATE_COPIED", "RELOCATE_TAGGED", "RELOCATE_DONE");
  private static final List<String> BETWEEN_POOLS =
      List.of("RELOCATE_COPIED", "RELOCATE_TAGGED", "RELOCATE_DONE", "RELOCATE_COMMITTED");

  private static final Map<String, String> PATIENT =
      Map.of("delivery.timeout.ms", "1200000", "reconnect.backoff.max.ms", "200");

  @RegisterExtension final Workspace work = new Workspace();

  private final Random random = new Random(SEED);
  private final List<RecordLedger> ledgers = new ArrayList<>();
  private StockBroker broker;

  @BeforeAll
  void start() throws Exception {
    Path pool = work.newPool("hot", "24MiB", 256);
    broker =
        work.closing(Tiers.broker(work.folder("broker"), pool).library(Hooks.folder(work)).build());
  }

  @AfterEach
  void end() {
    broker.close();
    ledgers.clear();
  }

  @Test
  @Order(1)
  @SuppressWarnings("try") // the load works by being open
  void atEveryStageOfTheWayDown() throws Exception {
    allDown();
    RecordLedger down = topic(broker, "down", 3);
    broker.stop();
    for (int round = 0; round < ROUNDS; round++) {
      try (Load load = load(broker, down)) {
        for (String stage : DOWN) {
          // The engine evicts by itself in one of the modes only.
          boolean eager = stage.startsWith("DESTAGE") && random.nextBoolean();
          broker.set("strata.migration.mode", eager ? "eager" : "threshold");
          haltAt(broker, stage + ":" + (1 + random.nextInt(3)), () -> {});
        }
        broker.start();
      }
      verifyAndStop(broker);
    }
  }

  @Test
  @Order(2)
  void atEveryStageOfTheWayUp() throws Exception {
    allDown();
    RecordLedger up = topic(broker, "up", 3);
    up.produce(broker.bootstrap(), 3_000, 10_000);
    awaitAllDown();
    for (int round = 0; round < ROUNDS; round++) {
      for (String stage : UP) {
        haltAt(broker, stage + ":" + (1 + random.nextInt(2)), () -> downAndUp(up));
      }
      broker.start();
      downAndUp(up);
      Tiers.awaitQuiet(broker);
      assertThat(Tiers.usage(broker).clean()).as("clean bytes after promotion").isPositive();
      Tiers.reset(broker, UPWARDS.keySet().toArray(String[]::new));
      verifyAndStop(broker);
      allDown();
      awaitAllDown();
    }
  }

  /**
   * Has new segments go down and up again: what was below at the start stays there. An active one
   * may go on in the pool before, as the round before has left the settings, and end the broker.
   */
  private void downAndUp(RecordLedger up) throws Exception {
    awaitStartOrEnd(broker);
    ask(broker, admin -> Tiers.alter(admin, broker, DOWNWARDS));
    if (!broker.isRunning()) {
      return;
    }
    up.produce(broker.bootstrap(), 900, 10_000);
    Tiers.awaitEvicted(broker);
    ask(broker, admin -> Tiers.alter(admin, broker, UPWARDS));
  }

  /** Starts the broker so that all sealed segments go to the log file and are evicted. */
  private void allDown() throws Exception {
    DOWNWARDS.forEach(broker::set);
    broker.start();
  }

  private void awaitAllDown() throws Exception {
    Tiers.awaitEvicted(broker);
    broker.stop();
  }

  @Test
  @Order(3)
  void atEveryStageOfMakingASpilledSegmentWhole() throws Exception {
    allDown();
    awaitAllDown();
    broker.set("strata.migration.threshold", "-1").set("strata.migration.mode", "eager");
    for (int round = 0; round < ROUNDS; round++) {
      String filler = "filler-" + round;
      broker.set("strata.migration.promote", "false").start();
      RecordLedger filling = topic(broker, filler, 1);
      filling.produce(broker.bootstrap(), 3_200, 5_000);
      ledgers.remove(filling);
      // So large that what the pool has left is not enough for any of the five, and sealed.
      topic(broker, "spilled-" + round, 5, Map.of("segment.bytes", "" + 4 * Tiers.SEGMENT))
          .produce(broker.bootstrap(), 5_000, 5_000);
      assertThat(Jmx.value(broker, "type=Segments,name=Spilled"))
          .as("spilled segments")
          .isGreaterThanOrEqualTo(WHOLE_AGAIN.size());
      broker.stop();
      broker.set("strata.migration.promote", "true");
      haltAt(broker, WHOLE_AGAIN.get(0), () -> deleteFromADyingBroker(broker, filler));
      for (String stage : WHOLE_AGAIN.subList(1, WHOLE_AGAIN.size())) {
        haltAt(broker, stage, () -> {});
      }
    }
    broker.start();
    verifyAndStop(broker);
  }

  private static void deleteFromADyingBroker(StockBroker victim, String topic) throws Exception {
    awaitStartOrEnd(victim);
    ask(victim, admin -> admin.deleteTopics(List.of(topic)).all());
  }

  private static void awaitStartOrEnd(StockBroker victim) {
    await().until(() -> !victim.isRunning() || victim.output().contains("Kafka Server started"));
  }

  /** A broker may end before it answers. */
  private static void ask(StockBroker victim, Function<Admin, KafkaFuture<Void>> request)
      throws Exception {
    Admin admin = victim.admin();
    try {
      KafkaFuture<Void> answer = request.apply(admin);
      await().until(() -> answer.isDone() || !victim.isRunning());
      if (victim.isRunning()) {
        answer.get();
      }
    } catch (ExecutionException e) {
      assertThat(victim.isRunning()).as("a broker that does not answer: %s", e).isFalse();
    } finally {
      // Not as try-with-resources does, which waits for the answer of a broker that has ended.
      admin.close(Duration.ofSeconds(1));
    }
  }

  @Test
  @Order(4)
  @SuppressWarnings("try") // the load works by being open
  void atStagesBetweenPools() throws Exception {
    Path pmem = work.newPool("pmem", "16MiB", 128);
    Path ssd = work.newPool("ssd", "24MiB", 128);
    StockBroker two =
        work.closing(
            Tiers.broker(work.folder("two"), pmem)
                .library(Hooks.folder(work))
                .secondTier(ssd)
                .set("strata.migration.threshold", "0.2")
                .build());
    two.start();
    RecordLedger cascading = topic(two, "cascading", 2);
    two.stop();
    for (int round = 0; round < ROUNDS; round++) {
      try (Load load = load(two, cascading)) {
        for (String stage : BETWEEN_POOLS.subList(0, 3)) {
          haltAt(two, stage + ":" + (1 + random.nextInt(3)), () -> {});
        }
        two.start();
      }
      String deleted = "deleted-" + round;
      RecordLedger pushing = topic(two, deleted, 2);
      // However slow the machine is: what the next start is to move has not moved before.
      Tiers.alter(two, Map.of("strata.migration.threshold", "-1"));
      pushing.produce(two.bootstrap(), 4_000, 5_000);
      ledgers.remove(pushing);
      Tiers.reset(two, "strata.migration.threshold");
      two.stop();
      haltAt(two, BETWEEN_POOLS.get(3), () -> deleteFromADyingBroker(two, deleted));
      two.start();
      verifyAndStop(two);
    }
  }

  @Test
  @Order(5)
  @SuppressWarnings("try") // the load works by being open
  void atRandom() throws Exception {
    broker.set("strata.migration.threshold", "0.1").set("strata.migration.promote", "true").start();
    RecordLedger steady = topic(broker, "steady", 3);
    RecordLedger retained = topic(broker, "retained", 2, Map.of("retention.bytes", "3000000"));
    ledgers.remove(retained);
    try (Load first = load(broker, steady);
        Load second = load(broker, retained)) {
      for (int cycle = 1; cycle <= CYCLES; cycle++) {
        Tiers.alter(
            broker, Map.of("strata.migration.mode", cycle % 2 == 0 ? "threshold" : "eager"));
        TimeUnit.MILLISECONDS.sleep(500 + random.nextInt(1_500));
        broker.killAndStart();
      }
    }
    retained.assertNoneFailed();
    retained.verifyNewest(broker.bootstrap(), 3_000_000);
    verifyAndStop(broker);
  }

  // ---------------------------------------------------------------------------------------------

  /** Starts the stopped broker, and waits until it has halted at the stage. */
  private static void haltAt(StockBroker victim, String stage, Hooks.Deed meanwhile)
      throws InterruptedException {
    Hooks.haltAt(victim, stage, seed(), meanwhile);
    victim.strata("pool", "check").orFail();
  }

  private void verifyAndStop(StockBroker running) throws Exception {
    for (RecordLedger ledger : ledgers) {
      ledger.assertNoneFailed();
      assertThat(ledger.verify(running.bootstrap()).records())
          .as("records of %s, %s", ledger.topic(), seed())
          .isEqualTo(ledger.acknowledged());
    }
    Tiers.awaitQuiet(running);
    Tiers.assertAccounting(running);
    Tiers.audit(running);
  }

  private static Load load(StockBroker broker, RecordLedger ledger) {
    return Load.start(
        ledger, broker.bootstrap(), Load.Shape.ofBytesPerSecond(4 << 20), SEED, PATIENT);
  }

  private RecordLedger topic(StockBroker owner, String name, int partitions) throws Exception {
    return topic(owner, name, partitions, Map.of());
  }

  private RecordLedger topic(
      StockBroker owner, String name, int partitions, Map<String, String> config) throws Exception {
    RecordLedger ledger = Tiers.topic(owner, name, partitions, config);
    ledgers.add(ledger);
    return ledger;
  }

  private static String seed() {
    return "strata.it.seed=" + SEED;
  }
}
