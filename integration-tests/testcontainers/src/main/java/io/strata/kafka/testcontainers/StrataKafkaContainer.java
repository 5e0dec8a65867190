package io.strata.kafka.testcontainers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/**
 * A broker of the image {@code apache/kafka} with Strata and one pool, which can be stopped, killed
 * and started again in its container: its address stays, and so do its log directory and its pool.
 * So a test sees what a broker does whose pool is full, or is lost. Not thread-safe.
 *
 * <pre>{@code
 * try (StrataKafkaContainer kafka = new StrataKafkaContainer("apache/kafka:4.4.0").withPool("64MiB")) {
 *   kafka.start();
 *   kafka.fillPool();
 *   ... the code under test, on kafka.getBootstrapServers()
 * }
 * }</pre>
 */
public class StrataKafkaContainer extends KafkaContainer {

  static final String JAR = "/opt/kafka/libs/strata-kafka.jar";
  static final String POOL = "/var/lib/kafka/data/strata.pool";

  private static final String PROPERTIES = "/opt/kafka/config/server.properties";
  private static final String INTERNAL = "localhost:9093";
  private static final String STARTED = "Kafka Server started";
  private static final String RESOURCE = "strata-kafka.jar";
  private static final String FILLER = "strata-filler";
  private static final Duration LIMIT = Duration.ofMinutes(10);

  /**
   * Runs the broker as a child of the container's first process, so that the container, and with it
   * the port that it has on the host, outlives the broker.
   */
  private static final String SUPERVISOR =
      """
      while [ ! -f /tmp/testcontainers_start.sh ]; do sleep 0.1; done
      while true; do
        setsid /tmp/testcontainers_start.sh &
        broker=$!
        echo $broker >/tmp/strata-broker
        wait $broker
        code=$?
        while kill -0 -- -$broker 2>/dev/null; do sleep 0.1; done
        echo "the broker has ended with code $code"
        echo $code >/tmp/strata-ended
        while [ -f /tmp/strata-ended ]; do sleep 0.1; done
      done
      """;

  private String poolSize = "64MiB";
  private Optional<Path> jar = Optional.empty();

  /** A container of the image, {@code apache/kafka:4.4.0} for example. */
  public StrataKafkaContainer(String image) {
    this(DockerImageName.parse(image));
  }

  /** A container of the image, or of one that takes its place. */
  public StrataKafkaContainer(DockerImageName image) {
    super(image);
    setCommand("bash", "-c", SUPERVISOR);
    addEnv(
        "KAFKA_OPTS",
        "-Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider");
    withBroker("log.dirs", "/var/lib/kafka/data/logs");
    withBroker(
        "metric.reporters",
        "org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter");
    withBroker("strata.pools", POOL);
    // It is there whatever the engine keeps its volumes on.
    withBroker("strata.pool.type", "mapped");
    withPool(poolSize);
  }

  // ---------------------------------------------------------------------------------------------
  // before the start
  // ---------------------------------------------------------------------------------------------

  /** The size of its pool, {@code 64MiB} unless another is given. */
  @CanIgnoreReturnValue
  public final StrataKafkaContainer withPool(String size) {
    poolSize = size;
    return withBroker("strata.pool.create", size);
  }

  /** A line of the broker's {@code server.properties}, of Kafka's or of Strata's. */
  @CanIgnoreReturnValue
  public final StrataKafkaContainer withBroker(String key, String value) {
    addEnv(variable(key), value);
    return this;
  }

  /** Another build of Strata than the one that this class came with. */
  @CanIgnoreReturnValue
  public final StrataKafkaContainer withStrataJar(Path file) {
    jar = Optional.of(file);
    return this;
  }

  /** The variable that the image makes the key of. */
  static String variable(String key) {
    return "KAFKA_"
        + key.replace("_", "__")
            .replace("-", "___")
            .replace(".", "_")
            .toUpperCase(java.util.Locale.ROOT);
  }

  @Override
  protected void configure() {
    super.configure();
    if (jar.isPresent()) {
      MountableFile file = MountableFile.forHostPath(jar.get().toAbsolutePath(), 0644);
      KafkaContainer unused = withCopyFileToContainer(file, JAR);
    } else {
      KafkaContainer unused = withCopyToContainer(Transferable.of(bundled(), 0644), JAR);
    }
  }

