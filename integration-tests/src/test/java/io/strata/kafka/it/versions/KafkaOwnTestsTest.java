package io.strata.kafka.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.Hooks;
import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.it.versions.KafkaOwnTests.Counts;
import io.strata.kafka.it.versions.KafkaOwnTests.Outcome;
import io.strata.kafka.tier.spec.TestHook;
import java.io.File;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kafka's own tests of its logs, as published, unchanged, each class in a JVM of its own: on the
 * JDK's provider, on ours, with every file that they open as a segment placed in a pool, and the
 * same in a pool so small that segments spill or find no space. What fails on the JDK's provider (a
 * test that must not be run by root, say) may fail on ours, and nothing else may.
 *
 * <p>The tests of the current release are not published. Those of 4.3.1 run on its classes as far
 * as they link: a test that calls a method whose signature has changed fails on either provider.
 * Two classes do not link at all, and run on the classes of 4.3.1.
 *
 * <p>Those of one file and of one segment; {@code -Dstrata.it.kafka.own=all} runs the others too.
 * {@code summary.txt} in the class's folder has a line for each run.
 */
@Tag("kafka-own-tests")
class KafkaOwnTestsTest {

  private static final boolean ALL = System.getProperty("strata.it.kafka.own", "").equals("all");
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** In whichever folder: partitions lie in folders of their own below the temporary one. */
  private static final String SEGMENTS = "(.*/)?[0-9]{20}\\.log(\\.[a-z]+)?";

  /** Tests of the last published release that do not link to the current one. */
  private static final Set<String> UNLINKED = Set.of("DumpLogSegmentsTest", "core-LogLoaderTest");

  private static final String STORAGE = "org.apache.kafka.storage.internals.log.";

  @RegisterExtension static final Workspace WORK = new Workspace();

  /**
   * A test class of Kafka's.
   *
   * @param always whether it is run without {@code all} too
   * @param files the names of its segment files, a regular expression
   * @param placed how many of them are placed in the pool, at least
   * @param coldOnly methods that reach into a segment's file past java.nio.file, which a hot
   *     segment does not have to withstand
   */
  private record Subject(
      String className, boolean always, String files, int placed, List<String> coldOnly) {

    Subject(String className, int placed, String... coldOnly) {
      this(className, false, SEGMENTS, placed, List.of(coldOnly));
    }

    @Override
    public String toString() {
      String[] parts = className.split("\\.", -1);
      // Two modules have a UnifiedLogTest.
      return (parts[0].equals("kafka") ? "core-" : "") + parts[parts.length - 1];
    }
  }

  static Stream<Subject> subjects() {
    return Stream.of(
            new Subject(
                "org.apache.kafka.common.record.internal.FileRecordsTest",
                true,
                "kafka[0-9]+\\.tmp",
                20,
                List.of()),
            new Subject(
                STORAGE + "LogSegmentTest",
                true,
                SEGMENTS,
                20,
                // Corrupts the segment through RandomAccessFile: see aCorruptHotSegmentIsRecovered.
                List.of("testRecoveryWithCorruptMessage")),
            // Indexes and snapshots: none of their files is a segment.
            new Subject(STORAGE + "TransactionIndexTest", 0),
            new Subject(STORAGE + "ProducerStateManagerTest", 0),
            new Subject(STORAGE + "RemoteIndexCacheTest", 0),
            new Subject(
                "org.apache.kafka.tools.DumpLogSegmentsTest",
                20,
                // Appends zeros through RandomAccessFile.
                "testPrintTrailingBytes"),
            new Subject(STORAGE + "LocalLogTest", 50),
            new Subject(
                "kafka.log.LogCleanerTest",
                50,
                // Overwrite a record's size through RandomAccessFile.
                "testCorruptMessageSizeLargerThanBytesAvailable",
                "testMessageLargerThanMaxMessageSizeWithCorruptHeader"),
            new Subject(STORAGE + "LogSegmentsTest", 1),
            new Subject(STORAGE + "UnifiedLogTest", 50),
            new Subject("kafka.log.UnifiedLogTest", 50),
            new Subject(
                "kafka.log.LogLoaderTest",
                50,
                // Two write nonsense through a FileWriter; the third truncates by an object of
                // its own a segment that the log has deleted, which ours refuses.
                "testCorruptedLogRecoveryDoesNotDeleteProducerStateSnapshotsPostRecovery",
                "testLogEndLessThanStartAfterReopen",
                "testRecoveryAfterCrashDuringSplitPhase4"),
            new Subject(STORAGE + "LogCleanerManagerTest", 10),
            new Subject(STORAGE + "LogConcurrencyTest", 1))
        .filter(subject -> ALL || subject.always());
  }

  @ParameterizedTest
  @MethodSource("subjects")
  void passAsOnTheJdksOwnProvider(Subject subject) throws Exception {
    Outcome jdk = run(subject, "jdk", List.of(), List.of());
    write(subject, "JDK", jdk, "");
    assertThat(jdk.counts().successful()).isPositive();

    Outcome ours = run(subject, "strata", List.of(Installed.PROVIDER_FLAG), List.of());
    write(subject, "Strata", ours, "");
    assertNothingElseFails(ours, jdk, 0);

    hot(subject, "hot", "1GiB", 4096, jdk);
    hot(subject, "spilling", "4MiB", 512, jdk);
  }

