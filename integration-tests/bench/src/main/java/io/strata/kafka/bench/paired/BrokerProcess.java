package io.strata.kafka.bench.paired;

import io.strata.kafka.bench.run.OwnBroker;
import java.io.IOException;
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
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;

/**
 * A broker of one node, newly formatted in an empty folder, in a process of its own. Its first
 * start may be as another contender. Used by one thread.
 */
final class BrokerProcess implements OwnBroker {
  private static final long LIMIT_SECONDS = 180;
  private static final int LAST_LINES = 20;

  private static final Path OUTGOING_PORTS = Path.of("/proc/sys/net/ipv4/ip_local_port_range");

  private final Contender contender;
  private final Path kafka;
  private final Path folder;
  private final int port;
  private final int controllerPort;
  private final int jmxPort;

  /** What the next start is as. */
  private Contender form;

  private Optional<Process> process = Optional.empty();

  /**
   * Creates one, not started.
   *
   * @param first what it is until it is first stopped or killed
   * @param contender what it is from then on
   * @param kafka the folder of Kafka's jars
   * @param folder its own, empty
   */
  BrokerProcess(Contender first, Contender contender, Path kafka, Path folder) throws IOException {
    this.form = first;
    this.contender = contender;
    this.kafka = kafka;
    this.folder = folder;
    List<Integer> ports = List.copyOf(BrokerPorts.find(3, OUTGOING_PORTS));
    port = ports.get(0);
    controllerPort = ports.get(1);
    jmxPort = ports.get(2);
  }

  String bootstrap() {
    return "127.0.0.1:" + port;
  }

  String jmx() {
    return "127.0.0.1:" + jmxPort;
  }

  /** Formats its log directories and starts it, and waits until it answers. */
  void startFirst() throws IOException, InterruptedException {
    Process format =
        launch(
            "format",
            List.of(),
            List.of(),
            "kafka.tools.StorageTool",
            "format",
            "--config",
            writeProperties().toString(),
            "--cluster-id",
            Uuid.randomUuid().toString());
    if (!format.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || format.exitValue() != 0) {
      format.destroyForcibly();
      throw new IOException("%s: formatting failed: %s".formatted(folder, last("format")));
    }
    start();
    awaitAnswer();
  }

  @Override
  public void start() throws IOException {
    List<String> management =
        List.of(
            "-Dcom.sun.management.jmxremote.port=" + jmxPort,
            "-Dcom.sun.management.jmxremote.rmi.port=" + jmxPort,
            "-Dcom.sun.management.jmxremote.host=127.0.0.1",
            "-Djava.rmi.server.hostname=127.0.0.1",
            "-Dcom.sun.management.jmxremote.authenticate=false",
            "-Dcom.sun.management.jmxremote.ssl=false");
    Process broker =
        launch("broker", form.prefix(), management, "kafka.Kafka", writeProperties().toString());
    process = Optional.of(broker);
    // The broker must not outlive this program.
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> processes(broker).forEach(ProcessHandle::destroy)));
  }

  private Path writeProperties() throws IOException {
    return Files.writeString(
        folder.resolve("server.properties"),
        properties().entrySet().stream()
            .map(e -> "%s=%s%n".formatted(e.getKey(), e.getValue()))
            .collect(Collectors.joining()));
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
    all.putAll(form.properties());
    return all;
  }

  private Process launch(
      String name, List<String> prefix, List<String> options, String main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(form.jvm());
    command.addAll(options);
    List<String> path = new ArrayList<>(form.classPath());
    path.add(kafka.resolve("*").toString());
    command.add("-cp");
    command.add(String.join(":", path));
    command.add(main);
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectErrorStream(true)
        // What it has said before a restart stays.
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve(name + ".out").toFile()))
        .start();
  }

  @Override
  public void requireAlive() throws IOException {
    Process broker = process.orElseThrow();
    if (!broker.isAlive()) {
      throw new IOException(
          "%s: the broker ended with code %d: %s"
              .formatted(folder, broker.exitValue(), last("broker")));
    }
  }

  private void awaitAnswer() throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
      while (true) {
        requireAlive();
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

  /** The processor time that the running process has used. */
  double processorSeconds() {
    return process.stream()
        .flatMap(broker -> processes(broker).stream())
        .flatMap(each -> each.info().totalCpuDuration().stream())
        .mapToDouble(time -> time.toNanos() / 1e9)
        .sum();
  }

  @Override
  public void stop() throws IOException, InterruptedException {
    end(ProcessHandle::destroy);
  }

  @Override
  public void kill() throws IOException, InterruptedException {
    end(ProcessHandle::destroyForcibly);
  }

  /** Ends it, if it runs; from now on it is the contender. */
  private void end(Consumer<ProcessHandle> signal) throws IOException, InterruptedException {
    form = contender;
    if (process.isEmpty()) {
      return;
    }
    Process broker = process.get();
    process = Optional.empty();
    List<ProcessHandle> all = processes(broker);
    all.forEach(signal);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    boolean ended = true;
    for (ProcessHandle each : all) {
      ended &= hasEnded(each, end);
    }
    if (!ended) {
      all.forEach(ProcessHandle::destroyForcibly);
      throw new IOException(
          "%s: the broker did not stop in %d s: %s"
              .formatted(folder, LIMIT_SECONDS, last("broker")));
    }
  }

  private static boolean hasEnded(ProcessHandle one, long end) throws InterruptedException {
    try {
      one.onExit().get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  /** With a prefix, the broker is its child. */
  private static List<ProcessHandle> processes(Process broker) {
    return Stream.concat(broker.descendants(), Stream.of(broker.toHandle())).toList();
  }

  private String last(String name) throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve(name + ".out"), StandardCharsets.UTF_8);
    return String.join(
        System.lineSeparator(),
        lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
  }
}
