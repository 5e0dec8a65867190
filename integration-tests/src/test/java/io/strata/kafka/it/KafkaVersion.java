package io.strata.kafka.it;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The releases of Kafka that the one jar works with. */
enum KafkaVersion {
  /**
   * The oldest: without the retriable exception, metrics for plugins, and the mark of an empty
   * transaction index.
   */
  V3_9("3.9.2"),
  /** Without the retriable exception and metrics for plugins. */
  V4_0("4.0.2"),
  /** Without the retriable exception. */
  V4_1("4.1.2"),
  /** The first that has all that Strata uses. */
  V4_2("4.2.1"),
  /** The one that all other tests use, and that the code is compiled with. */
  CURRENT(Distribution.kafkaVersion());

  private final String release;

  KafkaVersion(String release) {
    this.release = release;
  }

  /** A stock broker's jars. Those of another release than the tests' own Maven copies first. */
  Path libs() throws IOException, InterruptedException {
    if (this == CURRENT) {
      return Distribution.kafkaLibs();
    }
    Path libs = Distribution.work().resolve("kafka-libs-" + release);
    Path done = libs.resolve("copied");
    if (!Files.exists(done)) {
      List<String> maven = new ArrayList<>(Distribution.maven());
      maven.addAll(
          List.of(
              "-f",
              Distribution.otherKafka().toString(),
              "-Dkafka.version=" + release,
              "-DoutputDirectory=" + libs,
              "dependency:copy-dependencies"));
      String problem = TestMount.run(maven.toArray(String[]::new));
      if (!problem.isEmpty()) {
        throw new IllegalStateException(
            "Kafka " + release + " could not be copied by " + maven + ": " + problem);
      }
      Path unused = Files.createFile(done);
    }
    return libs;
  }

  /** The class path of a stock broker. */
  String classPath() throws IOException, InterruptedException {
    return libs() + File.separator + "*";
  }

  @Override
  public String toString() {
    return release;
  }
}
