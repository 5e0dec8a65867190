package io.strata.kafka.it.containers;

import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.Mount;
import com.github.dockerjava.api.model.MountType;
import io.strata.kafka.it.harness.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.testcontainers.containers.Container;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.utility.DockerImageName;

/**
 * A node of a cluster in a container, with an address of its own and with volumes that outlive the
 * container. Not thread-safe.
 */
final class ContainerNode implements AutoCloseable {

  /** On progress, not on speed: a loaded machine starts a broker in a minute. */
  private static final Duration START_LIMIT = Duration.ofMinutes(10);

  private static final Duration END_LIMIT = Duration.ofMinutes(10);
  private static final int STOP_SECONDS = 120;
  private static final String STARTED = "Kafka Server started";

  private final Network network;
  private final String name;
  private final String address;
  private final Map<String, String> volumes = new TreeMap<>();
  private final Map<String, String> environment = new TreeMap<>();
  private String image;
  private Optional<GenericContainer<?>> container = Optional.empty();
  private int startsExpected;
  private boolean readOnlyRoot;

  ContainerNode(Network network, String name, String address, String image) {
    this.network = network;
    this.name = name;
    this.address = address;
    this.image = image;
  }

  // ---------------------------------------------------------------------------------------------
  // what it is made of; takes effect with the next container
  // ---------------------------------------------------------------------------------------------

  ContainerNode image(String of) {
    image = of;
    return this;
  }

