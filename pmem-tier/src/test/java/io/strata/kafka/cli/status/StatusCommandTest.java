package io.strata.kafka.cli.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.cli.CommandLineRun;
import io.strata.kafka.cli.Main;
import io.strata.kafka.cli.StatusMain;
import io.strata.kafka.cli.terminal.ExitCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The status of a JVM of its own, found in each way that there is. */
public class StatusCommandTest {

  @TempDir Path directory;

  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void stopWhatWasStarted() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void showsTheTiersOfAProcess() throws IOException {
    Process broker = start(List.of(), List.of());

    String out = CommandLineRun.of("status", "--pid", broker.pid()).succeeds().out();

    assertThat(out)
        .startsWith("Broker 7 (process " + broker.pid() + "), Strata ")
        .contains("Health: 1 (degraded)")
        .contains("  - 13 segments wait for a retry after a failed move between tiers")
        .containsPattern("TIER +CAPACITY +USED +DIRTY +CLEAN +ACTIVE +RESERVE +OLDEST DIRTY +DOWN")
        .containsPattern(
            "hot +100 MiB +60 MiB +35 MiB +25 MiB +5 MiB +65 MiB +1 min 1 s +\\d.* 900 MiB"
                + " +1 min 30 s +3 MiB +26 +5 MiB")
        .containsPattern(SegmentView.LOG_DIRS + " +-.* 32 +31 B")
        .contains("Moves: 1 under way by 2 threads, 4 queued; down 10 MiB/s (p50 6 ms, p99 10 ms)")
        .contains("Failed moves: no-space 3; 13 segments wait")
        .contains("Settings: strata.migration.mode=eager strata.migration.threads=2");
  }

  @Test
  void jsonHasTheSameNumbers() throws IOException {
    Process broker = start(List.of(), List.of());

    JsonNode json = CommandLineRun.of("status", "--pid", broker.pid(), "--json").succeeds().json();

    assertThat(json.get("broker").asText()).isEqualTo("7");
    assertThat(json.get("pid").asLong()).isEqualTo(broker.pid());
    assertThat(json.get("health").asInt()).isEqualTo(1);
    assertThat(json.get("reasons")).hasSize(1);
    JsonNode tier = json.get("metrics").get("Tier,tier=hot");
    assertThat(tier.get("DirtyBytes").asLong()).isEqualTo(35L << 20);
    assertThat(tier.get("EvictedBytesTotal").asLong()).isEqualTo(21);
    assertThat(tier.get("DestagedBytesPerSecond").asDouble()).isBetween(1.0, 20e6);
    assertThat(json.get("metrics").has("Tier,tier=" + SegmentView.LOG_DIRS)).isTrue();
    assertThat(json.at("/metrics/Migration,cause=no-space/FailuresTotal").asLong()).isEqualTo(3);
    assertThat(json.get("settings").get("strata.migration.mode").asText()).isEqualTo("eager");
  }

  /** It keeps each sample for two seconds: a second later nothing seems to have moved. */
  @Test
  void aBrokerThatTakesLongToCountHasRatesToo() throws IOException {
    Process broker = start(List.of(), List.of("slow"));

    JsonNode json = CommandLineRun.of("status", "--pid", broker.pid(), "--json").succeeds().json();

    assertThat(json.at("/metrics/Tier,tier=hot/DestagedBytesPerSecond").asDouble())
        .isBetween(5e6, 20e6);
  }

  @Test
  void showsTheRemoteTierToo() throws IOException {
    Process broker = start(List.of(), List.of("both"));

    assertThat(CommandLineRun.of("status", "--pid", broker.pid()).succeeds().out())
        .startsWith("Broker 7 (process " + broker.pid() + "), Strata ")
        .contains("Health: 2 (a promise does not hold)")
        .containsPattern("hot +100 MiB")
        .containsPattern("REMOTE LEVEL +CAPACITY +USED +SEGMENTS")
        .containsPattern("ssd +1001 B +1002 B +1003 +1004 +1005 +1009 +1010 +0 B +0 B +285 B")
        .containsPattern("hdd +2 KiB +2 KiB +2003 +2004 +2005 +0 +0 +0 B +0 B +0 B")
        .contains("copy: 11 done (12 B), 13 running; p50 14 ms, p99 18 ms, longest 20 ms")
        .contains("Scrub: 81 rounds, 84 files corrupt, 85 missing, 86 orphans removed; the last")
        .contains("Failed operations: copy full 17, fetch not-found 27")
        .contains("Store: 93 segments without an undamaged copy, 92 reads served by another copy")
        .contains("served by another copy, 91 threads hang")
        .contains("Moves: 112 under way by 113 threads, 111 queued")
        .contains(
            "Settings: rsm.config.migration.rate.down=0 strata.migration.mode=eager"
                + " strata.migration.threads=2");
  }

