package io.strata.kafka.it.harness;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Where the build has put what the tests run: the jar under test and a stock broker's jars. */
public final class Distribution {

  private Distribution() {}

  /** The installable jar. */
  public static Path strataJar() {
    return existing("strata.it.jar", "run 'mvn verify', which packages it");
  }

  /** The version that the jar must say it has. */
  public static String version() {
    return property("strata.it.version");
  }

  /** The class path of a stock broker: its libs folder, as Kafka's own scripts pass it. */
  public static String kafkaClassPath() {
    return kafkaLibs() + File.separator + "*";
  }

  /** A stock broker's libs folder. */
  public static Path kafkaLibs() {
    return existing("strata.it.kafka.libs", "run 'mvn verify', which copies it");
  }

  /** The release of Kafka that is there. */
  public static String kafkaVersion() {
    Pattern clients = Pattern.compile("kafka-clients-(\\d+\\.\\d+\\.\\d+)\\.jar");
    try (Stream<Path> jars = Files.list(kafkaLibs())) {
      return jars.map(jar -> clients.matcher(jar.getFileName().toString()))
          .filter(Matcher::matches)
          .map(jar -> jar.group(1))
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("no kafka-clients in " + kafkaLibs()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What copies the libs folder of another release. */
  public static Path otherKafka() {
    return existing("strata.it.kafka.other", "it is in integration-tests/kafka-versions");
  }

  /**
   * Has Maven copy to a folder what a project depends on.
   *
   * @param how options, the goal among them if it is another one
   * @return empty, or what went wrong
   */
  public static String copyDependencies(Path pom, Path folder, String... how)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(maven());
    command.addAll(List.of("-f", pom.toString(), "-DoutputDirectory=" + folder));
    command.addAll(List.of(how));
    if (command.stream().noneMatch(word -> word.startsWith("dependency:"))) {
      command.add("dependency:copy-dependencies");
    }
    String problem = TestMount.run(command.toArray(String[]::new));
    return problem.isEmpty() ? "" : command + ": " + problem;
  }

  /** The top of the sources. */
  public static Path root() {
    return otherKafka().resolve("../../..").normalize();
  }

  /** Maven, with the settings of the build that runs the tests. */
  public static List<String> maven() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(property("strata.it.maven.home"), "bin", "mvn").toString());
    command.addAll(List.of("-B", "-ntp", "-q"));
    command.add("-Dmaven.repo.local=" + property("strata.it.maven.repository"));
    if (property("strata.it.maven.settings").equals("offline=true")) {
      command.add("-o");
    }
    return command;
  }

  /**
   * The class path of Kafka's own tests: theirs before a stock broker's, and the jar under test.
   * The tests are of an older release than the broker: what they name of it and has moved since is
   * found behind the broker's jars.
   */
  public static String kafkaOwnTestsClassPath() {
    return String.join(
        File.pathSeparator,
        kafkaOwnTests() + File.separator + "*",
        kafkaClassPath(),
        KafkaVersion.V4_3.linked() + File.separator + "*",
        strataJar().toString());
  }

  /** The same with the broker's classes of the tests' own release. */
  public static String kafkaOwnTestsClassPathOfTheirRelease() {
    return String.join(
        File.pathSeparator,
        kafkaOwnTests() + File.separator + "*",
        KafkaVersion.V4_3.classPath(),
        strataJar().toString());
  }

  /** Kafka's published tests. */
  static Path kafkaOwnTests() {
    return existing("strata.it.kafka.own.tests", "run 'mvn verify', which copies it");
  }

  /** The folder below which tests keep their files. */
  public static Path work() {
    return Path.of(property("strata.it.work"));
  }

  /** The folder of the tests' own classes, of which the type is one. */
  public static Path classesOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError("no path of " + type, e);
    }
  }

  private static Path existing(String key, String remedy) {
    Path path = Path.of(property(key));
    if (!Files.exists(path)) {
      throw new IllegalStateException(path + " does not exist: " + remedy);
    }
    return path;
  }

  private static String property(String key) {
    String value = System.getProperty(key);
    if (value == null) {
      throw new IllegalStateException(
          "The system property " + key + " is not set: run the tests by 'mvn verify'");
    }
    return value;
  }
}
