package io.strata.kafka.it.starts;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.layout.SuperblockLayout;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What a broker must not start with. One broker has hot segments; each test spoils one thing, sees
 * the broker refuse with a message that says what was found and what to do, and puts it right; in
 * the end the broker starts, and every record is there.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RefusalTest {

  @RegisterExtension final Workspace work = new Workspace();

  private final RecordLedger ledger = new RecordLedger("hot", 1, 1);
  private StockBroker broker;
  private Path pool;
  private Map<String, String> good;

  @BeforeAll
  void makeHotSegments() throws Exception {
    pool = work.newPool("hot", "32MiB");
    broker = work.start(StockBroker.in(work.folder("broker")).strata(pool));
    Topics.create(broker, "hot", 1, Map.of());
    ledger.produce(broker.bootstrap(), 1_000, 1_000);
    Files.copy(pool, copyOfTheRunningBrokersPool());
    broker.stop();
    good = broker.properties();
    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "hot", 0))).isNotEmpty();
    Files.copy(pool, copyOfPool());
  }

  @BeforeEach
  void everythingIsRight() {
    broker.setAll(good).installed(Installed.JAR_AND_FLAG);
  }

  @AfterEach
  void putRight() throws Exception {
    restorePool();
    broker.setAll(good).installed(Installed.JAR_AND_FLAG);
  }

  /** Kafka's own words, and those of the mark in meta.properties. */
  @Test
  void flagIsMissing() throws Exception {
    broker.installed(Installed.JAR);
    assertRefusedByKafka("meta.properties", "In use by Strata", "KAFKA_OPTS");
  }

  /** Nothing is marked yet: the reporter refuses. */
  @Test
  void flagIsMissingAtAFirstStart() throws Exception {
    StockBroker first =
        work.closing(StockBroker.in(work.folder("first")).strata(pool).build())
            .installed(Installed.JAR);
    assertRefusedByTheReporter(first, "-Djava.nio.file.spi.DefaultFileSystemProvider=");
  }

  /** The same on a broker whose controller is another process. */
  @Test
  void flagIsMissingAtTheFirstStartOfABrokerAlone() throws Exception {
    StockBroker controller =
        work.closing(StockBroker.in(work.folder("controller")).controllerAlone().build());
    StockBroker alone =
        work.closing(
                StockBroker.in(work.folder("alone")).strata(pool).joining(controller, 2).build())
            .installed(Installed.JAR);
    controller.startWithoutWaiting();
    assertRefusedByTheReporter(alone, "-Djava.nio.file.spi.DefaultFileSystemProvider=");
  }

  /** With the flag a first start is refused before Kafka has made anything too. */
  @Test
  void aFirstStartIsRefusedByTheProvider() throws Exception {
    StockBroker first =
        work.closing(StockBroker.in(work.folder("first-with-flag")).strata(pool).build());
    // Kafka 4.4 has made the metadata log when it formatted the directory.
    Fingerprint formatted = Fingerprint.of(List.of(first.logDirectory()));
    assertRefused(first.startRefused(), pool.toString(), "found a pool of broker 1 of cluster");
    assertThat(Fingerprint.of(List.of(first.logDirectory()))).isEqualTo(formatted);
  }

  /** By the provider, which needs no controller. */
  @Test
  void aBrokerAloneIsRefusedByTheProvider() throws Exception {
    StockBroker controller =
        work.closing(StockBroker.in(work.folder("no-controller")).controllerAlone().build());
    StockBroker alone =
        work.closing(
            StockBroker.in(work.folder("alone-with-flag"))
                .strata(pool)
                .joining(controller, 2)
                .build());
    assertRefused(alone.startRefused(), pool.toString(), "found a pool of broker 1 of cluster");
  }

  @Test
  void kafkaAndStrataReadDifferentFiles() throws Exception {
    Path other = work.folder("other-file").resolve("server.properties");
    broker.set("strata.topics.exclude", "one").writeProperties();
    Files.copy(broker.propertiesFile(), other);
    broker.set("strata.topics.exclude", "another");
    broker.systemProperty("strata.config", other.toString());
    try {
      assertRefusedByTheReporter(broker, "'another', Strata read 'one'");
    } finally {
      broker.withoutSystemProperty("strata.config");
      // The tier was opened, and has counted that in the pool: the copy is an older one now.
      Files.copy(pool, copyOfPool(), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  @Test
  void theJvmIsTakenForATool() throws Exception {
    broker.systemProperty("strata.role", "tool");
    try {
      assertRefusedByTheReporter(broker, "Strata took this JVM for a tool");
    } finally {
      broker.withoutSystemProperty("strata.role");
    }
  }

  @Test
  void aNewerStrataHasMarkedTheLogDirectory() throws Exception {
    Path meta = broker.logDirectory().resolve("meta.properties");
    String marked = Files.readString(meta);
    Files.writeString(meta, marked.replace("#strata-marker 1\n", "#strata-marker 2\n"));
    try {
      assertRefused(meta.toString(), "found Strata's mark of version 2, expected 1");
    } finally {
      Files.writeString(meta, marked);
    }
  }

  @Test
  void jarIsMissing() throws Exception {
    broker.installed(Installed.NOTHING);
    assertRefusedByKafka("meta.properties", "In use by Strata", "Strata's jar");
    broker.installed(Installed.FLAG);
    assertRefusedByKafka("io.strata.kafka.nio.StrataFileSystemProvider");
  }

  @Test
  void reporterIsMissing() throws Exception {
    broker.unset("metric.reporters");
    assertRefused("metric.reporters", "io.strata.kafka.StrataReporter");
  }

  @Test
  void poolsAreNotConfigured() throws Exception {
    broker.unset("strata.pools");
    assertRefused("strata.pools");
  }

  /** All at once: each is named, so that the operator has one round of corrections. */
  @Test
  void keysAreMalformed() throws Exception {
    broker.set("strata.pools", pool + ",," + pool);
    broker.set("strata.pool.type", "quick");
    broker.set("strata.topics.include", "[a");
    broker.set("strata.topics.exclude", "(b");
    broker.set("strata.require.dax", "1");
    broker.set("strata.spill.force", "often");
    broker.set("strata.poool", "x");
    assertRefused(
        "strata.pools",
        "strata.pool.type",
        "'quick'",
        "strata.topics.include",
        "strata.topics.exclude",
        "strata.require.dax",
        "strata.spill.force",
        "'often'",
        "strata.poool");
  }

  @Test
  void segmentsArePreallocated() throws Exception {
    broker.set("log.preallocate", "true");
    assertRefused("log.preallocate", "false");
  }

  @Test
  void classesWouldLoadTwice() throws Exception {
    broker.set(
        "remote.log.storage.manager.class.name",
        "io.strata.kafka.migration.remote.StrataRemoteStorageManager");
    broker.set("remote.log.storage.manager.class.path", Distribution.strataJar().toString());
    assertRefused("remote.log.storage.manager.class.path", "remove");
  }

  @Test
  void poolDoesNotSurviveThePowerCutThatItMust() throws Exception {
    broker.set("strata.require.dax", "true");
    assertRefused(pool.toString(), "strata.require.dax");
  }

  @Test
  void poolIsMissing() throws Exception {
    Files.delete(pool);
    assertRefused(pool.toString(), "mount its file system", "hot-0", "accept-loss");
  }

  @Test
  @Tag("long")
  void poolIsOfAnotherBroker() throws Exception {
    Files.delete(pool);
    Pools.strata(
            "pool",
            "create",
            "--size",
            "32MiB",
            "--broker-id",
            "7",
            "--cluster-id",
            "other",
            pool.toString())
        .orFail();
    assertRefused(pool.toString(), "7");
  }

  /** The broker's own, but not the one that holds its segments. */
  @Test
  void poolIsNotTheOneWithTheSegments() throws Exception {
    Files.delete(pool);
    Pools.create(pool, "32MiB");
    assertRefused(pool.toString(), "hot-0");
  }

  /** Kafka does not recover a log after an orderly stop: it would not see what the copy lacks. */
  @Test
  void poolIsACopyFromBeforeTheStop() throws Exception {
    Files.copy(copyOfTheRunningBrokersPool(), pool, StandardCopyOption.REPLACE_EXISTING);
    assertRefused(pool.toString(), "the pool file is older than the log directory");
  }

  @Test
  @Tag("long")
  void poolIsOfANewerVersion() throws Exception {
    int newer = SuperblockLayout.VERSION + 1;
    SuperblockPatch.setVersion(pool, newer);
    Fingerprint before = Fingerprint.of(List.of(broker.logDirectory(), pool));
    assertRefused(
        "pool %s: found layout version %d, expected at most %d"
            .formatted(pool, newer, SuperblockLayout.VERSION),
        "'strata drain' with the newer jar");
    assertThat(Fingerprint.of(List.of(broker.logDirectory(), pool))).isEqualTo(before);
  }

  @Test
  @Tag("long")
  void poolHasABrokenChecksum() throws Exception {
    SuperblockPatch.damage(pool);
    assertRefused(pool.toString(), "checksum");
  }

  @Test
  @Tag("long")
  void poolIsTruncated() throws Exception {
    try (FileChannel file = FileChannel.open(pool, StandardOpenOption.WRITE)) {
      file.truncate(file.size() / 2);
    }
    assertRefused(pool.toString(), String.valueOf(32 << 20));
  }

  @Test
  @Tag("long")
  void poolIsReadOnly() throws Exception {
    try (TestMount readOnly = TestMount.readOnly(work.pools(), work.folder("read-only"))) {
      Path there = readOnly.path().resolve(pool.getFileName());
      broker.set("strata.pools", there.toString());
      assertRefused(there.toString(), "read-only");
    }
  }

  @Test
  @Tag("long")
  void poolIsLocked() throws Exception {
    try (FileChannel file = FileChannel.open(pool, StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      assertThat(lock.isValid()).isTrue();
      assertRefused(pool.toString(), "found it locked by process " + ProcessHandle.current().pid());
    }
  }

  /** Without the pool: by a broker that has another copy of it, or none. */
  @Test
  void aBrokerRunsOnTheLogDirectory() throws Exception {
    Path kafkas = broker.logDirectory().resolve(".lock");
    if (Files.notExists(kafkas)) {
      Path unused = Files.createFile(kafkas); // Kafka 4.4 removes it when it stops.
    }
    Fingerprint before = Fingerprint.of(List.of(broker.logDirectory(), pool));
    // Nothing in this process may open and close the file meanwhile: that would drop the lock.
    try (FileChannel file = FileChannel.open(kafkas, StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      assertThat(lock.isValid()).isTrue();
      assertRefused(broker.logDirectory().toString(), kafkas.toString(), "a broker runs on");
    }
    assertThat(Fingerprint.of(List.of(broker.logDirectory(), pool))).isEqualTo(before);
  }

  @Test
  @Tag("long")
  void logDirectoryHasNoUserAttributes() throws Exception {
    try (TestMount plain = TestMount.withoutUserAttributes(work.folder("no-attributes"))) {
      Path there = plain.path().resolve("data");
      Path otherPool = work.newPool("other", "32MiB");
      StockBroker other =
          work.closing(
              StockBroker.in(work.folder("other"))
                  .strata(otherPool)
                  .set("log.dirs", there.toString())
                  .build());
      assertRefused(other.startRefused(), there.toString(), "user");
    }
  }

  @Test
  @Order(Integer.MAX_VALUE)
  void startsWhenEverythingIsRight() throws Exception {
    broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(1_000);
    broker.stop();
  }

  private void assertRefused(String... words) throws Exception {
    assertRefused(broker.startRefused(), words);
  }

  private static void assertRefused(StockBroker.Refusal refusal, String... words) {
    Refusals.assertAtOnce(refusal, words);
  }

  private static void assertRefusedByTheReporter(StockBroker broker, String... words)
      throws Exception {
    Refusals.assertWhileStarting(broker.startRefused(), words);
  }

  /** Nothing of ours runs: the words are those of the mark, and Kafka has the last ones. */
  private void assertRefusedByKafka(String... words) throws Exception {
    StockBroker.Refusal refusal = broker.startRefused();
    assertThat(refusal.output()).contains(words);
    Refusals.assertEnded(refusal);
  }

  private Path copyOfTheRunningBrokersPool() {
    return pool.resolveSibling("running.pool");
  }

  private Path copyOfPool() {
    return pool.resolveSibling("copy-of-" + pool.getFileName());
  }

  private void restorePool() throws IOException {
    Files.copy(copyOfPool(), pool, StandardCopyOption.REPLACE_EXISTING);
  }
}