  @Test
  void aBrokerWithTheRemoteTierAloneHasAStatus() throws IOException {
    Process broker = start(List.of(), List.of("remote"));

    assertThat(CommandLineRun.of("status", "--pid", broker.pid()).succeeds().out())
        .startsWith("Broker 8 (process " + broker.pid() + "), Strata ")
        .doesNotContain("TIER ")
        .contains("REMOTE LEVEL");
    JsonNode json = CommandLineRun.of("status", "--pid", broker.pid(), "--json").succeeds().json();
    assertThat(json.get("metrics").has("Migration")).isFalse();
    JsonNode metrics = json.get("metrics");
    assertThat(metrics.at("/RemoteLevel,level=hdd/UsedBytes").asLong()).isEqualTo(2002);
    assertThat(metrics.at("/RemoteOperation,operation=fetch/BytesTotal").asLong()).isEqualTo(22);
    assertThat(metrics.at("/RemoteOperation,cause=full,operation=copy/FailuresTotal").asLong())
        .isEqualTo(17);
    assertThat(json.get("settings").get("rsm.config.migration.rate.down").asText()).isEqualTo("0");
  }

  @Test
  void findsTheProcessByThePoolsLock() throws IOException {
    Path pool = Files.createFile(directory.resolve("hot.pool"));
    Process broker = start(List.of(), List.of("local", pool.toString()));

    assertThat(CommandLineRun.of("status", "--config", config(pool)).succeeds().out())
        .startsWith("Broker 7 (process " + broker.pid() + ")")
        .contains("hot ");
  }

  /** What has the files of a stopped broker is no broker. */
  @Test
  void aCommandAtWorkIsNoBroker() throws IOException {
    Path pool = Files.createFile(directory.resolve("hot.pool"));
    Process drain =
        start(List.of(), List.of("local", pool.toString(), Main.class.getName(), "drain"));

    assertThat(CommandLineRun.of("status", "--config", config(pool)).fails(ExitCode.FAILED).err())
        .contains("found no running broker, and process %d, 'strata drain'".formatted(drain.pid()));
  }

  /** It has no pools, and another broker runs on this machine. */
  @Test
  void aBrokerWithoutPoolsIsFoundByItsLogDirectories() throws IOException {
    Path logs = Files.createDirectory(directory.resolve("logs"));
    Path config = directory.resolve("remote.properties");
    Files.writeString(config, "node.id=8\nlog.dirs=" + logs + "\n");
    assertThat(CommandLineRun.of("status", "--config", config).fails(ExitCode.FAILED).err())
        .contains("Kafka's lock of one of the log directories [" + logs + "]");

    Path lock = Files.createFile(logs.resolve(".lock"));
    Process broker = start(List.of(), List.of("remote", lock.toString()));
    assertThat(CommandLineRun.of("status", "--config", config).succeeds().out())
        .startsWith("Broker 8 (process " + broker.pid() + ")");

    Files.writeString(config, "node.id=9\nlog.dirs=" + logs + "\n");
    assertThat(CommandLineRun.of("status", "--config", config).fails(ExitCode.FAILED).err())
        .contains("found broker 8, expected broker 9");
  }

