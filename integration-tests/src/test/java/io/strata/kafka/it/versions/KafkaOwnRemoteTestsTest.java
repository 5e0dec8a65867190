package io.strata.kafka.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.it.mirror.MirrorMain;
import io.strata.kafka.it.versions.KafkaOwnTests.Counts;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kafka's own tests of tiered storage, as published, each class in a JVM of its own. They insist on
 * {@code LocalTieredStorage}, into whose history and files they look; so that stays, and our
 * manager does all that it does too, and serves all reads, compared byte by byte. See {@link
 * io.strata.kafka.it.mirror.MirrorMain}. The tests of the current release are not published: those
 * of 4.3.1 run on the brokers of 4.3.1.
 *
 * <p>Their tests run once with each of two protocols of consumer groups, which is nothing to a
 * store: here, once, and two slow classes not at all. {@code -Dstrata.it.kafka.remote=all} runs
 * all.
 */
@Tag("kafka-own-tests")
@Tag("long")
class KafkaOwnRemoteTestsTest {

  private static final String WHICH = System.getProperty("strata.it.kafka.remote", "some");
  private static final boolean ALL = WHICH.equals("all");
  private static final String PACKAGE = "org.apache.kafka.tiered.storage.integration.";
  private static final String WITH_EACH_PROTOCOL = "#executeTieredStorageTest(java.lang.String)";

  @RegisterExtension static final Workspace WORK = new Workspace();

  /**
   * A test class of Kafka's.
   *
   * @param deletes whether it deletes segments from the store
   * @param slow whether it waits much longer than it tests
   */
  private record Subject(String name, boolean deletes, boolean slow) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Subject> subjects() {
    if (WHICH.equals("transactions")) {
      return Stream.of(new Subject("TransactionsWithTieredStoreTest", false, true));
    }
    return Stream.of(
            new Subject("AlterLogDirTest", false, false),
            new Subject("DeleteSegmentsByRetentionSizeTest", true, false),
            new Subject("DeleteSegmentsByRetentionTimeTest", true, false),
            new Subject("DeleteSegmentsDueToLogStartOffsetBreachTest", true, false),
            new Subject("DeleteTopicTest", true, false),
            new Subject("DisableRemoteLogOnTopicTest", true, false),
            new Subject("EnableRemoteLogOnTopicTest", false, false),
            new Subject("FetchFromLeaderWithCorruptedCheckpointTest", false, true),
            new Subject("ListOffsetsTest", true, false),
            new Subject("OffloadAndConsumeFromLeaderTest", false, true),
            new Subject("OffloadAndTxnConsumeFromLeaderTest", false, false),
            new Subject("PartitionsExpandTest", false, false),
            new Subject("ReassignReplicaExpandTest", false, false),
            new Subject("ReassignReplicaMoveTest", false, false),
            new Subject("ReassignReplicaShrinkTest", false, false),
            new Subject("RollAndOffloadActiveSegmentTest", false, false))
        .filter(subject -> ALL || !subject.slow());
  }

  @ParameterizedTest
  @MethodSource("subjects")
  void passWithOurManagerBehindTheirs(Subject subject, TestReporter reporter) throws Exception {
    Path folder = WORK.folder(subject.name());
    Path report = folder.resolve("mirror.properties");
    Path properties = folder.resolve("server.properties");
    // Kafka's tests start brokers without a file; ours asks its own for settings and the cluster.
    Path logs = WORK.folder(subject + "-logs");
    Files.write(properties, List.of("node.id=0", "log.dirs=" + logs));
    Files.write(
        logs.resolve("meta.properties"),
        List.of("version=1", "node.id=0", "cluster.id=" + Uuid.randomUuid()));
    KafkaOwnTests.Run run =
        new KafkaOwnTests.Run(subject.name(), folder)
            .onTheirRelease()
            .options(
                List.of(
                    "-Xmx1g",
                    "-Djdk.attach.allowAttachSelf=true",
                    "-Dstrata.config=" + properties,
                    "-Dstrata.it.mirror.manager=" + RemoteManager.ofThisRun().className(),
                    "-Dstrata.it.mirror.directory=" + WORK.folder(subject + "-data"),
                    "-Dstrata.it.mirror.report=" + report))
            .startedBy(MirrorMain.class);
    String className = PACKAGE + subject.name();
    Counts counts =
        runOnceMoreIfItCounted(
            WHICH.equals("some")
                ? run.selectRound(className + WITH_EACH_PROTOCOL, 1)
                : run.select(className));

    Properties mirrored = new Properties();
    try (Reader in = Files.newBufferedReader(report)) {
      mirrored.load(in);
    }
    reporter.publishEntry(subject.name(), counts + ", " + mirrored);
    assertThat(counts).isEqualTo(Counts.allOf(counts.found()));
    // Tests that pass without us prove nothing.
    assertThat(mirrored.getProperty("differences")).isEmpty();
    for (String what : List.of("copies", "reads", "bytes")) {
      assertThat(number(mirrored, what)).as(what).isPositive();
    }
    if (subject.deletes()) {
      assertThat(number(mirrored, "deletes")).as("deletes").isPositive();
    }
  }

  /**
   * They count a broker's fetches from the store, of which there is one more when the machine was
   * so slow that a consumer's fetch timed out.
   */
  private static Counts runOnceMoreIfItCounted(KafkaOwnTests.Run run) throws Exception {
    try {
      return run.run();
    } catch (AssertionError e) {
      if (!String.valueOf(e.getMessage()).contains("requests count from broker")) {
        throw e;
      }
      return run.run();
    }
  }

  private static long number(Properties properties, String key) {
    return Long.parseLong(properties.getProperty(key));
  }
}
