package io.strata.kafka.it.containers;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What {@code examples/docker} says and has, with the images that can be had here. */
@Tag("long")
class ContainerExamplesTest {

  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final String BOOTSTRAP = "localhost:9092";

  @RegisterExtension static final Workspace WORK = new Workspace();

  @BeforeAll
  static void engine() {
    ContainerEngine.assumeThere();
  }

  /** The commands of the page, in their order. */
  @Test
  void oneNode() throws Exception {
    Path root = ContainerEngine.example("../..").normalize();
    Path jar = ContainerEngine.example("strata-kafka.jar");
    boolean mine = !Files.exists(jar);
    if (mine) {
      Path unused = Files.copy(Distribution.strataJar(), jar);
    }
    String name = "strata-it-example";
    try {
      List<String> commands = commands();
      String unused = sh(root, adapted(find(commands, "docker run --detach"), name));
      awaitStarted(name, 1);
      assertThat(ContainerEngine.docker("logs", name)).contains("Opened pool", "hot.pool");
      unused = sh(root, adapted(find(commands, "kafka-topics.sh"), name));
      unused =
          ContainerEngine.docker(
              "exec",
              name,
              "/opt/kafka/bin/kafka-producer-perf-test.sh",
              "--bootstrap-server=" + BOOTSTRAP,
              "--topic=orders",
              "--num-records=5000",
              "--record-size=1000",
              "--throughput=-1");
      assertThat(sh(root, adapted(find(commands, "docker exec kafka java -jar"), name)))
          .contains("orders-0", "hot");
      unused = ContainerEngine.docker("restart", "--time", "120", name);
      awaitStarted(name, 2);
      assertThat(
              ContainerEngine.docker(
                  "exec",
                  name,
                  "/opt/kafka/bin/kafka-consumer-perf-test.sh",
                  "--bootstrap-server=" + BOOTSTRAP,
                  "--topic=orders",
                  "--num-records=5000"))
          .contains(", 5000, ");
      unused = ContainerEngine.docker("stop", "--time", "120", name);
      unused = sh(root, adapted(find(commands, "docker cp"), name));
      assertThat(sh(root, adapted(find(commands, "docker run --rm --volumes-from"), name)))
          .contains("broker 1 of cluster");
    } finally {
      String unused = ContainerEngine.docker("rm", "--force", "--volumes", name);
      if (mine) {
        Files.deleteIfExists(jar);
      }
    }
  }

  /** All services of compose.yaml but Grafana, whose image cannot be built here. */
  @Test
  void compose() throws Exception {
    List<String> compose = composeCommand();
    Path copy = WORK.folder("examples");
    Path examples = ContainerEngine.example("..").normalize();
    for (String folder : List.of("docker", "prometheus", "grafana")) {
      copyFolder(examples.resolve(folder), copy.resolve(folder));
    }
    Path docker = copy.resolve("docker");
    String maven = String.join(" ", Distribution.maven());
    String unused =
        sh(
            ContainerEngine.example("../..").normalize(),
            find(commands(), "mvn -N dependency:copy")
                .replace("mvn ", maven + " ")
                .replace("=examples/docker", "=" + docker));
    assertThat(docker.resolve("jmx_prometheus_javaagent.jar")).exists();
    Path prometheus = Distribution.otherKafka().resolve("../../containers").normalize();
    unused =
        ContainerEngine.docker(
            "build",
            "--quiet",
            "--tag=strata-it/prometheus:test",
            "--file=" + prometheus.resolve("prometheus.Dockerfile"),
            prometheus.resolve("image/config").toString());
    Map<String, String> images =
        Map.of(
            "STRATA_KAFKA_IMAGE",
            ContainerEngine.kafkaWithStrata(),
            "PROMETHEUS_IMAGE",
            "strata-it/prometheus:test",
            "KAFKA_HEAP_OPTS",
            "-Xms160m -Xmx320m",
            "LOAD_RECORDS_PER_SECOND",
            "500",
            "PROMETHEUS_PORT",
            "0");
    List<String> project = new ArrayList<>(compose);
    project.addAll(
        List.of(
            "--project-name", "strata-it", "--file", docker.resolve("compose.yaml").toString()));
    try {
      unused =
          run(
              docker,
              images,
              project,
              "up",
              "--detach",
              "kafka-1",
              "kafka-2",
              "kafka-3",
              "load",
              "prometheus");
      String address = run(docker, images, project, "port", "prometheus", "9090").strip();
      awaitQuery(address, "sum(up{job=\"kafka\"})", 3);
      awaitQuery(address, "count(strata_tier_usedbytes{tier=\"hot\"} > 1000000)", 3);
      awaitQuery(address, "count(strata_broker_health)", 3);
    } finally {
      unused = run(docker, images, project, "down", "--volumes", "--timeout", "30");
    }
  }