  private static byte[] bundled() {
    try (InputStream in = StrataKafkaContainer.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException(
            "found no %s beside %s, expected the packaged artefact: name a jar by withStrataJar"
                .formatted(RESOURCE, StrataKafkaContainer.class.getName()));
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // ---------------------------------------------------------------------------------------------
  // the broker in the container
  // ---------------------------------------------------------------------------------------------

  /** Stops the broker in order; the container goes on. */
  public void stopBroker() {
    end("TERM");
  }

  /** Kills the broker, {@code kill -9}; the container goes on. */
  public void killBroker() {
    end("KILL");
  }

  private void end(String signal) {
    shell("kill -%s -- -$(cat /tmp/strata-broker)".formatted(signal));
    await("the broker has not ended", this::isEnded);
  }

  /** Starts the broker that was stopped or killed, and waits for it. */
  public void startBroker() {
    long before = starts();
    shell("rm /tmp/strata-ended");
    await("the broker has not started", () -> starts() > before || isEnded());
    if (starts() == before) {
      throw new IllegalStateException("the broker has refused to start; its log:\n" + getLogs());
    }
  }

  /** Starts the broker, which refuses, and returns what it logged. */
  public String startRefused() {
    long before = starts();
    int logged = getLogs().length();
    shell("rm /tmp/strata-ended");
    await("the broker has neither started nor ended", () -> starts() > before || isEnded());
    if (starts() > before) {
      throw new IllegalStateException("the broker has started, and was expected to refuse");
    }
    return getLogs().substring(logged);
  }

  private boolean isEnded() {
    return run("test", "-f", "/tmp/strata-ended").getExitCode() == 0;
  }

  private long starts() {
    return getLogs().lines().filter(line -> line.contains(STARTED)).count();
  }

  // ---------------------------------------------------------------------------------------------
  // the states
  // ---------------------------------------------------------------------------------------------

  /**
   * Fills the pool with records that stay there: what is appended from now on goes to the log
   * directory. The records are in a topic of this class's own.
   */
  public void fillPool() {
    spill(FILLER);
  }

  /**
   * Appends more to one topic's partitions than the pool can take, while nothing is copied down:
   * the end of a segment that begins in the pool is then in its log file.
   */
  public void spill(String topic) {
    threshold("-1");
    long bytes = bytes(poolSize) + bytes(poolSize) / 4;
    shell(
        ("head -c %d /dev/zero | tr '\\0' x | fold -w 10000 | KAFKA_OPTS="
                + " /opt/kafka/bin/kafka-console-producer.sh --bootstrap-server %s --topic %s")
            .formatted(bytes, INTERNAL, topic));
  }

  /** Has everything in the pool copied down, so that it has space again. */
  public void relievePool() {
    threshold("0");
  }

  private void threshold(String value) {
    shell(
        ("KAFKA_OPTS= /opt/kafka/bin/kafka-configs.sh --bootstrap-server %s --alter --entity-type"
                + " brokers --entity-name 1 --add-config strata.migration.threshold=%s")
            .formatted(INTERNAL, value));
  }

  /**
   * Kills the broker and removes its pool, as a device does that fails. The next start refuses,
   * until {@link #acceptLoss()}.
   */
  public void losePool() {
    killBroker();
    shell("rm " + POOL);
  }

  /**
   * Accepts that the records are lost that only the pool had, creates a new pool, and returns what
   * was lost.
   */
  public String acceptLoss() {
    String lost = strata("accept-loss", "--yes", "--config", PROPERTIES);
    String unused = strata("pool", "create", "--config", PROPERTIES, "--size", poolSize, POOL);
    return lost;
  }

  /** Shows which bytes of a topic's segments are where, as JSON. */
  public String segments(String topic) {
    return strata("segments", "--json", "--config", PROPERTIES, "--topic", topic);
  }

  /** Runs Strata's command line in the container, and returns what it printed. */
  public String strata(String... arguments) {
    List<String> command = new ArrayList<>(List.of("java", "-Xmx128m", "-jar", JAR));
    command.addAll(List.of(arguments));
    return output(command.toArray(String[]::new));
  }

  // ---------------------------------------------------------------------------------------------

  static long bytes(String size) {
    java.util.regex.Matcher parts = java.util.regex.Pattern.compile("(\\d+)(Mi|Gi)B").matcher(size);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "the size of a pool: found %s, expected one such as 64MiB or 1GiB".formatted(size));
    }
    return Long.parseLong(parts.group(1)) << (parts.group(2).equals("Mi") ? 20 : 30);
  }

  private void shell(String command) {
    String unused = output("bash", "-c", command);
  }

  private String output(String... command) {
    ExecResult result = run(command);
    if (result.getExitCode() != 0) {
      throw new IllegalStateException(
          "%s ended with %d:%n%s%n%s"
              .formatted(
                  String.join(" ", command),
                  result.getExitCode(),
                  result.getStdout(),
                  result.getStderr()));
    }
    return result.getStdout();
  }

  private ExecResult run(String... command) {
    try {
      return execInContainer(command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a command ran in the container", e);
    }
  }

  private void await(String problem, BooleanSupplier condition) {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException(
            "%s within %s; its log:%n%s".formatted(problem, LIMIT, getLogs()));
      }
      try {
        TimeUnit.MILLISECONDS.sleep(200);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(problem, e);
      }
    }
  }
}
