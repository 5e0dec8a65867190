package io.strata.kafka.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Waiting;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
 * A broker that runs out of what a process needs: descriptors, threads, memory. It may fail, as a
 * stock broker does; after a restart every acknowledged record is there, and the pool is sound. One
 * broker for all of it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class StarvationTest {

  @RegisterExtension final Workspace work = new Workspace();

  private StockBroker broker;
  private RecordLedger rolling;
  private RecordLedger growing;

  @BeforeAll
  void start() throws Exception {
    Path pool = work.newPool("starved", "96MiB", 512);
    broker =
        work.start(
            Tiers.broker(work.folder("broker"), pool)
                .set("strata.migration.threshold", "-1")
                .set("strata.migration.promote", "false"));
    rolling = FailingMedia.topic(broker, "rolling", Tiers.SEGMENT, 4_000);
    growing = FailingMedia.topic(broker, "growing", 64 * FailingMedia.MIB, 1_000);
  }

  /** Whatever has become of it: it is started again as it should be, and has everything. */
  @AfterEach
  void everythingIsThere() throws Exception {
    if (broker.isRunning()) {
      broker.kill();
    }
    broker.close();
    broker.ownJvmOptions();
    broker.start();
    FailingMedia.assertAllThere(broker, rolling, growing);
    long before = rolling.acknowledged();
    FailingMedia.attempt(rolling, broker, 1_500, 1_000);
    assertThat(rolling.acknowledged() - before).as("records acknowledged").isEqualTo(1_500);
    FailingMedia.assertAllThere(broker, rolling);
    Tiers.assertAccounting(broker);
  }

  @Test
  @Order(1)
  void noDescriptorIsLeft() throws Exception {
    int open = ProcessLimits.openFiles(broker.pid());
    // Connections that are open may be used; a segment that is rolled needs six files.
    ProcessLimits.openFiles(broker.pid(), open + 3L);
    FailingMedia.attempt(growing, broker, 1_000, 1_000);
    FailingMedia.attempt(rolling, broker, 5_000, 1_000);
    assertToldOf("Too many open files");
  }

  @Test
  @Order(2)
  void noThreadCanBeMade() throws Exception {
    try (ProcessLimits.Threads threads = new ProcessLimits.Threads(broker.pid(), 0)) {
      // Kafka's own schedulers want threads too: what it cannot do it answers with an error.
      Tiers.alter(
          broker, Map.of("strata.migration.threshold", "0", "strata.migration.threads", "4"));
      FailingMedia.attempt(growing, broker, 2_000, 1_000);
      FailingMedia.attempt(rolling, broker, 3_000, 1_000);
      assertThat(broker.isRunning()).as("the broker runs").isTrue();
      assertToldOf("unable to create native thread");
      threads.lift();
      Tiers.alter(
          broker, Map.of("strata.migration.threshold", "0.0", "strata.migration.threads", "3"));
      Tiers.awaitClean(broker, "hot");
      Tiers.reset(broker, "strata.migration.threshold", "strata.migration.threads");
    }
  }

  /** Buffers outside of the heap: nearly none. */
  @Test
  @Order(3)
  void noDirectMemoryIsLeft() throws Exception {
    starve("-XX:MaxDirectMemorySize=512k", "-Xmx256m");
  }

  /** A heap with which Kafka just starts. */
  @Test
  @Order(4)
  void noHeapIsLeft() throws Exception {
    starve("-Xms32m", "-Xmx72m");
  }

  private void starve(String... options) throws Exception {
    broker.stop();
    broker.ownJvmOptions(options);
    broker.startWithoutWaiting();
    try {
      String unused = broker.awaitOutput("Kafka Server started", Waiting.LIMIT);
    } catch (AssertionError e) {
      return; // It does not even start; that it has lost nothing is seen afterwards.
    }
    FailingMedia.attempt(growing, broker, 3_000, 10_000);
    FailingMedia.attempt(rolling, broker, 10_000, 1_000);
  }

  private void assertToldOf(String words) throws IOException {
    List<String> lines = broker.output().lines().filter(line -> line.contains(words)).toList();
    assertThat(lines).as("lines with '%s'", words).isNotEmpty();
  }
}
