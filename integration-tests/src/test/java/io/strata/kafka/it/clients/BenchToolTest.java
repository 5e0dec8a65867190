package io.strata.kafka.it.clients;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.FreePorts;
import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code strata-bench}, as a user runs it, against a stock broker with a pool. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BenchToolTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** Two groups at once, and then one that reads all; on two hosts. */
  private static final String SCENARIO =
      """
      name: two-hosts
      hosts: [local, process]
      interval: 200ms
      topics:
        own: {per-client: true}
        shared: {partitions: 3}
      phases:
        load:
          producers:
            steady: {topic: shared, clients: 2, rate: 2000/s, until: {records: 1000}, keys: 10}
            sized: {topic: own, clients: 3, record-size: 1000, until: {bytes: 600kB}, compression: lz4}
          consumers:
            tail: {topic: shared, clients: 2, from: end}
        drain:
          consumers:
            everything: {topic: own, clients: 3}
            each: {topic: shared, share: false, until: {records: 1500}}
        size:
          producers:
            grow: {topic: shared, until: {log-size: 2MB}}
      """;

  private static final Path CONTENDERS =
      Path.of("..", "examples", "benchmarks", "contenders").toAbsolutePath();

  private static final Path STOCK = CONTENDERS.resolve("stock.yaml");
  private static final Path STRATA = CONTENDERS.resolve("strata.yaml");

  @RegisterExtension static final Workspace WORK = new Workspace();

  private StockBroker broker;

  @BeforeAll
  void start() throws Exception {
    Path pool = WORK.pools().resolve("hot.pool");
    Pools.create(pool, "64MiB");
    broker = WORK.start(StockBroker.in(WORK.folder("broker")).strata(pool).jmx());
  }

  private JavaProcess.Finished bench(String name, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar"));
    command.add(System.getProperty("strata.it.bench.jar"));
    command.addAll(List.of(arguments));
    return JavaProcess.run(name, command, WORK.folder("tool"), LIMIT);
  }

  /** Two contenders in turns, whatever else the machine does: this is no measurement. */
  private JavaProcess.Finished paired(
      Path folder, Path scenario, int rounds, Path first, Path second) throws Exception {
    return bench(
        folder.getFileName().toString(),
        "paired",
        scenario.toString(),
        "--contender=" + first,
        "--contender=" + second,
        "--kafka=" + Distribution.kafkaLibs(),
        "--define=strata=" + Distribution.strataJar(),
        "--define=pool=" + folder.resolve("bench.pool"),
        "--define=size=64MiB",
        "--work=" + folder.resolve("work"),
        "--rounds=" + rounds,
        "--max-load=1000",
        "--max-other=1000",
        "--output=" + folder.resolve("results"));
  }

  private JsonNode result(Path output) throws IOException {
    try (Stream<Path> files = Files.walk(output)) {
      Path json = files.filter(f -> f.endsWith("result.json")).findFirst().orElseThrow();
      return new ObjectMapper().readTree(json.toFile());
    }
  }

  private static JsonNode group(JsonNode result, int phase, int group) {
    return result.path("phases").path(phase).path("groups").path(group);
  }

  @Test
  void everyRecordIsCountedOnceOnEachHost() throws Exception {
    Path file = Files.writeString(WORK.folder("files").resolve("two-hosts.yaml"), SCENARIO);
    Path output = WORK.folder("results");

    JavaProcess.Finished finished =
        bench(
            "run",
            "run",
            file.toString(),
            "--bootstrap",
            broker.bootstrap(),
            "--brokers",
            broker.jmxUrl().replaceAll(".*rmi://([^/]+)/jmxrmi", "$1"),
            "--label",
            "strata",
            "-o",
            output.toString());

    assertThat(finished.exitCode()).as(finished.output()).isZero();
    JsonNode result = result(output);
    assertThat(result.path("failures")).isEmpty();
    assertThat(result.path("hosts")).hasSize(2);
    assertThat(result.path("label").asText()).isEqualTo("strata");
    assertThat(result.path("cluster").path("broker 1 kafka").asText())
        .isEqualTo(KafkaVersion.ofThisRun().toString());
    assertThat(group(result, 0, 0).path("records").asLong()).isEqualTo(1000);
    assertThat(group(result, 0, 1).path("records").asLong()).isEqualTo(600);
    assertThat(group(result, 0, 1).path("clients").asInt()).isEqualTo(6);
    // Until the end of the log, when the producers had ended.
    assertThat(group(result, 0, 2).path("records").asLong()).isEqualTo(1000);
    assertThat(group(result, 1, 0).path("records").asLong()).isEqualTo(600);
    // A limit is the whole group's: one client on each of two hosts, and each reads all partitions.
    assertThat(group(result, 1, 1).path("records").asLong()).isEqualTo(1500);
    assertThat(group(result, 2, 0).path("bytes").asLong()).isGreaterThan(900_000);
    for (JsonNode phase : result.path("phases")) {
      for (JsonNode group : phase.path("groups")) {
        JsonNode latency = group.path("latency");
        assertThat(latency.path("p50").asDouble()).isPositive();
        assertThat(latency.path("p9999").asDouble())
            .isBetween(latency.path("p99").asDouble(), latency.path("max").asDouble() * 1.001);
      }
    }
    JsonNode load = result.path("phases").path(0);
    assertThat(load.path("brokers").path("processor-seconds-per-gb-in").asDouble()).isPositive();
    assertThat(load.path("tiers").path(0).path("bytes").has("hot, dirty")).isTrue();
    try (Admin admin = broker.admin()) {
      assertThat(admin.listTopics().names().get()).isEmpty();
    }
  }

  @Test
  void whatFailsIsShown() throws Exception {
    Path file =
        Files.writeString(
            WORK.folder("files").resolve("too-large.yaml"),
            """
            name: too-large
            topics: {small: {config: {max.message.bytes: 500}}}
            phases: {load: {producers: {main: {topic: small, until: {records: 3}}}}}
            """);
    Path output = WORK.folder("failed");

    JavaProcess.Finished finished =
        bench(
            "fail",
            "run",
            file.toString(),
            "--bootstrap",
            broker.bootstrap(),
            "-o",
            output.toString());

    assertThat(finished.exitCode()).isEqualTo(1);
    assertThat(finished.output())
        .contains("FAILED: load: local: main: ", "RecordTooLargeException");
    assertThat(result(output).path("failures").toString()).contains("RecordTooLargeException");
  }

  /** A stock broker and one with a pool, in turns, each started and stopped by the tool. */
  @Test
  @Tag("long")
  void stockAndStrataTakeTurns() throws Exception {
    Path file =
        Files.writeString(
            WORK.folder("files").resolve("turns.yaml"),
            """
            name: turns
            topics: {events: {partitions: 2}}
            phases:
              load: {producers: {main: {topic: events, until: {records: 500}}}}
              read: {consumers: {main: {topic: events}}}
            """);
    Path folder = WORK.folder("turns");

    JavaProcess.Finished finished = paired(folder, file, 2, STOCK, STRATA);

    assertThat(finished.exitCode()).as(finished.output()).isZero();
    assertThat(finished.output())
        .containsSubsequence(
            "round 1: stock", "round 1: strata", "round 2: strata", "round 2: stock")
        .contains("load brokers", "ratio");
    Path output = folder.resolve("results");
    assertThat(Files.readString(output.resolve("report.html")))
        .contains("\"labels\":[\"stock\",\"strata\"]");
    JsonNode strata =
        new ObjectMapper().readTree(output.resolve("02-strata-02/result.json").toFile());
    assertThat(group(strata, 1, 0).path("records").asLong()).isEqualTo(500);
    assertThat(strata.path("phases").path(0).path("tiers").path(0).path("bytes").has("hot, dirty"))
        .isTrue();
    assertThat(folder.resolve("work/stock")).doesNotExist();
    assertThat(folder.resolve("bench.pool")).doesNotExist();
  }

  /**
   * All begin as a stock broker; at the first restart one of them becomes one with a pool. What was
   * written before is read after a restart and a kill.
   */
  @Test
  @Tag("long")
  void brokersAreRestartedAndKilledBetweenPhases() throws Exception {
    Path file =
        Files.writeString(
            WORK.folder("files").resolve("life.yaml"),
            """
            name: life
            begin-as: %s
            topics: {events: {partitions: 20}}
            phases:
              fill: {producers: {main: {topic: events, keys: 1k, until: {records: 500}}}}
              restart: {broker: restart}
              more: {producers: {main: {topic: events, keys: 1k, until: {records: 500}}}}
              kill: {broker: kill, consumers: {main: {topic: events}}}
            """
                .formatted(STOCK));
    Path folder = WORK.folder("life");
    Path output = folder.resolve("results");

    JavaProcess.Finished finished = paired(folder, file, 1, STOCK, STRATA);

    assertThat(finished.exitCode()).as(finished.output()).isZero();
    assertThat(finished.output())
        .containsPattern("restart brokers +start-seconds +stock .*strata .*ratio")
        .containsPattern("restart brokers +stop-seconds +stock .*strata .*ratio")
        .containsPattern("kill brokers +start-seconds +stock .*strata .*ratio")
        .doesNotContainPattern("kill brokers +stop-seconds");
    for (String turn : List.of("01-stock-01", "02-strata-01")) {
      JsonNode result = new ObjectMapper().readTree(output.resolve(turn + "/result.json").toFile());
      assertThat(group(result, 3, 0).path("records").asLong()).as(turn).isEqualTo(1000);
      JsonNode phases = result.path("phases");
      assertThat(phases.at("/1/groups")).isEmpty();
      assertThat(phases.at("/1/brokers/start-seconds").asDouble()).isPositive();
      assertThat(phases.at("/1/brokers/stop-seconds").asDouble()).isPositive();
      // Before the restart neither has tiers.
      assertThat(phases.at("/0/tiers")).isEmpty();
      assertThat(phases.at("/2/tiers/0/bytes").has("hot, dirty"))
          .isEqualTo(turn.equals("02-strata-01"));
    }
    assertThat(Files.readAllLines(output.resolve("summary.csv")))
        .anyMatch(line -> line.startsWith("strata,kill,,brokers,"));
    assertThat(folder.resolve("bench.pool")).doesNotExist();
  }

  /** A broker that does not come back is a failure that names why, and at once. */
  @Test
  @Tag("long")
  void aBrokerThatDoesNotComeBackIsShown() throws Exception {
    Path files = WORK.folder("files");
    Path good = Files.writeString(files.resolve("good.yaml"), "label: good\n");
    Path bad =
        Files.writeString(
            files.resolve("bad.yaml"), "label: bad\nproperties: {log.segment.bytes: nothing}\n");
    Path scenario =
        Files.writeString(
            files.resolve("back.yaml"),
            """
            name: back
            begin-as: good.yaml
            topics: {events: {}}
            phases: {kill: {broker: kill}}
            """);

    JavaProcess.Finished finished = paired(WORK.folder("back"), scenario, 1, bad, good);

    assertThat(finished.exitCode()).isEqualTo(1);
    assertThat(finished.output())
        .containsPattern("FAILED: bad, [^:]+:[^:]+:[^:]+: kill: .*the broker ended with code 1")
        .contains("Invalid value nothing for configuration log.segment.bytes");
  }

  /** A broker that does not start is a failure that names why. */
  @Test
  @Tag("long")
  void aContenderThatDoesNotStartIsShown() throws Exception {
    Path files = WORK.folder("files");
    Path scenario =
        Files.writeString(
            files.resolve("short.yaml"),
            """
            name: short
            topics: {events: {}}
            phases: {load: {producers: {main: {topic: events, until: {records: 5}}}}}
            """);
    Path good = Files.writeString(files.resolve("good.yaml"), "label: good\n");
    Path bad =
        Files.writeString(
            files.resolve("bad.yaml"),
            "label: bad\nproperties: {log.segment.bytes: nothing}\nafter: ['exit 3']\n");
    Path folder = WORK.folder("bad");

    JavaProcess.Finished finished = paired(folder, scenario, 1, bad, good);

    assertThat(finished.exitCode()).isEqualTo(1);
    assertThat(finished.output())
        .containsPattern("FAILED: bad, .*formatting failed: ")
        .containsPattern("FAILED: bad, .*cleaning up: after: 'exit 3' ended with 3");
    assertThat(folder.resolve("results/01-bad-01/result.json")).isRegularFile();
  }

  /** The jar is copied to the host, runs there, and is gone at the end. */
  @Test
  @Tag("long")
  void clientsRunOnAHostBySsh() throws Exception {
    assumeThat(Path.of("/usr/sbin/sshd")).as("an ssh server").isExecutable();
    Path keys = WORK.folder("keys");
    int port = FreePorts.find(1).get(0);
    for (String key : List.of("host", "user")) {
      run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys.resolve(key).toString());
    }
    Path configuration =
        Files.writeString(
            keys.resolve("sshd_config"),
            """
            Port %d
            ListenAddress 127.0.0.1
            HostKey %s
            AuthorizedKeysFile %s
            PasswordAuthentication no
            StrictModes no
            UsePAM no
            PidFile none
            """
                .formatted(port, keys.resolve("host"), keys.resolve("user.pub")));
    if (System.getProperty("user.name").equals("root")) {
      Path unused = Files.createDirectories(Path.of("/run/sshd"));
    }
    Process server =
        new ProcessBuilder("/usr/sbin/sshd", "-D", "-e", "-f", configuration.toString())
            .redirectErrorStream(true)
            .redirectOutput(keys.resolve("sshd.log").toFile())
            .start();
    try {
      await()
          .atMost(LIMIT)
          .until(() -> Files.readString(keys.resolve("sshd.log")).contains("Server listening"));
      Path file = Files.writeString(WORK.folder("files").resolve("ssh.yaml"), SCENARIO);
      Path output = WORK.folder("ssh");
      String host = System.getProperty("user.name") + "@127.0.0.1";

      JavaProcess.Finished finished =
          bench(
              "ssh",
              "run",
              file.toString(),
              "--bootstrap=" + broker.bootstrap(),
              "--hosts=local," + host,
              "--set=remote-java=" + Path.of(System.getProperty("java.home"), "bin", "java"),
              "--set=ssh=ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=%s -i %s -p %d"
                  .formatted(keys.resolve("known"), keys.resolve("user"), port),
              "--output=" + output);

      assertThat(finished.exitCode()).as(finished.output()).isZero();
      JsonNode result = result(output);
      assertThat(result.path("hosts")).hasSize(2);
      assertThat(group(result, 0, 0).path("records").asLong()).isEqualTo(1000);
      assertThat(group(result, 1, 0).path("records").asLong()).isEqualTo(600);
    } finally {
      server.descendants().forEach(ProcessHandle::destroy);
      server.destroy();
      server.waitFor();
    }
  }

  private static void run(String... command) throws Exception {
    assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
  }
}
