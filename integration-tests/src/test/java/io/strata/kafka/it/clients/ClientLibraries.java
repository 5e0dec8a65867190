package io.strata.kafka.it.clients;

import io.strata.kafka.it.harness.Distribution;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Kafka Streams and the file connectors of Kafka Connect, which are no part of a broker. */
final class ClientLibraries {

  /** The folder with the programs. */
  static final Path SOURCES = Distribution.root().resolve("integration-tests/clients");

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
      String problem =
          Distribution.copyDependencies(
              SOURCES.resolve("pom.xml"),
              libs,
              "-Dkafka.version=" + Distribution.kafkaVersion(),
              "-DincludeArtifactIds=kafka-streams,rocksdbjni,connect-file");
      Assumptions.assumeTrue(problem.isEmpty(), () -> "SKIPPED: no jars were copied: " + problem);
      Path unused = Files.createFile(done);
    }
    return libs;
  }
}
