package io.strata.kafka.it.containers;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.FreePorts;
import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A stock node with the configuration that Strimzi writes for it from the chart's resources. What
 * only a pod has is replaced: Kubernetes' secrets and names, the paths of volumes, their sizes, and
 * the number of nodes. Every other line is as it is.
 */
final class StrimziNode {

  /** What the pods' volumes are mounted below. */
  private static final List<String> VOLUMES = List.of("/var/lib/kafka/", "/mnt/");

  /** Keys that need Kubernetes: its secrets, its names, and the class that reads the secrets. */
  private static final Pattern OF_KUBERNETES =
      Pattern.compile(
          "listener\\.name\\..*|config\\.providers.*|.*ssl\\..*|sasl\\..*|advertised\\.listeners");

  /** What a cluster of one broker can have. */
  private static final Pattern REPLICAS =
      Pattern.compile(".*replication\\.factor|.*min\\.isr|min\\.insync\\.replicas");

  private final Map<String, String> strimzi;
  private final Path folder;

  private StrimziNode(Map<String, String> strimzi, Path folder) {
    this.strimzi = strimzi;
    this.folder = folder;
  }

  /**
   * A node of the golden file's configuration, formatted.
   *
   * @param folder of its volumes and its logs
   * @param controller of its cluster, where it is a broker alone
   */
  static StockBroker of(String golden, Path folder, Optional<StockBroker> controller)
      throws IOException, InterruptedException {
    return new StrimziNode(read("/strimzi/" + golden + ".properties"), folder).build(controller);
  }

  /** The file that the chart's Job gives to {@code strata drain}, for the volumes in the folder. */
  static Path drain(Path folder) throws IOException {
    StrimziNode node = new StrimziNode(read("/strimzi/drain.properties"), folder);
    List<String> lines =
        node.strimzi.entrySet().stream()
            .map(line -> line.getKey() + "=" + node.here(line.getValue()))
            .toList();
    return Files.write(folder.resolve("drain.properties"), lines);
  }

  private static Map<String, String> read(String resource) throws IOException {
    Properties properties = new Properties();
    try (InputStream in =
        Objects.requireNonNull(StrimziNode.class.getResourceAsStream(resource), resource)) {
      properties.load(new InputStreamReader(in, UTF_8));
    }
    Map<String, String> all = new TreeMap<>();
    properties.stringPropertyNames().forEach(key -> all.put(key, properties.getProperty(key)));
    return all;
  }

  private StockBroker build(Optional<StockBroker> controller)
      throws IOException, InterruptedException {
    StockBroker.Builder builder = StockBroker.in(folder).jmx();
    controller.ifPresent(quorum -> builder.joining(quorum, id()));
    if (strimzi.containsKey("prometheus.metrics.reporter.listener")) {
      for (Path jar : reporterJars()) {
        builder.library(jar);
      }
    }
    StockBroker node = builder.build();
    Map<String, String> adapted = adapted(node, controller);
    makeVolumes(adapted);
    // As the chart does: a controller has the jar alone.
    return node.setAll(adapted)
        .installed(isBroker() ? Installed.JAR_AND_FLAG : Installed.JAR)
        .format();
  }

  private int id() {
    return Integer.parseInt(value("node.id"));
  }

  private boolean isBroker() {
    return value("process.roles").contains("broker");
  }

  private String value(String key) {
    return Objects.requireNonNull(strimzi.get(key), key);
  }