  private static void hot(Subject subject, String run, String size, int slots, Outcome jdk)
      throws Exception {
    Path pool = WORK.newPool(subject + "-" + run, size, slots);
    Path report = WORK.folder("reports").resolve(subject + "-" + run + ".properties");
    Outcome hot =
        run(
            subject,
            run,
            hotOptions(
                subject + "-" + run, pool, temporaryFiles(subject, run), subject.files(), report),
            subject.coldOnly());
    int placed = Integer.parseInt(placed(report));
    write(subject, run, hot, ", segments placed: " + placed);
    assertNothingElseFails(hot, jdk, subject.coldOnly().size());
    assertThat(placed).as("segments placed, %s", run).isGreaterThanOrEqualTo(minimum(subject, run));
    Pools.strata("pool", "check", pool.toString()).orFail();
    // It may be in memory, and those of all subjects are more than that has.
    Files.delete(pool);
  }

  /** In a pool that has space for few, fewer are placed. */
  private static int minimum(Subject subject, String run) {
    return run.equals("hot") ? subject.placed() : Math.min(1, subject.placed());
  }

  private static void assertNothingElseFails(Outcome ours, Outcome jdk, int leftOut) {
    assertThat(jdk.failed())
        .as("tests that fail on the JDK's provider; the others:%n%s", ours.output())
        .containsAll(ours.failed());
    assertThat(ours.counts().found()).isEqualTo(jdk.counts().found() - leftOut);
    assertThat(ours.counts().skipped()).isEqualTo(jdk.counts().skipped());
  }

  private static void write(Subject subject, String run, Outcome outcome, String more)
      throws IOException {
    Counts counts = outcome.counts();
    String line =
        String.format(
            "%s, %s: %d tests, %d succeeded, %d failed %s, %d skipped%s%n",
            subject,
            run,
            counts.found(),
            counts.successful(),
            counts.failed(),
            outcome.failed(),
            counts.skipped(),
            more);
    Files.writeString(
        WORK.folder("").resolve("summary.txt"),
        line,
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /** In place of the one method of LogSegmentTest that a hot segment cannot pass. */
  @Test
  void aCorruptHotSegmentIsRecovered() throws Exception {
    long seed = Long.getLong("strata.it.seed", System.nanoTime());
    Path segments = Files.createDirectories(WORK.folder("corrupt").resolve("t-0"));
    Path pool = WORK.newPool("corrupt", "64MiB");
    Path report = WORK.folder("reports").resolve("corrupt.properties");
    List<String> arguments = new ArrayList<>();
    arguments.addAll(hotOptions("corrupt", pool, segments, "[0-9]{20}\\.log(\\.[a-z]+)?", report));
    arguments.addAll(
        List.of(
            "-cp",
            String.join(
                File.pathSeparator,
                Hooks.folder(WORK).toString(),
                Distribution.classesOf(CorruptSegmentMain.class).toString(),
                Distribution.kafkaOwnTestsClassPath()),
            CorruptSegmentMain.class.getName(),
            segments.toString(),
            Long.toString(seed)));
    JavaProcess.Finished finished =
        JavaProcess.run("corrupt", arguments, WORK.folder("corrupt"), LIMIT);
    assertThat(finished.exitCode()).as("seed %d:%n%s", seed, finished.output()).isZero();
    assertThat(placed(report)).isEqualTo("10");
  }

  private static List<String> hotOptions(
      String name, Path pool, Path directory, String files, Path report) throws IOException {
    Path logs = WORK.folder(name + "-logs");
    Path properties = logs.resolve("server.properties");
    Files.write(
        properties,
        List.of(
            "node.id=1", "log.dirs=" + logs, "strata.pools=" + pool, "strata.pool.type=mapped"));
    return List.of(
        Installed.PROVIDER_FLAG,
        "-Dstrata.role=broker",
        "-Dstrata.config=" + properties,
        "-D" + TestHook.PLACEMENT + "=" + Pattern.quote(directory + "/") + files,
        "-D" + TestHook.REPORT + "=" + report);
  }

  private static Path temporaryFiles(Subject subject, String run) {
    return WORK.folder(subject + "-" + run).resolve("tmp");
  }

  private static Outcome run(
      Subject subject, String run, List<String> options, List<String> excludedMethods)
      throws Exception {
    KafkaOwnTests.Run tests =
        new KafkaOwnTests.Run(subject + "-" + run, WORK.folder(subject + "-" + run));
    if (UNLINKED.contains(subject.toString())) {
      tests = tests.onTheirRelease();
    }
    tests = tests.before(Hooks.folder(WORK)).options(options).select(subject.className());
    excludedMethods.forEach(tests::exclude);
    return tests.outcome();
  }

  /** Tests that pass without us prove nothing: the runtime reports which files were ours. */
  private static String placed(Path report) throws IOException {
    assertThat(report).as("the runtime's report").exists();
    Properties properties = new Properties();
    properties.load(new StringReader(Files.readString(report)));
    return properties.getProperty("segments.placed", "none");
  }
}
