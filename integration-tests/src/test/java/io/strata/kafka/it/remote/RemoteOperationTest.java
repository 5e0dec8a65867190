package io.strata.kafka.it.remote;

import static io.strata.kafka.it.harness.Waiting.await;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an operator sees of the remote tier of a running broker, and changes of it. */
class RemoteOperationTest {

  private static final int RECORDS = 5_000;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @BeforeEach
  void ours() {
    Assumptions.assumeTrue(RemoteManager.ofThisRun() == RemoteManager.STRATA, "ours alone");
  }

  @Test
  @Tag("long")
  void metricsStatusAndCommandsOfABrokerWithTheRemoteTierAlone() throws Exception {
    TieredBrokers tier =
        TieredBrokers.over(WORK.folder("data-alone-0"), WORK.folder("data-alone-1"));
    StockBroker broker = WORK.start(tier.alone(WORK.folder("alone")));
    RecordLedger ledger = fill(broker, tier);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(RECORDS);

    assertThat(Jmx.value(broker, "type=RemoteOperation,name=CompletedTotal,operation=copy"))
        .isGreaterThanOrEqualTo(3);
    assertThat(Jmx.value(broker, "type=RemoteLevel,name=CopiedBytesTotal,level=level-0"))
        .isGreaterThan(3L << 20);
    assertThat(Jmx.value(broker, "type=RemoteOperation,name=CompletedTotal,operation=fetch"))
        .isPositive();
    Map<String, Number> failures = Jmx.values(broker, "type=RemoteOperation,name=FailuresTotal,*");
    // Kafka asks for the transaction index of segments that have none.
    failures
        .keySet()
        .removeIf(name -> name.startsWith("cause=not-found,") && name.contains("index"));
    assertThat(failures.values()).isNotEmpty().allMatch(count -> count.longValue() == 0);

    assertThat(Jmx.publishers(broker))
        .as("the reporter of Kafka's own registry, which has them all")
        .isNotEmpty()
        .allSatisfy(
            (name, publisher) ->
                assertThat(publisher).startsWith("com.yammer.metrics.reporting.JmxReporter$"));
    assertThat(Jmx.value(broker, "type=Broker,name=Health")).isZero();

    assertThat(Pools.strata("status", "--pid", "" + broker.pid()).orFail().output())
        .contains("Health: 0 (fine)")
        .contains("REMOTE LEVEL")
        .contains("level-0")
        .contains("copy: ")
        .doesNotContain("TIER ");
    assertThat(broker.strata("remote", "ls").orFail().output())
        .contains("watched-0")
        .containsPattern("total: [1-9]\\d* segments");
    assertThat(broker.strata("remote", "du").orFail().output()).contains("level-0: ");
    assertThat(broker.strata("remote", "verify").orFail().output()).contains("nothing found");
    assertThat(broker.strata("remote", "scrub").orFail().output()).contains("nothing found");
    assertThat(TieredBrokers.scrubAsking(broker, "--older-than", "1s").orFail().output())
        .contains("Kafka: knows every segment");
    broker.stop();
    assertThat(broker.strata("remote", "ls").orFail().output()).contains("watched-0");
  }

  /** The steps of docs/remote.md, "A lost directory". */
  @Test
  void theStoreIsLostAndBeginsAnew() throws Exception {
    Path lost = WORK.folder("data-lost");
    TieredBrokers before = TieredBrokers.over(lost);
    StockBroker broker = WORK.start(before.alone(WORK.folder("lost")));
    RecordLedger ledger = fill(broker, before);
    long end = TieredBrokers.offsets(broker, "watched", 0).latestTiered();
    broker.stop();
    Workspace.delete(lost);

    Path anew = WORK.folder("data-anew");
    TieredBrokers after = TieredBrokers.over(anew);
    broker.set("rsm.config.level-0.directories", anew.toString());
    broker.start();
    ledger.produce(broker.bootstrap(), RECORDS, 1_000);
    after.awaitTiered(broker, "watched", 1, 3);
    // By now the earliest local offset is beyond records that the new directory alone has.
    assertThat(TieredBrokers.offsets(broker, "watched", 0).earliestLocal()).isGreaterThan(end + 1);

    SortedMap<Long, Long> reported = reportedAsLost(broker);
    assertThat(reported.firstKey()).isZero();
    assertThat(reported.get(reported.lastKey())).isEqualTo(end);
    assertThat(recordsBehind(end, broker, ledger)).isEqualTo(2 * RECORDS - (end + 1));
  }