  private Map<String, String> adapted(StockBroker node, Optional<StockBroker> controller) {
    Map<String, String> adapted = new TreeMap<>();
    strimzi.forEach(
        (key, value) -> {
          if (!OF_KUBERNETES.matcher(key).matches()) {
            adapted.put(key, REPLICAS.matcher(key).matches() ? "1" : here(value));
          }
        });
    String own = node.property("controller.quorum.voters");
    String address = own.substring(own.indexOf('@') + 1);
    adapted.put(
        "controller.quorum.voters",
        controller.map(q -> q.property("controller.quorum.voters")).orElse(id() + "@" + address));
    Map<String, String> listeners = listeners(node, address);
    adapted.put(
        "listeners",
        listeners.entrySet().stream()
            .map(listener -> listener.getKey() + "://" + listener.getValue())
            .collect(Collectors.joining(",")));
    adapted.put(
        "listener.security.protocol.map",
        value("listener.security.protocol.map").replace(":SSL", ":PLAINTEXT"));
    if (adapted.containsKey("remote.log.storage.system.enable")) {
      String client = "rlmm.config.remote.log.metadata.common.client.";
      adapted.put(client + "security.protocol", "PLAINTEXT");
      adapted.put(
          client + "bootstrap.servers", listeners.getOrDefault("REPLICATION-9091", address));
      adapted.put("rlmm.config.remote.log.metadata.topic.replication.factor", "1");
      adapted.put("rlmm.config.remote.log.metadata.topic.num.partitions", "1");
      adapted.put("rlmm.config.remote.log.metadata.initialization.retry.interval.ms", "300");
      adapted.put("remote.log.manager.task.interval.ms", "200");
      adapted.replaceAll((key, value) -> key.matches("rsm.*capacity") ? "1GB" : value);
    }
    adapted.replace("strata.pool.create", "32MiB");
    // No file system of the tests' machine is DAX.
    adapted.replace("strata.require.dax", "false");
    adapted.replace(
        "prometheus.metrics.reporter.listener", "http://127.0.0.1:" + FreePorts.find(1).get(0));
    // Of the release that can be had; Strimzi's images have a newer one, with other names.
    String reporter = "io.strimzi.kafka.metrics.";
    adapted.replaceAll(
        (key, value) ->
            value
                .replace(reporter + "prometheus.ServerKafka", reporter + "KafkaPrometheus")
                .replace(reporter + "prometheus.ServerYammer", reporter + "YammerPrometheus"));
    return adapted;
  }

  private String here(String value) {
    String adapted = value;
    for (String volume : VOLUMES) {
      adapted =
          Pattern.compile("(^|,)" + volume)
              .matcher(adapted)
              .replaceAll("$1" + folder.resolve(volume.substring(1)) + "/");
    }
    return adapted;
  }

  private Map<String, String> listeners(StockBroker node, String controller) {
    Map<String, String> listeners = new TreeMap<>();
    for (String listener : value("listeners").split(",", -1)) {
      String name = listener.substring(0, listener.indexOf("://"));
      listeners.put(
          name,
          switch (name) {
            case "PLAIN-9092" -> node.bootstrap();
            case "CONTROLPLANE-9090" -> controller;
            default -> "127.0.0.1:" + FreePorts.find(1).get(0);
          });
    }
    return listeners;
  }

  /** Kubernetes mounts the volumes; Kafka's formatting makes the log directories in them. */
  private static void makeVolumes(Map<String, String> properties) throws IOException {
    for (Map.Entry<String, String> property : properties.entrySet()) {
      boolean files = property.getKey().endsWith(".pools") || property.getKey().equals("log.dirs");
      if (files || property.getKey().matches("rsm\\.config\\..*\\.directories")) {
        for (String name : property.getValue().split(",", -1)) {
          Path path = Path.of(name);
          Path unused = Files.createDirectories(files ? parent(path) : path);
        }
      }
    }
  }

  private static Path parent(Path path) {
    return Objects.requireNonNull(path.getParent());
  }

  /** Strimzi's reporter and its libraries. Maven copies them first. */
  private static List<Path> reporterJars() throws IOException, InterruptedException {
    Path jars = Distribution.work().resolve("strimzi-reporter");
    Path done = jars.resolve("copied");
    if (!Files.exists(done)) {
      Path pom = parent(parent(Distribution.otherKafka())).resolve("strimzi/reporter/pom.xml");
      List<String> maven = new ArrayList<>(Distribution.maven());
      maven.addAll(
          List.of(
              "-f", pom.toString(), "-DoutputDirectory=" + jars, "dependency:copy-dependencies"));
      String problem = TestMount.run(maven.toArray(String[]::new));
      if (!problem.isEmpty()) {
        throw new IllegalStateException("not copied by " + maven + ": " + problem);
      }
      Path unused = Files.createFile(done);
    }
    try (Stream<Path> files = Files.list(jars)) {
      return files.filter(file -> file.toString().endsWith(".jar")).toList();
    }
  }
}
