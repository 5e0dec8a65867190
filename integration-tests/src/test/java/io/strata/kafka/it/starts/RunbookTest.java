package io.strata.kafka.it.starts;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.layout.SuperblockLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Carries out docs/runbooks.md, one after the other on one broker; after each all records are read.
 * What {@code PoolLifecycleTest} does already (a larger pool, a second one) is not repeated.
 */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RunbookTest {

  private static final int RECORDS = 8_000;

  @RegisterExtension final Workspace work = new Workspace();

  private final RecordLedger orders = new RecordLedger("orders", 2, 1);
  private StockBroker broker;
  private Path pool;

  @BeforeAll
  void start() throws Exception {
    pool = work.newPool("first", "64MiB");
    broker = work.start(Tiers.broker(work.folder("broker"), pool));
    Topics.create(broker, "orders", 2, Map.of("segment.bytes", "" + (1 << 20)));
    orders.produce(broker.bootstrap(), RECORDS, 1_000);
  }

  @Test
  @Order(1)
  void aPoolsDeviceIsReplaced() throws Exception {
    broker.stop();
    Path moved = work.pool("moved");
    run("cp", "--reflink=never", "--preserve=all", pool.toString(), moved.toString());
    Path old = pool;
    pool = moved;
    broker.set("strata.pools", pool.toString()).writeProperties();
    assertDoctorFindsNothing();
    broker.start();
    goesOn();

    broker.stop();
    broker.set("strata.pools", old.toString());
    assertThat(broker.startRefused().output()).contains(old.toString(), "older than");
    Files.delete(old);
    broker.set("strata.pools", pool.toString()).start();
    goesOn();
  }

  @Test
  @Order(2)
  void onePoolOfTwoIsRemoved() throws Exception {
    broker.stop();
    Path second = work.newPool("second", "64MiB");
    broker.set("strata.pools", pool + "," + second).start();
    goesOn();

    broker.stop();
    broker.strata("drain").orFail();
    broker.set("strata.pools", pool.toString()).start();
    Files.delete(second);
    orders.produce(broker.bootstrap(), RECORDS, 1_000);
    goesOn();
    assertThat(segments()).containsPattern("orders-0 +\\d+ +hot ");
  }

  @Test
  @Order(3)
  void theBrokerMovesToAnotherHost() throws Exception {
    broker.stop();
    Path from = broker.logDirectory();
    Path bare = work.folder("newhost").resolve("bare");
    run("cp", "-r", from.toString(), bare.toString());
    Path moved = pool.resolveSibling("newhost.pool");
    run("cp", "--reflink=never", "--preserve=all", pool.toString(), moved.toString());
    broker.set("log.dirs", bare.toString()).set("strata.pools", moved.toString());
    assertThat(broker.startRefused().output()).contains("no extended attributes");
    assertThat(doctor().output()).contains("FAIL", "no extended attributes");
    // Its log files are beginnings, and with another pool nothing else says so.
    Path other = work.newPool("other", "64MiB");
    broker.set("strata.pools", other.toString());
    assertThat(broker.startRefused().output()).contains("no extended attributes");
    broker.set("strata.pools", moved.toString());

    Path whole = work.folder("newhost").resolve("whole");
    run("cp", "-a", from.toString(), whole.toString());
    // As rsync does: the attempt above may have written to its copy of the pool.
    run("cp", "--reflink=never", "--preserve=all", pool.toString(), moved.toString());
    broker.set("log.dirs", whole.toString()).writeProperties();
    assertDoctorFindsNothing();
    broker.start();
    pool = moved;
    goesOn();
  }

  @Test
  @Order(4)
  void itIsSaidWhyASegmentIsStillThere() throws Exception {
    assertThat(segments()).containsPattern("orders-0 +\\d+ +hot ");
    Tiers.alter(broker, Map.of("strata.migration.threshold", "0"));
    await().until(() -> segments().contains("logdirs\n"));
    assertThat(broker.strata("status").orFail().output()).contains("BACKLOG", "OLDEST DIRTY");
  }

  @Test
  @Order(5)
  void aCopyOfAStoppedBrokerIsABackup() throws Exception {
    broker.stop();
    Path backup = work.folder("backup");
    run("cp", "-a", broker.logDirectory().toString(), backup.resolve("log").toString());
    Path copy = pool.resolveSibling("backup.pool");
    run("cp", "--reflink=never", "--preserve=all", pool.toString(), copy.toString());
    long saved = orders.acknowledged();
    broker.start();
    goesOn();

    broker.stop();
    // A pool from before, with log directories of now.
    String current = pool.toString();
    broker.set("strata.pools", copy.toString());
    assertThat(broker.startRefused().output()).contains("older than");
    String directory = broker.logDirectory().toString();
    broker.set("log.dirs", backup.resolve("log").toString()).start();
    assertThat(orders.left(broker.bootstrap()).records()).isEqualTo(saved);
    broker.stop();
    broker.set("log.dirs", directory).set("strata.pools", current).start();
    goesOn();
  }

  /**
   * The next layout version in the superblock stands for a pool of a newer Strata. For that
   * version's own drain the pool has its true version again.
   */
  @Test
  @Order(6)
  void theWayBackToAnOlderStrataIsADrainByTheNewerOne() throws Exception {
    broker.stop();
    SuperblockPatch.setVersion(pool, SuperblockLayout.VERSION + 1);
    Fingerprint newer = disks();
    assertOlderIsRefused(broker.startRefused().output());
    broker.writeProperties();
    for (String command :
        List.of("drain", "accept-loss --yes", "pool repair --yes", "pool grow --size 128MiB")) {
      JavaProcess.Finished finished = broker.strata(command.split(" "));
      assertThat(finished.exitCode()).as(finished.output()).isNotZero();
      assertOlderIsRefused(finished.output());
    }
    assertThat(doctor().output()).contains("FAIL", "found layout version");
    assertThat(disks()).as("the older version has changed something").isEqualTo(newer);

    SuperblockPatch.setVersion(pool, SuperblockLayout.VERSION);
    broker.strata("drain").orFail();
    SuperblockPatch.setVersion(pool, SuperblockLayout.VERSION + 1);
    assertOlderIsRefused(broker.startRefused().output());
    Files.delete(pool);
    Pools.create(pool, "64MiB");
    assertDoctorFindsNothing();
    broker.start();
    goesOn();
  }

  private Fingerprint disks() throws IOException {
    return Fingerprint.of(List.of(broker.logDirectory(), pool));
  }

  private void assertOlderIsRefused(String output) {
    assertThat(output)
        .contains(
            "pool %s: found layout version %d, expected at most %d"
                .formatted(pool, SuperblockLayout.VERSION + 1, SuperblockLayout.VERSION),
            "run 'strata drain' with the newer jar, remove this file");
  }

  @Test
  @Order(7)
  void uninstallingTakesLittleTimeWhenTheLiveBrokerHasDoneTheMostOfIt() throws Exception {
    orders.produce(broker.bootstrap(), RECORDS, 1_000);
    Tiers.alter(broker, Map.of("strata.topics.exclude", ".*"));
    // Only what Kafka appends to is left: one segment of each partition, and Kafka's own topics.
    await().ignoreExceptions().until(() -> hot(0) <= 1 && hot(1) <= 1);
    broker.stop();
    broker.strata("drain").orFail();
    Files.delete(pool);
    broker.withoutStrata().start();
    goesOn();
  }

  private int hot(int partition) throws IOException {
    return LogFiles.hotSegments(LogFiles.partition(broker, "orders", partition)).size();
  }

  /** More records, and all are read. */
  private void goesOn() {
    orders.produce(broker.bootstrap(), RECORDS / 8, 1_000);
    assertThat(orders.verify(broker.bootstrap()).records()).isEqualTo(orders.acknowledged());
  }

  private String segments() {
    return broker.strata("segments", "--topic", "orders").orFail().output();
  }

  private JavaProcess.Finished doctor() throws IOException {
    broker.writeProperties();
    return broker.strata("doctor");
  }

  private void assertDoctorFindsNothing() throws IOException {
    assertThat(doctor().orFail().output()).contains(" 0 failed").doesNotContain("FAIL");
  }

  private static void run(String... command) throws IOException, InterruptedException {
    assertThat(TestMount.run(command)).isEmpty();
  }
}