  @Test
  void watchesUntilTheBrokerIsGone() throws IOException {
    Process broker = start(List.of(), List.of());

    CommandLineRun watched =
        CommandLineRun.of("status", "--pid", broker.pid(), "--watch", "1", "--count", "2");
    assertThat(watched.succeeds().out().split("Broker 7", -1)).hasSize(3);

    broker.destroyForcibly();
    assertThat(broker.onExit().orTimeout(30, TimeUnit.SECONDS).join().isAlive()).isFalse();
    assertThat(CommandLineRun.of("status", "--pid", broker.pid()).fails(ExitCode.FAILED).err())
        .contains("process " + broker.pid() + ": found no such process");
  }

  @Test
  void reachesABrokerByJmx() throws IOException {
    Process broker =
        start(
            List.of(
                "-Dcom.sun.management.jmxremote.port=0",
                "-Dcom.sun.management.jmxremote.local.only=false",
                "-Dcom.sun.management.jmxremote.authenticate=false",
                "-Dcom.sun.management.jmxremote.ssl=false"),
            List.of());
    String url = BrokerConnection.LocalJvms.managementAddress(broker.pid());

    assertThat(CommandLineRun.of("status", "--jmx", url).succeeds().out()).contains("hot ");
    assertThat(CommandLineRun.of("status", "--jmx", "127.0.0.1:1").fails(ExitCode.FAILED).err())
        .contains("127.0.0.1:1: could not connect by JMX");
    assertThat(CommandLineRun.of("status", "--jmx", "nonsense").fails(ExitCode.USAGE).err())
        .contains("expected host:port or a JMX service URL");
  }

  @Test
  void saysThatAProcessHasNoStrata() throws IOException {
    Process other = start(List.of(), List.of("bare"));

    assertThat(CommandLineRun.of("status", "--pid", other.pid()).fails(ExitCode.FAILED).err())
        .contains("found no io.strata.kafka:type=Status in it")
        .contains("expected a broker that runs with Strata");
  }

  @Test
  @Tag("long")
  void saysThatAProcessIsNoJvm() throws IOException {
    Process sleep = new ProcessBuilder("sleep", "60").start();
    started.add(sleep);

    assertThat(CommandLineRun.of("status", "--pid", sleep.pid()).fails(ExitCode.FAILED).err())
        .contains("could not attach to it");
    assertThat(sleep.isAlive()).as("the signal that asks a JVM to listen was not sent").isTrue();
  }

  @Test
  void saysThatNobodyHasThePoolsOpen() throws IOException {
    Path pool = Files.createFile(directory.resolve("hot.pool"));

    assertThat(CommandLineRun.of("status", "--config", config(pool)).fails(ExitCode.FAILED).err())
        .contains("found no process that has one of the pools");
  }

  @Test
  void saysThatTheRuntimeCannotAttach() throws IOException {
    Process broker = start(List.of(), List.of());
    Process run =
        new ProcessBuilder(
                java(),
                "--limit-modules",
                "java.base,java.management,java.management.rmi,java.sql,java.desktop,jdk.unsupported",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "status",
                "--pid",
                Long.toString(broker.pid()))
            .start();
    started.add(run);

    try (BufferedReader err = run.errorReader(StandardCharsets.UTF_8)) {
      assertThat(String.join("\n", err.lines().toList()))
          .startsWith("strata: this Java runtime cannot attach to another")
          .contains("use the java of a JDK")
          .doesNotContain("\n");
    }
  }

  /** The names of the fields of a broker's status, those that are keys and metrics left out. */
  public static Set<String> fields() throws IOException {
    StatusCommandTest test = new StatusCommandTest();
    try {
      Process broker = test.start(List.of(), List.of("both"));
      JsonNode json =
          CommandLineRun.of("status", "--pid", broker.pid(), "--json").succeeds().json();
      Set<String> fields = new TreeSet<>();
      json.fieldNames().forEachRemaining(fields::add);
      return fields;
    } finally {
      test.stopWhatWasStarted();
    }
  }

  private Path config(Path pool) throws IOException {
    return Files.writeString(
        directory.resolve("server.properties"),
        "node.id=7\nlog.dirs=" + directory + "\nstrata.pools=" + pool + "\n");
  }

  private static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  private Process start(List<String> options, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(java(), "-Xmx64m"));
    command.addAll(options);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), StatusMain.class.getName()));
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    started.add(process);
    assertThat(process.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("ready");
    return process;
  }
}