  private static void awaitQuery(String address, String query, double expected) {
    ObjectMapper json = new ObjectMapper();
    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofSeconds(2))
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              URI uri =
                  URI.create(
                      "http://%s/api/v1/query?query=%s"
                          .formatted(
                              address.replace("0.0.0.0", "127.0.0.1"),
                              URLEncoder.encode(query, StandardCharsets.UTF_8)));
              try (InputStream in = uri.toURL().openStream()) {
                JsonNode result = json.readTree(in).at("/data/result/0/value/1");
                assertThat(Double.parseDouble(result.asText("0"))).as(query).isEqualTo(expected);
              }
            });
  }

  private static List<String> composeCommand() throws IOException, InterruptedException {
    for (List<String> each : List.of(List.of("docker", "compose"), List.of("docker-compose"))) {
      try {
        List<String> command = new ArrayList<>(each);
        command.add("version");
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (process.waitFor() == 0) {
          return each;
        }
      } catch (IOException e) {
        // Not installed.
      }
    }
    System.out.println("==> SKIPPED: compose.yaml: neither docker compose nor docker-compose");
    Assumptions.abort("no docker compose");
    return List.of();
  }

  // ---------------------------------------------------------------------------------------------
  // the page
  // ---------------------------------------------------------------------------------------------

  /** The commands in the page's blocks, each in one line. */
  private static List<String> commands() throws IOException {
    String text = Files.readString(ContainerEngine.example("README.md"));
    List<String> commands = new ArrayList<>();
    Matcher blocks = Pattern.compile("(?ms)^ *```sh\n(.*?)^ *```").matcher(text);
    while (blocks.find()) {
      blocks.group(1).replace("\\\n", " ").lines().map(String::strip).forEach(commands::add);
    }
    return commands;
  }

  private static String find(List<String> commands, String text) {
    return commands.stream()
        .filter(command -> command.contains(text))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no command with '%s'".formatted(text)));
  }

  /** With the image that is here, a name of the test's, and no port of the host's. */
  private static String adapted(String command, String name) {
    return command
        .replace("apache/kafka:4.4.0", ContainerEngine.kafka())
        .replace("--publish 9092:9092", "--env KAFKA_HEAP_OPTS=-Xmx320m")
        .replaceAll("(--name |--volumes-from |docker cp |docker exec )kafka\\b", "$1" + name);
  }

  private static void awaitStarted(String name, int times) {
    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofSeconds(1))
        .untilAsserted(
            () ->
                assertThat(
                        ContainerEngine.docker("logs", name)
                            .lines()
                            .filter(line -> line.contains("Kafka Server started")))
                    .hasSize(times));
  }

  // ---------------------------------------------------------------------------------------------

  private static String sh(Path folder, String command) throws IOException, InterruptedException {
    return run(folder, Map.of(), List.of("bash", "-c", command));
  }

  private static String run(
      Path folder, Map<String, String> environment, List<String> command, String... arguments)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(command);
    all.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(all).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as("exit code of %s:\n%s", all, output).isZero();
    return output;
  }

  private static void copyFolder(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    Path unused = Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
  }
}