  /** The same steps, where the level has another directory. */
  @Test
  @Tag("long")
  void oneOfTwoDirectoriesIsLost() throws Exception {
    Path intact = WORK.folder("data-intact");
    Path lost = WORK.folder("data-lost-of-two");
    StockBroker broker =
        WORK.start(
            TieredBrokers.over(intact)
                .alone(WORK.folder("one-lost"))
                .set("rsm.config.level-0.directories", intact + "," + lost)
                .set("rsm.config.level-0.capacity", "100MB"));
    RecordLedger ledger = fill(broker, TieredBrokers.over(intact, lost));
    Set<Long> lostOffsets = offsetsIn(lost);
    Set<Long> intactOffsets = offsetsIn(intact);
    assertThat(lostOffsets).isNotEmpty();
    assertThat(intactOffsets).isNotEmpty();
    broker.stop();
    Workspace.delete(lost);

    broker.set("rsm.config.level-0.directories", intact.toString());
    broker.start();
    SortedMap<Long, Long> reported = reportedAsLost(broker);
    assertThat(reported.keySet()).isEqualTo(lostOffsets);

    TopicPartition partition = new TopicPartition("watched", 0);
    try (Consumer<byte[], byte[]> consumer = RecordLedger.consumer(broker.bootstrap(), Map.of())) {
      consumer.assign(List.of(partition));
      for (long offset : intactOffsets) {
        consumer.seek(partition, offset);
        assertThat(RecordLedger.first(consumer)).isEqualTo((int) offset);
      }
    }
    long end = requireNonNull(reported.get(reported.lastKey()));
    assertThat(recordsBehind(end, broker, ledger)).isEqualTo(RECORDS - (end + 1));
  }

  /** The steps of docs/remote.md to add a directory or a level, and to take one out. */
  @Test
  @Tag("long")
  void levelsAndDirectoriesAreAddedAndTakenOut() throws Exception {
    Path first = WORK.folder("data-first");
    Path second = WORK.folder("data-second");
    Path below = WORK.folder("data-below");
    Path moved = WORK.folder("data-moved");
    StockBroker broker =
        WORK.start(
            TieredBrokers.over(first)
                .alone(WORK.folder("changed"))
                .set("metric.reporters", StockBroker.REPORTERS)
                .set("rsm.config.level-0.capacity", "100MB"));
    RecordLedger ledger = fill(broker, TieredBrokers.over(first));
    broker.stop();

    broker.set("rsm.config.levels", "level-0,level-1");
    broker.set("rsm.config.level-0.directories", first + "," + second);
    broker.set("rsm.config.level-1.directories", below.toString());
    broker.start();
    ledger.produce(broker.bootstrap(), RECORDS, 1_000);
    TieredBrokers.over(first, second).awaitTiered(broker, "watched", 1, 6);
    assertThat(offsetsIn(second)).as("offsets in the directory that was added").isNotEmpty();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(2 * RECORDS);

    Tiers.alter(broker, Map.of("rsm.config.migration.threshold", "0"));
    Set<Long> all = new HashSet<>(offsetsIn(first));
    all.addAll(offsetsIn(second));
    await().until(() -> offsetsIn(below).containsAll(all));
    broker.stop();
    assertThat(offsetsIn(below)).containsAll(offsetsIn(first)).containsAll(offsetsIn(second));
    Workspace.delete(first);
    Workspace.delete(second);
    broker.set("rsm.config.levels", "level-1");
    broker.unset("rsm.config.level-0.directories");
    broker.unset("rsm.config.level-0.capacity");
    broker.start();
    Tiers.reset(broker, "rsm.config.migration.threshold");
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(2 * RECORDS);
    broker.stop();

    Process copy = new ProcessBuilder("cp", "-a", below + "/.", moved.toString()).start();
    assertThat(copy.waitFor()).isZero();
    Workspace.delete(below);
    broker.set("rsm.config.level-1.directories", moved.toString());
    broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(2 * RECORDS);
    assertThat(Jmx.value(broker, "type=Broker,name=Health")).isZero();
  }

