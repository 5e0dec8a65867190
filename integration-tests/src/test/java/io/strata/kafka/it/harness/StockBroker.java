package io.strata.kafka.it.harness;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;

/**
 * One stock broker: Kafka's own jars from Maven Central, KRaft combined mode, in its own JVM. With
 * Strata it has what a user adds by hand: our jar on the class path, the JVM flag, and lines in
 * {@code server.properties}. Ports are free ones, found at build time and kept over restarts. Not
 * thread-safe.
 */
public final class StockBroker implements AutoCloseable {

  /** What {@code metric.reporters} has on a broker with Strata. */
  public static final String REPORTERS =
      "org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter";

  private static final Pattern STARTED = Pattern.compile("Kafka Server started");
  private static final Duration START_LIMIT = Duration.ofMinutes(5);
  private static final Duration LOG_LIMIT = Duration.ofMinutes(5);
  private static final Duration STOP_LIMIT = Duration.ofMinutes(5);
  private static final Duration TOOL_LIMIT = Duration.ofMinutes(5);

  /** For JVMs that start often and run briefly. */
  private static final List<String> BRIEF =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData");

  private final Path folder;
  private final Map<String, String> properties;
  private final List<String> jvmOptions;
  private List<Path> libraries;
  private final Map<String, String> systemProperties = new TreeMap<>();
  private final List<String> ownJvmOptions = new ArrayList<>();
  private final Map<String, String> environment = new TreeMap<>();
  private String kafkaClassPath;
  private final String clusterId;
  private final int port;
  private final Optional<Integer> jmxPort;
  private Installed installed;
  private Optional<JavaProcess> process = Optional.empty();
  private int starts;

  private StockBroker(Builder builder) {
    folder = builder.folder;
    properties = new TreeMap<>(builder.properties);
    jvmOptions = List.copyOf(builder.jvmOptions);
    libraries = List.copyOf(builder.libraries);
    kafkaClassPath = builder.kafka.classPath();
    clusterId = builder.clusterId;
    port = builder.port;
    jmxPort = builder.jmxPort;
    installed = builder.installed;
  }

  /**
   * A broker that keeps its configuration, its log directories ({@code data-0}, {@code data-1}, …)
   * and its logs in the folder.
   */
  public static Builder in(Path folder) {
    return new Builder(folder);
  }

  // ---------------------------------------------------------------------------------------------
  // life
  // ---------------------------------------------------------------------------------------------

  /** Starts it and waits until Kafka says that it has started. */
  public StockBroker start() throws IOException, InterruptedException {
    launch();
    return awaitStarted();
  }

  /** Starts it and waits for it to end by itself, as a broker does that refuses. */
  public Refusal startRefused() throws IOException, InterruptedException {
    launch();
    JavaProcess running = process.orElseThrow();
    int exitCode;
    try {
      exitCode = running.awaitExit(START_LIMIT);
    } finally {
      running.close();
    }
    return new Refusal(exitCode, output());
  }

  /** Starts it and does not wait: it may end before it has started. */
  public StockBroker startWithoutWaiting() throws IOException {
    launch();
    return this;
  }

  /** How a broker ended that did not start. */
  public record Refusal(int exitCode, String output) {}

  /** SIGTERM; a clean stop. */
  public int stop() throws IOException, InterruptedException {
    int exitCode = process.orElseThrow().stop(STOP_LIMIT);
    process = Optional.empty();
    return exitCode;
  }

  /** A clean stop, and a start. */
  public StockBroker restart() throws IOException, InterruptedException {
    int unused = stop();
    return start();
  }

  /** SIGKILL, and a start. */
  public StockBroker killAndStart() throws IOException, InterruptedException {
    kill();
    return start();
  }

  /** SIGKILL. */
  public void kill() throws InterruptedException {
    process.orElseThrow().kill();
    process = Optional.empty();
  }

  /** SIGTERM, and SIGKILL after so long: in the middle of an orderly stop, or behind it. */
  public void killWhileItStops(Duration after) throws IOException, InterruptedException {
    process.orElseThrow().signal("TERM");
    TimeUnit.MILLISECONDS.sleep(after.toMillis());
    kill();
  }

  /** SIGSTOP: nothing of it runs until {@link #resume}; it may be killed meanwhile. */
  public void pause() throws IOException, InterruptedException {
    process.orElseThrow().signal("STOP");
  }

  /** SIGCONT. */
  public void resume() throws IOException, InterruptedException {
    process.orElseThrow().signal("CONT");
  }

  /** Waits until Kafka says that it has started. */
  public StockBroker awaitStarted() throws IOException, InterruptedException {
    process.orElseThrow().awaitOutput(STARTED, START_LIMIT);
    return this;
  }

