package io.strata.kafka.it.containers;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.exception.NotFoundException;
import io.strata.kafka.it.harness.Distribution;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Assumptions;
import org.testcontainers.DockerClientFactory;

/**
 * The container engine, and the images that the tests run: Kafka's, and the same with Strata as the
 * example's Dockerfile makes it.
 */
final class ContainerEngine {

  private static final AtomicBoolean SAID = new AtomicBoolean();

  private ContainerEngine() {}

  /** Skips the test, loudly, where there is no engine or no image of Kafka. */
  static void assumeThere() {
    boolean engine = DockerClientFactory.instance().isDockerAvailable();
    if (!engine) {
      skip("no container engine answers");
    } else if (!isThere(kafka())) {
      skip(
          "the engine has no image %s: integration-tests/containers/build-base-image.sh builds it"
              .formatted(kafka()));
    }
  }

  private static void skip(String why) {
    if (SAID.compareAndSet(false, true)) {
      System.out.println("==> SKIPPED: tests in containers: " + why);
    }
    Assumptions.abort(why);
  }

  private static boolean isThere(String image) {
    try {
      client().inspectImageCmd(image).exec();
      return true;
    } catch (NotFoundException e) {
      return false;
    }
  }

  static DockerClient client() {
    return DockerClientFactory.instance().client();
  }

  /** Kafka's image: {@code -Dstrata.it.image=apache/kafka:4.4.0}, or the one that is built here. */
  static String kafka() {
    return System.getProperty("strata.it.image", "strata-it/kafka:" + Distribution.kafkaVersion());
  }

  /** Builds Kafka's image with the jar under test, by the example's Dockerfile. */
  static String kafkaWithStrata() throws IOException, InterruptedException {
    Path context = Files.createDirectories(Distribution.work().resolve("image"));
    copy(example("Dockerfile"), context.resolve("Dockerfile"));
    copy(Distribution.strataJar(), context.resolve("strata-kafka.jar"));
    String image = "strata-it/kafka-strata:test";
    docker(
        "build",
        "--quiet",
        "--target=with-strata",
        "--build-arg=BASE=" + kafka(),
        "--tag=" + image,
        context.toString());
    return image;
  }

  private static void copy(Path from, Path to) throws IOException {
    Path unused = Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Runs the engine's command line. */
  static String docker(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("docker"));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (process.waitFor() != 0) {
      throw new AssertionError("%s: %s".formatted(command, output));
    }
    return output;
  }

  /** A file of the example. */
  static Path example(String name) {
    return Distribution.otherKafka().resolve("../../../examples/docker").resolve(name).normalize();
  }
}
