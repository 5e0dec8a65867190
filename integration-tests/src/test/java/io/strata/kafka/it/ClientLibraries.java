package io.strata.kafka.it;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Kafka Streams and the file connectors of Kafka Connect, which are no part of a broker. */
final class ClientLibraries {

  /** The folder with the programs. */
  static final Path SOURCES = Distribution.otherKafka().resolve("../../clients").normalize();

  /** The folder for what is installed or built. */
  static final Path BUILT = Distribution.kafkaLibs().resolveSibling("clients");

  private ClientLibraries() {}

  /**
   * The class path of a program that uses them; Maven copies the jars first. Where it cannot, the
   * test is skipped.
   */
  static String classPath() throws IOException, InterruptedException {
    return libs() + File.separator + "*" + File.pathSeparator + Distribution.kafkaClassPath();
  }

  /** The jar with the file connectors. */
  static Path fileConnectors() throws IOException, InterruptedException {
    try (Stream<Path> files = Files.list(libs())) {
      return files.filter(f -> f.toString().contains("connect-file")).findFirst().orElseThrow();
    }
  }

  private static Path libs() throws IOException, InterruptedException {
    Path libs = BUILT.resolve("libs-" + Distribution.kafkaVersion());
    Path done = libs.resolve("copied");
    if (!Files.exists(done)) {
      List<String> maven = new ArrayList<>(Distribution.maven());
      maven.addAll(
          List.of(
              "-f",
              SOURCES.resolve("pom.xml").toString(),
              "-Dkafka.version=" + Distribution.kafkaVersion(),
              "-DincludeArtifactIds=kafka-streams,rocksdbjni,connect-file",
              "-DoutputDirectory=" + libs,
              "dependency:copy-dependencies"));
      String problem = TestMount.run(maven.toArray(String[]::new));
      Assumptions.assumeTrue(
          problem.isEmpty(),
          () -> "SKIPPED: %s does not copy the jars: %s".formatted(maven, problem));
      Path unused = Files.createFile(done);
    }
    return libs;
  }
}