  /** Waits for a broker that ends by itself. */
  public int awaitExit(Duration limit) throws IOException, InterruptedException {
    return process.orElseThrow().awaitExit(limit);
  }

  public boolean isRunning() {
    return process.isPresent() && process.get().isAlive();
  }

  @Override
  public void close() {
    process.ifPresent(JavaProcess::close);
    process = Optional.empty();
  }

  private void launch() throws IOException {
    if (isRunning()) {
      throw new IllegalStateException("The broker in " + folder + " already runs");
    }
    writeProperties();
    starts++;
    List<String> command = new ArrayList<>(List.of("-Xms256m", "-Xmx512m"));
    command.addAll(BRIEF);
    command.add("-Dstrata.it.log=" + serverLog());
    command.add("-Dlog4j2.configurationFile=" + log4jConfiguration());
    jmxPort.ifPresent(
        jmx ->
            command.addAll(
                List.of(
                    "-Dcom.sun.management.jmxremote.port=" + jmx,
                    "-Dcom.sun.management.jmxremote.rmi.port=" + jmx,
                    "-Dcom.sun.management.jmxremote.host=127.0.0.1",
                    "-Djava.rmi.server.hostname=127.0.0.1",
                    "-Dcom.sun.management.jmxremote.authenticate=false",
                    "-Dcom.sun.management.jmxremote.ssl=false")));
    command.addAll(jvmOptions);
    systemProperties.forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.addAll(ownJvmOptions);
    command.addAll(installed.jvmOptions(kafkaClassPath, libraries));
    command.add("kafka.Kafka");
    command.add(propertiesFile().toString());
    process =
        Optional.of(
            JavaProcess.start("broker", command, environment, folder, consoleLog(), serverLog()));
  }

  // ---------------------------------------------------------------------------------------------
  // tools
  // ---------------------------------------------------------------------------------------------

  /** Runs one of Kafka's tools as a user would who has the same options in KAFKA_OPTS. */
  public JavaProcess.Finished tool(String mainClass, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("-Xmx256m"));
    command.addAll(BRIEF);
    command.add("-Dstrata.it.log=" + folder.resolve("tools.log"));
    command.add("-Dlog4j2.configurationFile=" + log4jConfiguration());
    command.addAll(jvmOptions);
    command.addAll(installed.jvmOptions(kafkaClassPath, libraries));
    command.add(mainClass);
    command.addAll(List.of(arguments));
    String name = mainClass.substring(mainClass.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    return JavaProcess.run(name, command, folder.resolve("tools"), TOOL_LIMIT);
  }

