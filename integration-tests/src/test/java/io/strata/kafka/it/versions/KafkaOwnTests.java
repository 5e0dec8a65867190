package io.strata.kafka.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.JavaProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs a class of Kafka's own tests, as published, in a JVM of its own. */
final class KafkaOwnTests {

  private static final Duration LIMIT = Duration.ofMinutes(30);
  private static final String LAUNCHER = "org.junit.platform.console.ConsoleLauncher";

  /** A summary line of the launcher: {@code [ 30 tests found ]}. */
  private static final Pattern SUMMARY =
      Pattern.compile("\\[ *([0-9]+) tests (found|successful|failed|skipped|aborted) *]");

  /** Of the launcher's list of failures: {@code JUnit Jupiter:LogSegmentTest:testAppend()}. */
  private static final Pattern FAILURE =
      Pattern.compile("^  JUnit Jupiter:[^:]+:(.+)$", Pattern.MULTILINE);

  private KafkaOwnTests() {}

  /** What one run of a class came to. */
  record Counts(int found, int successful, int failed, int skipped) {

    /** All of so many succeeded. */
    static Counts allOf(int found) {
      return new Counts(found, found, 0, 0);
    }
  }

  /**
   * What one run of a class came to, whether or not all succeeded.
   *
   * @param failed the names of the tests that did not, as the launcher shows them
   */
  record Outcome(Counts counts, Set<String> failed, String output) {}

  /** How a class is run. */
  static final class Run {

    private final String name;
    private final Path folder;
    private final List<String> options = new ArrayList<>();
    private final List<String> launcher = new ArrayList<>(List.of(LAUNCHER));
    private final List<String> selection = new ArrayList<>();
    private String classPath = Distribution.kafkaOwnTestsClassPath();

    /**
     * A run.
     *
     * @param folder for its files
     */
    Run(String name, Path folder) {
      this.name = name;
      this.folder = folder;
      options.addAll(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    }

    /** Adds options of the JVM. */
    Run options(List<String> more) {
      options.addAll(more);
      return this;
    }

    /** The launcher is started by our main class, which is put on the class path. */
    Run startedBy(Class<?> main) {
      launcher.add(0, main.getName());
      return before(Distribution.classesOf(main));
    }

    /** Puts a folder in front of the class path. */
    Run before(Path folder) {
      classPath = folder + File.pathSeparator + classPath;
      return this;
    }

    /** On the classes of the release that the tests are of, before anything is put in front. */
    Run onTheirRelease() {
      classPath = Distribution.kafkaOwnTestsClassPathOfTheirRelease();
      return this;
    }

    /** All of a class's tests. */
    Run select(String className) {
      selection.add("--select-class=" + className);
      return this;
    }

    /** One round of a test with parameters, from 0. */
    Run selectRound(String method, int round) {
      selection.add("--select-iteration=method:" + method + "[" + round + "]");
      return this;
    }

    /** But not those of the method. */
    Run exclude(String method) {
      selection.add("--exclude-methodname=.*#" + method + "\\(.*|.*#" + method);
      return this;
    }

    /** Runs to the end, and fails if a test did. */
    Counts run() throws IOException, InterruptedException {
      JavaProcess.Finished finished = launch();
      assertThat(finished.exitCode())
          .as("%s:%n%s", name, JavaProcess.tail(finished.output()))
          .isZero();
      return counts(finished.output());
    }

    /** Runs to the end; fails if it does not get there. */
    Outcome outcome() throws IOException, InterruptedException {
      String output = launch().output();
      Set<String> failed = new TreeSet<>();
      Matcher one = FAILURE.matcher(output);
      while (one.find()) {
        failed.add(one.group(1));
      }
      Counts counts = counts(output);
      assertThat(failed).as("%s: tests that failed:%n%s", name, output).hasSize(counts.failed());
      return new Outcome(counts, failed, output);
    }

    private JavaProcess.Finished launch() throws IOException, InterruptedException {
      List<String> arguments = new ArrayList<>(options);
      arguments.add("-Djava.io.tmpdir=" + Files.createDirectories(folder.resolve("tmp")));
      arguments.addAll(List.of("-cp", classPath));
      arguments.addAll(launcher);
      arguments.add("execute");
      arguments.addAll(selection);
      arguments.addAll(
          List.of(
              "--disable-banner", "--disable-ansi-colors", "--details=tree", "--fail-if-no-tests"));
      return JavaProcess.run(name, arguments, folder, LIMIT);
    }
  }

  private static Counts counts(String output) {
    Properties numbers = new Properties();
    Matcher summary = SUMMARY.matcher(output);
    while (summary.find()) {
      numbers.setProperty(summary.group(2), summary.group(1));
    }
    assertThat(numbers).as(output).hasSize(5);
    return new Counts(
        Integer.parseInt(numbers.getProperty("found")),
        Integer.parseInt(numbers.getProperty("successful")),
        Integer.parseInt(numbers.getProperty("failed")),
        Integer.parseInt(numbers.getProperty("skipped"))
            + Integer.parseInt(numbers.getProperty("aborted")));
  }
}
