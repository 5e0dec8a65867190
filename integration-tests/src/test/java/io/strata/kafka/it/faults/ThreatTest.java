package io.strata.kafka.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanOperationInfo;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What clients and admins of a stock broker may try: see {@code docs/security.md}. One broker,
 * which has everything at the end.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class ThreatTest {

  private static final Set<String> TAGS =
      Set.of("type", "name", "pool", "tier", "cause", "level", "operation");

  @RegisterExtension final Workspace work = new Workspace();

  private StockBroker broker;
  private Path pool;
  private RecordLedger witness;

  @BeforeAll
  void start() throws Exception {
    pool = work.newPool("threats", "64MiB", 512);
    broker =
        work.start(
            Tiers.broker(work.folder("broker"), pool).set("strata.migration.threshold", "-1"));
    witness = FailingMedia.topic(broker, "witness", Tiers.SEGMENT, 2_000);
  }

  private void assertNothingHappened() {
    assertThat(broker.isRunning()).as("the broker runs").isTrue();
    FailingMedia.assertAllThere(broker, witness);
  }

  @Test
  void namesOfTopics() throws Exception {
    List<String> names =
        List.of(
            "x".repeat(249),
            "..." + "y".repeat(240),
            "strata-store.json",
            "manifest.json",
            "staging",
            "locks",
            "threats.pool",
            "00000000000000000000.log",
            "meta.properties",
            "a-delete",
            "b-future",
            "user.strata.segment");
    List<RecordLedger> ledgers = new ArrayList<>();
    for (String name : names) {
      RecordLedger ledger = FailingMedia.topic(broker, name, Tiers.SEGMENT);
      ledger.produce(broker.bootstrap(), 50, 1_000);
      Path segment = LogFiles.segments(LogFiles.partition(broker, name, 0)).get(0);
      assertThat(LogFiles.isHot(segment)).as("%s is in the pool", segment).isTrue();
      ledgers.add(ledger);
    }
    broker.killAndStart();
    FailingMedia.assertAllThere(broker, ledgers.toArray(RecordLedger[]::new));
    for (String name : List.of("..", ".", "a/b", "a\nb", "z".repeat(250), "\u001b[2J")) {
      assertThatThrownBy(() -> Topics.create(broker, name, 1, Map.of()))
          .as(name)
          .rootCause()
          .hasMessageContaining("opic");
    }
    try (Admin admin = broker.admin()) {
      Topics.await(admin.deleteTopics(names).all());
    }
    assertNothingHappened();
  }

  @Test
  void namesOfTransactionsAndSizesOfRecords() throws Exception {
    RecordLedger odd = FailingMedia.topic(broker, "odd", Tiers.SEGMENT);
    Map<String, Object> settings =
        Map.of(
            "transactional.id",
            "a\n[2030] ERROR \u001b[2J../../etc/" + "t".repeat(10_000),
            "max.request.size",
            "2000000");
    try (Producer<byte[], byte[]> producer = RecordLedger.producer(broker.bootstrap(), settings)) {
      producer.initTransactions();
      producer.beginTransaction();
      for (int size : new int[] {12, 13, 4_095, 4_096, 65_536, 1_000_000}) {
        odd.send(producer, 0, size);
      }
      producer.commitTransaction();
      producer.beginTransaction();
      assertThatThrownBy(
              () ->
                  producer
                      .send(new ProducerRecord<>("odd", 0, new byte[0], new byte[1_900_000]))
                      .get())
          .hasMessageContaining("larger than the max message size");
      producer.abortTransaction();
    }
    odd.assertNoneFailed();
    FailingMedia.assertAllThere(broker, odd);
    assertNothingHappened();
  }

  /** A topic's configuration names nothing of ours; a live broker's names no class and no file. */
  @Test
  void configurationByAnAdmin() throws Exception {
    assertThatThrownBy(
            () -> Topics.create(broker, "configured", 1, Map.of("strata.pools", "/etc/passwd")))
        .rootCause()
        .hasMessageContaining("strata.pools");
    for (Map<String, String> change :
        List.of(
            Map.of("strata.migration.policy", "java.lang.Runtime"),
            Map.of("strata.migration.policy", "../../evil"),
            Map.of("strata.pools", "/etc/passwd"),
            Map.of("strata.topics.include", "(a+)+$["),
            Map.of("strata.pool.type", "file"),
            Map.of("strata.migration.threads", "1000000000"),
            Map.of("strata.migration.pin.topics", "(a+)+$["))) {
      assertThatThrownBy(() -> Tiers.alter(broker, change))
          .as("%s", change)
          .rootCause()
          .hasMessageContaining("strata.");
    }
    // Kafka does not ask about a key that nobody has named: it is left out, and that is told.
    Tiers.alter(
        broker,
        Map.of("strata.migration.policy", "age", "strata.migration.policy.class", "evil.Type"));
    broker.awaitLogged("left out", "strata.migration.policy.class");
    Tiers.reset(broker, "strata.migration.policy", "strata.migration.policy.class");
    assertNothingHappened();
  }

  @Test
  void filesAreTheBrokersOwn() throws IOException {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(pool)))
        .isEqualTo("rw-------");
    // A segment's log file is made as Kafka makes its own files.
    Path partition = LogFiles.partition(broker, "witness", 0);
    Set<Object> permissions = new TreeSet<>();
    try (Stream<Path> files = Files.list(partition)) {
      for (Path file : files.filter(f -> f.toString().matches(".*(log|index)")).toList()) {
        permissions.add(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
      }
    }
    assertThat(permissions).as("permissions in %s", partition).hasSize(1);
  }

  /** Who reaches the metrics' port can read numbers; topics do not multiply them. */
  @Test
  void beansAreReadOnlyAndAsManyAsBefore() throws Exception {
    Set<String> before = beans();
    for (int i = 0; i < 30; i++) {
      Topics.create(broker, "series-" + i, 1, Map.of());
    }
    witness.produce(broker.bootstrap(), 100, 1_000);
    assertThat(beans()).isEqualTo(before);
    assertNothingHappened();
  }

  private Set<String> beans() throws IOException {
    Set<String> names = new TreeSet<>();
    Jmx.ask(
        broker,
        "io.strata.kafka:*",
        (server, name) -> {
          names.add(name.getCanonicalName());
          assertThat(TAGS).as("tags of %s", name).containsAll(name.getKeyPropertyList().keySet());
          for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
            assertThat(attribute.isWritable()).as("%s of %s", attribute, name).isFalse();
          }
          for (MBeanOperationInfo operation : server.getMBeanInfo(name).getOperations()) {
            assertThat(operation.getName())
                .as("operation of %s", name)
                .isIn("objectName", "values");
          }
        });
    assertThat(names).isNotEmpty();
    return names;
  }
}