  /** Runs a command of ours with the broker's file, as an operator does beside it. */
  public JavaProcess.Finished strata(String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of("--config", propertiesFile().toString()));
    return Pools.strata(all.toArray(String[]::new));
  }

  /** Formats the log directories, with the flag where the broker has it. */
  public StockBroker format(String... options) throws IOException, InterruptedException {
    writeProperties();
    List<String> arguments = new ArrayList<>(List.of("format", "--cluster-id", clusterId));
    arguments.addAll(List.of("--config", propertiesFile().toString()));
    arguments.addAll(List.of(options));
    tool("kafka.tools.StorageTool", arguments.toArray(String[]::new)).orFail();
    return this;
  }

  // ---------------------------------------------------------------------------------------------
  // configuration; takes effect at the next start
  // ---------------------------------------------------------------------------------------------

  /** Sets a property. */
  public StockBroker set(String key, String value) {
    properties.put(key, value);
    return this;
  }

  /** Removes a property. */
  public StockBroker unset(String key) {
    properties.remove(key);
    return this;
  }

  /** All of server.properties. */
  public Map<String, String> properties() {
    return Map.copyOf(properties);
  }

  /** Replaces all of server.properties. */
  public StockBroker setAll(Map<String, String> all) {
    properties.clear();
    properties.putAll(all);
    return this;
  }

  /** What the property is set to. */
  public String property(String key) {
    return Objects.requireNonNull(properties.get(key), key);
  }

  /** Sets a system property of the broker's JVM, not of its tools. */
  public StockBroker systemProperty(String key, String value) {
    systemProperties.put(key, value);
    return this;
  }

  /** Removes a system property. */
  public StockBroker withoutSystemProperty(String key) {
    systemProperties.remove(key);
    return this;
  }

  /** Options of the broker's JVM, not of its tools, in place of those that were set so before. */
  public StockBroker ownJvmOptions(String... options) {
    ownJvmOptions.clear();
    ownJvmOptions.addAll(List.of(options));
    return this;
  }

  /** Additions to the environment of the broker's process, in place of earlier ones. */
  public StockBroker environment(Map<String, String> additions) {
    environment.clear();
    environment.putAll(additions);
    return this;
  }

  /** What the JVM of the next start has of ours. */
  public StockBroker installed(Installed what) {
    installed = what;
    return this;
  }

  /** Has another build's jar in place of ours from the next start on, and the flag. */
  public StockBroker strataJar(Path jar) {
    libraries = List.of(jar);
    return installed(Installed.FLAG);
  }

  /** Has our jar again, in place of another build's. */
  public StockBroker strataJar() {
    libraries = List.of();
    return installed(Installed.JAR_AND_FLAG);
  }

  /** Runs on the classes of another release of Kafka from the next start on. */
  public StockBroker kafka(KafkaVersion version) {
    kafkaClassPath = version.classPath();
    return this;
  }

  /** Without the jar, the flag and every line of ours in server.properties: a stock broker. */
  public StockBroker withoutStrata() {
    properties.keySet().removeIf(key -> key.startsWith("strata."));
    properties.remove("metric.reporters");
    return installed(Installed.NOTHING);
  }

  /** Writes server.properties, as each start does; for a tool that is run before. */
  public void writeProperties() throws IOException {
    Files.createDirectories(folder);
    String text =
        properties.entrySet().stream()
            .map(e -> e.getKey() + "=" + e.getValue())
            .collect(Collectors.joining("\n", "", "\n"));
    Files.writeString(propertiesFile(), text, UTF_8);
  }

  // ---------------------------------------------------------------------------------------------
  // what it has
  // ---------------------------------------------------------------------------------------------

  /** The bootstrap address of the plain-text listener. */
  public String bootstrap() {
    return "127.0.0.1:" + port;
  }

  /** The address of its MBean server; the builder's {@code jmx()} opens it. */
  public String jmxUrl() {
    return "service:jmx:rmi:///jndi/rmi://127.0.0.1:" + jmxPort.orElseThrow() + "/jmxrmi";
  }

  /** The names of its tiers, fastest first. */
  public List<String> tiers() {
    return List.of(properties.getOrDefault("strata.tiers", "hot").split(","));
  }

  /** The cluster that it belongs to. */
  public String clusterId() {
    return clusterId;
  }

  /** The process's number while it runs. */
  public long pid() {
    return process.orElseThrow().pid();
  }

  /** An admin client; the caller closes it. */
  public Admin admin() {
    return Admin.create(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrap()));
  }

  public Path propertiesFile() {
    return folder.resolve("server.properties");
  }

  /** The log directories, in their order. */
  public List<Path> logDirectories() {
    return Pattern.compile(",").splitAsStream(property("log.dirs")).map(Path::of).toList();
  }

  public Path logDirectory() {
    return logDirectories().get(0);
  }

  /** What the broker has logged since its last start, and then what is on its console. */
  public String output() throws IOException {
    return textOf(serverLog()) + console();
  }

  /** Waits for a line in what it writes, from its last start on. */
  public String awaitOutput(String pattern, Duration limit)
      throws IOException, InterruptedException {
    return process.orElseThrow().awaitOutput(Pattern.compile(pattern), limit);
  }

  /** Waits for a line with all of the texts in what it writes, from its last start on. */
  public void awaitLogged(String... texts) throws IOException, InterruptedException {
    List<String> all = List.of(texts);
    long end = System.nanoTime() + LOG_LIMIT.toNanos();
    while (output().lines().noneMatch(line -> all.stream().allMatch(line::contains))) {
      if (System.nanoTime() > end) {
        String problems =
            output()
                .lines()
                .filter(line -> !line.contains(" INFO ") && line.matches("^[^\\s].*"))
                .map(line -> line.substring(0, Math.min(500, line.length())))
                .collect(Collectors.joining("\n"));
        throw new AssertionError(
            folder
                + ": no line with "
                + all
                + " in its log; problems that are there:\n"
                + JavaProcess.tail(problems));
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  /** What went past the log to standard output and error since the last start. */
  public String console() throws IOException {
    return textOf(consoleLog());
  }

  private static String textOf(Path file) throws IOException {
    return Files.exists(file) ? Files.readString(file, UTF_8) : "";
  }

  private Path serverLog() {
    return folder.resolve("server-" + starts + ".log");
  }

  private Path consoleLog() {
    return folder.resolve("console-" + starts + ".log");
  }

  private static Path log4jConfiguration() {
    URL url =
        Objects.requireNonNull(StockBroker.class.getClassLoader().getResource("broker-log4j2.xml"));
    return Path.of(url.getPath());
  }

  /** How to make one. */
  public static final class Builder {

    private final Path folder;
    private final Map<String, String> properties = new TreeMap<>();
    private final List<String> jvmOptions = new ArrayList<>();
    private final List<Path> libraries = new ArrayList<>();
    private final int port;
    private KafkaVersion kafka = KafkaVersion.ofThisRun();
    private String clusterId = Uuid.randomUuid().toString();
    private Optional<Integer> jmxPort = Optional.empty();
    private Installed installed = Installed.NOTHING;

    private Builder(Path folder) {
      this.folder = folder;
      List<Integer> ports = FreePorts.find(2);
      port = ports.get(0);
      int controllerPort = ports.get(1);
      set("process.roles", "broker,controller");
      set("node.id", "1");
      set("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
      set("controller.listener.names", "CONTROLLER");
      set("inter.broker.listener.name", "PLAINTEXT");
      set(
          "listeners",
          "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort);
      set("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL");
      // Internal topics as one node can hold them, with few partitions: each is a folder to load.
      set("offsets.topic.replication.factor", "1");
      set("offsets.topic.num.partitions", "4");
      set("transaction.state.log.replication.factor", "1");
      set("transaction.state.log.min.isr", "1");
      set("transaction.state.log.num.partitions", "4");
      set("share.coordinator.state.topic.replication.factor", "1");
      set("share.coordinator.state.topic.min.isr", "1");
      set("group.initial.rebalance.delay.ms", "0");
      // After kill -9 the controller takes the new broker for a second one until the session ends.
      set("broker.session.timeout.ms", "3000");
      set("broker.heartbeat.interval.ms", "500");
      logDirectories(1);
    }

    /** Sets a property of server.properties. */
    public Builder set(String key, String value) {
      properties.put(key, value);
      return this;
    }

    /** A broker without a controller of its own, in the cluster of the other one. */
    public Builder joining(StockBroker controller, int nodeId) {
      clusterId = controller.clusterId;
      set("process.roles", "broker");
      set("node.id", Integer.toString(nodeId));
      set("controller.quorum.voters", controller.property("controller.quorum.voters"));
      return set("listeners", "PLAINTEXT://127.0.0.1:" + port);
    }

    /** A controller that is no broker. */
    public Builder controllerAlone() {
      set("process.roles", "controller");
      String voters = Objects.requireNonNull(properties.get("controller.quorum.voters"));
      String address = voters.substring(voters.indexOf('@') + 1);
      return set("listeners", "CONTROLLER://" + address);
    }

    /** So many log directories; one unless said. */
    public Builder logDirectories(int count) {
      return set(
          "log.dirs",
          IntStream.range(0, count)
              .mapToObj(i -> folder.resolve("data-" + i).toString())
              .collect(Collectors.joining(",")));
    }

    /** Adds a TLS listener. */
    public Builder tls(TlsListener tls) {
      tls.brokerSettings().forEach(this::set);
      return set("listeners", properties.get("listeners") + ",TLS://127.0.0.1:" + tls.port());
    }

    /** Adds an option of the broker's JVM and of its tools' JVMs. */
    public Builder jvmOption(String option) {
      jvmOptions.add(option);
      return this;
    }

    /** Adds a jar to the class path, before those of the broker. */
    public Builder library(Path jar) {
      libraries.add(jar);
      return this;
    }

    /** Adds jars and folders to the class path, before those of the broker. */
    public Builder libraries(List<Path> all) {
      libraries.addAll(all);
      return this;
    }

    /** Of another version than the one of this run. */
    public Builder kafka(KafkaVersion version) {
      kafka = version;
      return this;
    }

    /** Puts our jar on the class path, without the flag, the pools and the reporter. */
    public Builder jarAlone() {
      installed = Installed.JAR;
      return this;
    }

    /** Opens the MBean server on a local port. */
    public Builder jmx() {
      jmxPort = Optional.of(FreePorts.find(1).get(0));
      return this;
    }

    /** With the jar, the flag and the pools. */
    public Builder strata(Path... pools) {
      installed = Installed.JAR_AND_FLAG;
      set("strata.pool.type", "mapped");
      set(
          "strata.pools",
          List.of(pools).stream().map(Path::toString).collect(Collectors.joining(",")));
      return set("metric.reporters", REPORTERS);
    }

    /** With a second tier, {@code ssd}, below the first. */
    public Builder secondTier(Path... pools) {
      set("strata.tiers", "hot,ssd");
      set("strata.tier.hot.pools", Objects.requireNonNull(properties.remove("strata.pools")));
      return set(
          "strata.tier.ssd.pools",
          List.of(pools).stream().map(Path::toString).collect(Collectors.joining(",")));
    }

    /** With the tests' {@link io.strata.kafka.tier.spec.TestHook} in front of the jar. */
    Builder hooked() {
      try {
        return library(Hooks.folder(folder.resolve("hook")));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** The broker, with its log directories formatted. */
    public StockBroker build() throws IOException, InterruptedException {
      return new StockBroker(this).format();
    }
  }
}
