package io.strata.kafka.it.starts;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A broker whose newest records are in a pool is started without Strata, in whole or in part: it
 * refuses, nothing on its disks has changed, and the right start has every record. Two log
 * directories, and one for the metadata.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class WithoutStrataTest {

  private static final String MARK = "In use by Strata";

  @RegisterExtension final Workspace work = new Workspace();

  /** How the last broker that ran with Strata ended. */
  private enum Ended {
    KILLED,
    STOPPED
  }

  /** What a start has of Strata. */
  private record Parts(boolean flag, boolean jar, boolean reporter, boolean keys) {
    boolean all() {
      return flag && jar && reporter && keys;
    }

    Installed installed() {
      return flag
          ? jar ? Installed.JAR_AND_FLAG : Installed.FLAG
          : jar ? Installed.JAR : Installed.NOTHING;
    }

    /** What the refusal says. */
    String word() {
      if (!flag) {
        return MARK;
      }
      return !jar
          ? "io.strata.kafka.nio.StrataFileSystemProvider"
          : keys ? "metric.reporters" : "strata.pools";
    }

    static List<Parts> everyCombination() {
      List<Parts> all = new ArrayList<>();
      for (int bits = 0; bits < 16; bits++) {
        all.add(new Parts((bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0));
      }
      return all;
    }
  }

  private final RecordLedger ledger = new RecordLedger("hot", 4, 1);
  private StockBroker broker;
  private Path pool;
  private Map<String, String> right;
  private List<Path> directories;

  @BeforeAll
  void makeHotSegments() throws Exception {
    pool = work.newPool("hot", "32MiB");
    Path folder = work.folder("broker");
    broker =
        work.closing(
            StockBroker.in(folder)
                .logDirectories(2)
                .set("metadata.log.dir", folder.resolve("data-metadata").toString())
                .strata(pool)
                .build());
    right = broker.properties();
    directories = new ArrayList<>(broker.logDirectories());
    directories.add(folder.resolve("data-metadata"));
    for (Path directory : directories) {
      assertThat(meta(directory)).as("before the first start").doesNotContain(MARK);
    }
    broker.start();
    Topics.create(broker, "hot", 4, Map.of());
    ledger.produce(broker.bootstrap(), 1_000, 1_000);
    broker.kill();
  }

  private static String meta(Path directory) throws IOException {
    return Files.readString(directory.resolve("meta.properties"), ISO_8859_1);
  }

  private Fingerprint fingerprint() throws IOException {
    List<Path> all = new ArrayList<>(directories);
    all.add(pool);
    return Fingerprint.of(all);
  }

  private void give(Parts parts) {
    broker.setAll(right).installed(parts.installed());
    if (!parts.reporter()) {
      broker.unset("metric.reporters");
    }
    if (!parts.keys()) {
      right.keySet().stream().filter(key -> key.startsWith("strata.")).forEach(broker::unset);
    }
  }

  @Order(1)
  @ParameterizedTest
  @EnumSource
  void everyStartButTheRightOneRefusesAndChangesNothing(Ended ended) throws Exception {
    Fingerprint before = fingerprint();
    for (Parts parts : Parts.everyCombination()) {
      if (!parts.all()) {
        give(parts);
        assertRefused(before, ended + ", " + parts, parts.word());
      }
    }
    give(new Parts(true, true, true, true));
    broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(ledger.acknowledged());
    ledger.produce(broker.bootstrap(), 100, 1_000);
    broker.stop();
  }

  private void assertRefused(Fingerprint before, String what, String word) throws Exception {
    StockBroker.Refusal refusal = broker.startRefused();
    assertThat(refusal.exitCode()).as("%s; output:\n%s", what, refusal.output()).isNotZero();
    assertThat(refusal.output()).as(what).contains(word).doesNotContain("Kafka Server started");
    assertThat(fingerprint().files()).as(what).containsExactlyEntriesOf(before.files());
  }

  @Order(2)
  @Test
  void kafkasToolSeesAMarkedDirectoryWithTheFlagAndLeavesItAloneWithout() throws Exception {
    Fingerprint before = fingerprint();
    broker.installed(Installed.JAR_AND_FLAG);
    JavaProcess.Finished info =
        broker.tool("kafka.tools.StorageTool", "info", "-c", broker.propertiesFile().toString());
    assertThat(info.orFail().output()).contains("cluster.id", "Found log directories");
    // As Strimzi does before each start.
    assertThat(format("--ignore-formatted").orFail().output()).contains("already formatted");
    JavaProcess.Finished again = format();
    assertThat(again.exitCode()).isNotZero();
    assertThat(again.output()).contains("already formatted");

    broker.installed(Installed.NOTHING);
    for (JavaProcess.Finished without : List.of(format("--ignore-formatted"), format())) {
      assertThat(without.exitCode()).isNotZero();
      assertThat(without.output()).contains("No available log directories to format");
    }
    assertThat(fingerprint().files()).containsExactlyEntriesOf(before.files());
    broker.installed(Installed.JAR_AND_FLAG);
  }

  private JavaProcess.Finished format(String... more) throws Exception {
    List<String> arguments =
        new ArrayList<>(
            List.of("format", "-c", broker.propertiesFile().toString(), "-t", broker.clusterId()));
    arguments.addAll(List.of(more));
    return broker.tool("kafka.tools.StorageTool", arguments.toArray(String[]::new));
  }

  /** Formatted as Strimzi does, beside marked ones. */
  @Order(3)
  @Test
  void aLogDirectoryThatIsAddedIsMarkedAtTheNextStart() throws Exception {
    Path added = work.folder("broker").resolve("data-added");
    broker.set("log.dirs", right.get("log.dirs") + "," + added);
    right = broker.properties();
    broker.writeProperties();
    assertThat(format("--ignore-formatted").orFail().output())
        .contains("Formatting data directory " + added);
    for (Path directory : directories) {
      assertThat(meta(directory)).contains(MARK);
    }
    assertThat(meta(added)).doesNotContain(MARK);
    broker.start().stop();
    assertThat(meta(added)).contains(MARK);
    directories.add(added);
  }

  @Order(4)
  @Test
  void afterADrainStockKafkaStartsAndStrataMarksAgain() throws Exception {
    broker.strata("drain").orFail();
    for (Path directory : directories) {
      assertThat(meta(directory)).doesNotContain("trata");
    }
    broker.withoutStrata().start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(ledger.acknowledged());
    broker.stop();
    give(new Parts(true, true, true, true));
    broker.start();
    for (Path directory : directories) {
      assertThat(meta(directory)).contains(MARK);
    }
    Topics.create(broker, "later", 1, Map.of());
    new RecordLedger("later", 1, 2).produce(broker.bootstrap(), 100, 1_000);
    broker.kill();
  }

  /** What stock Kafka has acknowledged since is not dropped without a word. */
  @Order(5)
  @Test
  void aStartThatWasForcedIsFoundOutAndNamed() throws Exception {
    Path partition = LogFiles.partition(broker, "later", 0);
    for (Path directory : directories) {
      String marked = meta(directory);
      Files.writeString(
          directory.resolve("meta.properties"),
          marked.substring(0, marked.indexOf("#strata-end")),
          ISO_8859_1);
    }
    broker.withoutStrata().start();
    new RecordLedger("later", 1, 3).produce(broker.bootstrap(), 10, 1_000);
    broker.stop();

    give(new Parts(true, true, true, true));
    // Unmarked, the directories get as far as Kafka's lock on the metadata, and no further.
    StockBroker.Refusal refusal = broker.startRefused();
    assertThat(refusal.output()).contains("partition later-0 are in sync");
    Fingerprint before = fingerprint();
    assertRefused(before, "forced, again", LogFiles.segments(partition).get(0).toString());
  }
}
