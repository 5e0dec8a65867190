package io.strata.kafka.bench.paired;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;

/**
 * A broker of one node, newly formatted in an empty folder, in a process of its own. Used by one
 * thread.
 */
final class BrokerProcess {
  private static final long LIMIT_SECONDS = 180;
  private static final int LAST_LINES = 20;

  private final Contender contender;
  private final Path kafka;
  private final Path folder;
  private final int port;
  private final int controllerPort;
  private final int jmxPort;
  private Optional<Process> process = Optional.empty();

  /**
   * Creates one, not started.
   *
   * @param kafka the folder of Kafka's jars
   * @param folder its own, empty
   */
  BrokerProcess(Contender contender, Path kafka, Path folder) throws IOException {
    this.contender = contender;
    this.kafka = kafka;
    this.folder = folder;
    try (ServerSocket first = new ServerSocket(0);
        ServerSocket second = new ServerSocket(0);
        ServerSocket third = new ServerSocket(0)) {
      port = first.getLocalPort();
      controllerPort = second.getLocalPort();
      jmxPort = third.getLocalPort();
    }
  }

  String bootstrap() {
    return "127.0.0.1:" + port;
  }

  String jmx() {
    return "127.0.0.1:" + jmxPort;
  }

  /** Formats and starts it, and waits until it answers. */
  void start() throws IOException, InterruptedException {
    Path properties = folder.resolve("server.properties");
    Files.writeString(
        properties,
        properties().entrySet().stream()
            .map(e -> "%s=%s%n".formatted(e.getKey(), e.getValue()))
            .collect(Collectors.joining()));
    Process format =
        launch(
            "format",
            List.of(),
            List.of(),
            "kafka.tools.StorageTool",
            "format",
            "--config",
            properties.toString(),
            "--cluster-id",
            Uuid.randomUuid().toString());
    if (!format.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || format.exitValue() != 0) {
      format.destroyForcibly();
      throw new IOException("%s: formatting failed: %s".formatted(folder, last("format")));
    }
    List<String> management =
        List.of(
            "-Dcom.sun.management.jmxremote.port=" + jmxPort,
            "-Dcom.sun.management.jmxremote.rmi.port=" + jmxPort,
            "-Dcom.sun.management.jmxremote.host=127.0.0.1",
            "-Djava.rmi.server.hostname=127.0.0.1",
            "-Dcom.sun.management.jmxremote.authenticate=false",
            "-Dcom.sun.management.jmxremote.ssl=false");
    Process broker =
        launch("broker", contender.prefix(), management, "kafka.Kafka", properties.toString());
    process = Optional.of(broker);
    // Whoever ends this program does not want to look for a broker.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(broker)));
    awaitAnswer(broker);
  }

  private Map<String, String> properties() {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("process.roles", "broker,controller");
    all.put("node.id", "1");
    all.put(
        "listeners",
        "PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d".formatted(port, controllerPort));
    all.put("controller.listener.names", "CONTROLLER");
    all.put("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
    all.put("log.dirs", folder.resolve("logs").toString());
    all.put("offsets.topic.replication.factor", "1");
    all.put("transaction.state.log.replication.factor", "1");
    all.put("transaction.state.log.min.isr", "1");
    all.putAll(contender.properties());
    return all;
  }

  private Process launch(
      String name, List<String> prefix, List<String> options, String main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(contender.jvm());
    command.addAll(options);
    List<String> path = new ArrayList<>(contender.classPath());
    path.add(kafka.resolve("*").toString());
    command.add("-cp");
    command.add(String.join(":", path));
    command.add(main);
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve(name + ".out").toFile())
        .start();
  }

  private void awaitAnswer(Process broker) throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
      while (true) {
        if (!broker.isAlive()) {
          throw new IOException(
              "%s: the broker ended with code %d: %s"
                  .formatted(folder, broker.exitValue(), last("broker")));
        }
        try {
          if (!admin.describeCluster().nodes().get(5, TimeUnit.SECONDS).isEmpty()) {
            return;
          }
        } catch (ExecutionException | TimeoutException e) {
          if (System.nanoTime() > end) {
            throw new IOException(
                "%s: found no answer of the broker in %d s: %s"
                    .formatted(folder, LIMIT_SECONDS, last("broker")),
                e);
          }
        }
      }
    }
  }

  /** The processor time that it has used. */
  double processorSeconds() {
    return process.map(Process::toHandle).stream()
        .flatMap(broker -> Stream.concat(Stream.of(broker), broker.descendants()))
        .flatMap(each -> each.info().totalCpuDuration().stream())
        .mapToDouble(time -> time.toNanos() / 1e9)
        .sum();
  }

  /** Stops it; one that does not stop is killed, and that is a failure. */
  void stop() throws IOException, InterruptedException {
    if (process.isEmpty()) {
      return;
    }
    Process broker = process.get();
    process = Optional.empty();
    end(broker);
    if (!broker.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      broker.descendants().forEach(ProcessHandle::destroyForcibly);
      broker.destroyForcibly();
      throw new IOException(
          "%s: the broker did not stop in %d s: %s"
              .formatted(folder, LIMIT_SECONDS, last("broker")));
    }
  }

  /** With a prefix, the broker is its child. */
  private static void end(Process broker) {
    broker.descendants().forEach(ProcessHandle::destroy);
    broker.destroy();
  }

  private String last(String name) throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve(name + ".out"), StandardCharsets.UTF_8);
    return String.join(
        System.lineSeparator(),
        lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
  }
}
