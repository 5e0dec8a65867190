package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.KafkaOwnTests.Counts;
import java.io.File;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kafka's own tests of its segments, as published, unchanged, each class in a JVM of its own: on
 * the JDK's provider, on ours, and on ours with every file that they open as a segment placed in a
 * pool.
 */
@Tag("kafka-own-tests")
class KafkaOwnTestsTest {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  @RegisterExtension static final Workspace WORK = new Workspace();

  /**
   * A test class of Kafka's.
   *
   * @param files the names of its segment files, a regular expression
   * @param coldOnly methods that reach into a segment's file past java.nio.file, which a hot
   *     segment does not have to withstand
   */
  private record Subject(String className, String files, List<String> coldOnly) {
    @Override
    public String toString() {
      return className.substring(className.lastIndexOf('.') + 1);
    }
  }

  static Stream<Subject> subjects() {
    return Stream.of(
        new Subject(
            "org.apache.kafka.common.record.internal.FileRecordsTest",
            "kafka[0-9]+\\.tmp",
            List.of()),
        new Subject(
            "org.apache.kafka.storage.internals.log.LogSegmentTest",
            "kafka-[^/]+/[0-9]{20}\\.log(\\.[a-z]+)?",
            // Corrupts the segment through RandomAccessFile; see aCorruptHotSegmentIsRecovered.
            List.of("testRecoveryWithCorruptMessage")));
  }

  @ParameterizedTest
  @MethodSource("subjects")
  void passAsOnTheJdksOwnProvider(Subject subject, TestReporter reporter) throws Exception {
    Counts jdk = run(subject, "jdk", List.of(), List.of());
    reporter.publishEntry(subject + " on the JDK's provider", jdk.toString());
    assertThat(jdk.found()).isPositive();
    assertThat(jdk).isEqualTo(Counts.allOf(jdk.found()));

    Counts ours = run(subject, "strata", List.of(Installed.PROVIDER_FLAG), List.of());
    reporter.publishEntry(subject + " on Strata's provider", ours.toString());
    assertThat(ours).isEqualTo(jdk);

    Path pool = Pools.create(WORK.pool(subject + "-hot"), "256m");
    Path report = WORK.folder("reports").resolve(subject + ".properties");
    Counts hot =
        run(
            subject,
            "hot",
            hotOptions(
                subject.toString(), pool, temporaryFiles(subject, "hot"), subject.files(), report),
            subject.coldOnly());
    String placed = placed(report);
    reporter.publishEntry(subject + " with hot segments", hot + ", segments placed: " + placed);
    int expected = jdk.found() - subject.coldOnly().size();
    assertThat(hot).isEqualTo(Counts.allOf(expected));
    assertThat(Integer.parseInt(placed)).as("segments placed").isGreaterThanOrEqualTo(20);
    Pools.strata("pool", "check", pool.toString()).orFail();
  }

  /** In place of the one method of LogSegmentTest that a hot segment cannot pass. */
  @Test
  void aCorruptHotSegmentIsRecovered() throws Exception {
    long seed = Long.getLong("strata.it.seed", System.nanoTime());
    Path segments = Files.createDirectories(WORK.folder("corrupt").resolve("t-0"));
    Path pool = Pools.create(WORK.pool("corrupt"), "64m");
    Path report = WORK.folder("reports").resolve("corrupt.properties");
    List<String> arguments = new ArrayList<>();
    arguments.addAll(hotOptions("corrupt", pool, segments, "[0-9]{20}\\.log(\\.[a-z]+)?", report));
    arguments.addAll(
        List.of(
            "-cp",
            KafkaOwnTests.classesOf(CorruptSegmentMain.class)
                + File.pathSeparator
                + Distribution.kafkaOwnTestsClassPath(),
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
    Files.write(properties, List.of("node.id=1", "log.dirs=" + logs, "strata.pools=" + pool));
    return List.of(
        Installed.PROVIDER_FLAG,
        "-Dstrata.role=broker",
        "-Dstrata.config=" + properties,
        "-Dstrata.test.placement=" + Pattern.quote(directory + "/") + files,
        "-Dstrata.test.report=" + report);
  }

  private static Path temporaryFiles(Subject subject, String run) {
    return WORK.folder(subject + "-" + run).resolve("tmp");
  }

  private static Counts run(
      Subject subject, String run, List<String> options, List<String> excludedMethods)
      throws Exception {
    KafkaOwnTests.Run tests =
        new KafkaOwnTests.Run(subject + "-" + run, WORK.folder(subject + "-" + run))
            .options(options)
            .select(subject.className());
    excludedMethods.forEach(tests::exclude);
    return tests.run();
  }

  /** Tests that pass without us prove nothing: the runtime tells what was really ours. */
  private static String placed(Path report) throws IOException {
    assertThat(report).as("the runtime's report").exists();
    Properties properties = new Properties();
    properties.load(new StringReader(Files.readString(report)));
    return properties.getProperty("segments.placed", "none");
  }
}