  ContainerNode set(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  ContainerNode setAll(Map<String, String> variables) {
    environment.putAll(variables);
    return this;
  }

  ContainerNode unset(String variable) {
    environment.remove(variable);
    return this;
  }

  Map<String, String> environment() {
    return Map.copyOf(environment);
  }

  /**
   * Nothing but its volumes can be written, and two tmpfs mounts, which start no programs: {@code
   * /tmp} and Kafka's logs. The folder to which the image writes server.properties gets a volume.
   */
  ContainerNode readOnlyRoot() {
    readOnlyRoot = true;
    return volume(name + "-config", "/opt/kafka/config");
  }

  /** Mounts a named volume. */
  ContainerNode volume(String volume, String path) {
    volumes.put(path, volume);
    return this;
  }

  String address() {
    return address;
  }

  String bootstrap() {
    return address + ":9092";
  }

  // ---------------------------------------------------------------------------------------------
  // life
  // ---------------------------------------------------------------------------------------------

  /** Starts the container that is stopped, or a new one; does not wait for Kafka. */
  ContainerNode launch() {
    startsExpected++;
    if (container.isPresent()) {
      ContainerEngine.client().startContainerCmd(id()).exec();
      return this;
    }
    startsExpected = 1;
    GenericContainer<?> created =
        new GenericContainer<>(
                DockerImageName.parse(image).asCompatibleSubstituteFor("apache/kafka"))
            .withNetwork(network)
            .withEnv(environment)
            .withCreateContainerCmdModifier(
                command ->
                    command
                        .withName(name)
                        .withIpv4Address(address)
                        .withHostConfig(rooted(mounted(command.getHostConfig()))))
            .waitingFor(new NoWait());
    container = Optional.of(created);
    created.start();
    return this;
  }

  private HostConfig mounted(HostConfig host) {
    List<Mount> mounts = new ArrayList<>();
    volumes.forEach(
        (path, volume) ->
            mounts.add(new Mount().withType(MountType.VOLUME).withSource(volume).withTarget(path)));
    return host.withMounts(mounts).withMemory(768L << 20);
  }

  private HostConfig rooted(HostConfig host) {
    return readOnlyRoot
        ? host.withReadonlyRootfs(true)
            .withTmpFs(Map.of("/tmp", "", "/opt/kafka/logs", "mode=1777"))
        : host;
  }

  /** What a test waits for is in the log, and another thing at each start. */
  private static final class NoWait extends AbstractWaitStrategy {
    @Override
    protected void waitUntilReady() {}
  }

  /** Waits until Kafka says that it has started. */
  ContainerNode awaitStarted() throws InterruptedException {
    long end = System.nanoTime() + START_LIMIT.toNanos();
    while (starts() < startsExpected) {
      if (!isRunning() || System.nanoTime() > end) {
        throw new AssertionError(name + " has not started; its log:\n" + JavaProcess.tail(logs()));
      }
      TimeUnit.MILLISECONDS.sleep(500);
    }
    return this;
  }

  private long starts() {
    return logs().lines().filter(line -> line.contains(STARTED)).count();
  }

  ContainerNode start() throws InterruptedException {
    return launch().awaitStarted();
  }

  /** How a node ended that did not start. */
  record Refusal(long exitCode, String output) {}

  /** Starts it and waits for it to end by itself. */
  Refusal startRefused() throws InterruptedException {
    long before = logs().length();
    launch();
    long end = System.nanoTime() + END_LIMIT.toNanos();
    while (isRunning()) {
      if (starts() >= startsExpected || System.nanoTime() > end) {
        throw new AssertionError(name + " has not refused to start:\n" + JavaProcess.tail(logs()));
      }
      TimeUnit.MILLISECONDS.sleep(500);
    }
    startsExpected--;
    Long code = inspect().getState().getExitCodeLong();
    return new Refusal(code == null ? -1 : code, logs().substring((int) before));
  }

  /** SIGTERM, a clean stop; the container stays. */
  ContainerNode stop() {
    ContainerEngine.client().stopContainerCmd(id()).withTimeout(STOP_SECONDS).exec();
    return this;
  }

  /** SIGKILL; the container stays. */
  ContainerNode kill() {
    ContainerEngine.client().killContainerCmd(id()).exec();
    awaitStopped();
    return this;
  }

  private void awaitStopped() {
    org.awaitility.Awaitility.await().atMost(END_LIMIT).until(() -> !isRunning());
  }

  /** Freezes all of its processes. */
  void pause() {
    ContainerEngine.client().pauseContainerCmd(id()).exec();
  }

  void unpause() {
    ContainerEngine.client().unpauseContainerCmd(id()).exec();
  }

  /** Takes it off its network. */
  void disconnect() {
    ContainerEngine.client()
        .disconnectFromNetworkCmd()
        .withNetworkId(network.getId())
        .withContainerId(id())
        .exec();
  }

  /** Puts it back, at its address. */
  void connect() {
    ContainerEngine.client()
        .connectToNetworkCmd()
        .withNetworkId(network.getId())
        .withContainerId(id())
        .withContainerNetwork(
            new com.github.dockerjava.api.model.ContainerNetwork()
                .withIpamConfig(
                    new com.github.dockerjava.api.model.ContainerNetwork.Ipam()
                        .withIpv4Address(address)))
        .exec();
  }

  /** Removes the container; its volumes stay. */
  ContainerNode remove() {
    container.ifPresent(GenericContainer::stop);
    container = Optional.empty();
    return this;
  }

  boolean isRunning() {
    return container.isPresent() && Boolean.TRUE.equals(inspect().getState().getRunning());
  }

  String logs() {
    return container.map(GenericContainer::getLogs).orElse("");
  }

  private InspectContainerResponse inspect() {
    return ContainerEngine.client().inspectContainerCmd(id()).exec();
  }

  private String id() {
    return container.orElseThrow().getContainerId();
  }

  // ---------------------------------------------------------------------------------------------
  // tools
  // ---------------------------------------------------------------------------------------------

  /** Runs a command in the running container. */
  Container.ExecResult exec(String... command) throws Exception {
    return container.orElseThrow().execInContainer(command);
  }

  /**
   * Runs Strata's command line on the volumes of the stopped node, with the server.properties that
   * its last start wrote, as {@code docker cp} and {@code docker run --volumes-from} do.
   */
  String strata(String... arguments) throws Exception {
    String file = "/tmp/server.properties";
    byte[] properties =
        container
            .orElseThrow()
            .copyFileFromContainer(
                "/opt/kafka/config/server.properties", java.io.InputStream::readAllBytes);
    List<String> command =
        new ArrayList<>(List.of("java", "-Xmx128m", "-jar", "/opt/kafka/libs/strata-kafka.jar"));
    for (String argument : arguments) {
      command.add(argument.replace("CONFIG", file));
    }
    return run(
        "appuser",
        Map.of(file, new String(properties, java.nio.charset.StandardCharsets.UTF_8)),
        command);
  }

  /** Runs a shell's command as root on the volumes. */
  String shell(String command) throws Exception {
    return run("root", Map.of(), List.of("bash", "-c", command));
  }

  private String run(String user, Map<String, String> files, List<String> command)
      throws Exception {
    String script =
        command.stream()
            .map(word -> "'" + word.replace("'", "'\\''") + "'")
            .collect(Collectors.joining(" "));
    try (GenericContainer<?> once =
        new GenericContainer<>(DockerImageName.parse(image))
            .withCommand("sleep", "600")
            .withCreateContainerCmdModifier(
                create -> create.withUser(user).withHostConfig(mounted(create.getHostConfig())))
            .waitingFor(new NoWait())) {
      files.forEach(
          (path, text) ->
              once.withCopyToContainer(
                  org.testcontainers.images.builder.Transferable.of(text, 0644), path));
      once.start();
      Container.ExecResult result = once.execInContainer("bash", "-c", script + " 2>&1");
      return result.getStdout() + "exit code " + result.getExitCode();
    }
  }

  @Override
  public void close() {
    remove();
    for (String volume : volumes.values()) {
      try {
        ContainerEngine.client().removeVolumeCmd(volume).exec();
      } catch (com.github.dockerjava.api.exception.DockerException e) {
        // Another node's too: the last one removes it.
      }
    }
  }
}