  /** A later version of Kafka has written to its record of the segments. */
  @Test
  void aRemovalIsRefusedBeforeTheStoreIsRead() throws Exception {
    TieredBrokers tier = TieredBrokers.over(WORK.folder("data-later"));
    StockBroker broker = WORK.start(tier.alone(WORK.folder("later")));
    RecordLedger unused = fill(broker, tier);
    try (Producer<byte[], byte[]> producer = RecordLedger.producer(broker.bootstrap(), Map.of())) {
      RecordMetadata unusedToo =
          producer
              .send(new ProducerRecord<>("__remote_log_metadata", 0, null, new byte[] {77, 0, 1}))
              .get();
    }

    // At this rate the scrub would read for an hour.
    JavaProcess.Finished refused =
        TieredBrokers.scrubAsking(broker, "--remove-unneeded", "--rate", "1kB");
    assertThat(refused.output())
        .contains("--remove-unneeded: 1 records of ")
        .contains("nothing was removed");
    broker.kill(); // Kafka's own reader of that record has failed, and a stop waits for it.
  }

  private static Set<Long> offsetsIn(Path directory) throws IOException {
    return TieredBrokers.over(directory).segments("watched").stream()
        .map(RemoteManager.Segment::startOffset)
        .collect(Collectors.toSet());
  }

  /** Returns the first and the last offset of each segment that a scrub reports as lost. */
  private static SortedMap<Long, Long> reportedAsLost(StockBroker broker) throws Exception {
    String output = TieredBrokers.scrubAsking(broker).output();
    SortedMap<Long, Long> reported = new TreeMap<>();
    Matcher line = Pattern.compile("lost: watched-0, offsets (\\d+) to (\\d+) ").matcher(output);
    while (line.find()) {
      reported.put(Long.valueOf(line.group(1)), Long.valueOf(line.group(2)));
    }
    assertThat(reported).as(output).isNotEmpty();
    return reported;
  }

  /** Moves the start of the log behind an offset; returns how many records are read from there. */
  private static long recordsBehind(long offset, StockBroker broker, RecordLedger ledger)
      throws Exception {
    try (Admin admin = broker.admin()) {
      Topics.await(
          admin
              .deleteRecords(
                  Map.of(
                      new TopicPartition("watched", 0), RecordsToDelete.beforeOffset(offset + 1)))
              .all());
    }
    return ledger.verifyNewest(broker.bootstrap()).records();
  }

  @Test
  void settingsChangeOnALiveBroker() throws Exception {
    TieredBrokers tier = TieredBrokers.over(WORK.folder("data-live-0"), WORK.folder("data-live-1"));
    assertSettingsChange(
        tier, tier.withPools(WORK.folder("live"), WORK.newPool("hot", "24MiB", 256)));
  }

  @Test
  @Tag("long")
  void settingsChangeOnALiveBrokerWithTheRemoteTierAlone() throws Exception {
    TieredBrokers tier = TieredBrokers.over(WORK.folder("data-only-0"), WORK.folder("data-only-1"));
    assertSettingsChange(
        tier, tier.alone(WORK.folder("live-alone")).set("metric.reporters", StockBroker.REPORTERS));
  }

  private static void assertSettingsChange(TieredBrokers tier, StockBroker.Builder builder)
      throws Exception {
    StockBroker broker = WORK.start(builder);
    RecordLedger ledger = fill(broker, tier);

    Tiers.alter(
        broker,
        Map.of("rsm.config.migration.rate.down", "123MB", "rsm.config.migration.threshold", "0"));

    await()
        .untilAsserted(
            () ->
                assertThat(status(broker))
                    .contains("rate.down=123000000")
                    .contains("migration.threshold=0"));
    // The threshold has its effect: all goes to the second level.
    await()
        .until(
            () ->
                Jmx.value(broker, "type=RemoteLevel,name=DestagedSegmentsTotal,level=level-0")
                    >= 3);
    assertThatThrownBy(() -> Tiers.alter(broker, Map.of("rsm.config.migration.rate.down", "123M")))
        .rootCause()
        .hasMessageContaining("rsm.config.migration.rate.down: found '123M'");
    assertThat(status(broker)).contains("rate.down=123000000");

    broker.restart();
    await()
        .untilAsserted(() -> assertThat(status(broker)).as("kept").contains("rate.down=123000000"));
    Tiers.reset(broker, "rsm.config.migration.rate.down", "rsm.config.migration.threshold");
    await().untilAsserted(() -> assertThat(status(broker)).contains("rate.down=0"));
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(RECORDS);
  }

  private static RecordLedger fill(StockBroker broker, TieredBrokers tier) throws Exception {
    RecordLedger ledger = Tiers.topic(broker, "watched", 1, TieredBrokers.topic());
    ledger.produce(broker.bootstrap(), RECORDS, 1_000);
    tier.awaitTiered(broker, "watched", 1, 3);
    return ledger;
  }

  private static String status(StockBroker broker) {
    return Pools.strata("status", "--pid", "" + broker.pid()).orFail().output();
  }
}
