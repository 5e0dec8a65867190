package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Finds a broker's properties on the JVM's command line, and takes no tool for a broker. */
class CommandLineArgumentsTest {

  private static final String BROKER = "process.roles=broker\nlog.dirs=/tmp/logs\n";

  @TempDir Path directory;

  @Test
  void findsABrokersFileAndOverrides() {
    CommandLineArguments line =
        of("kafka.Kafka", "/etc/kafka/server.properties", "--override", "a=b c", "--override=d=e");

    assertThat(line.isBroker()).isTrue();
    assertThat(line.propertiesFile()).contains(Path.of("/etc/kafka/server.properties"));
    assertThat(line.overrides()).containsExactly("a=b c", "d=e");
  }

  @Test
  void keepsSpacesThatAreWithinAnArgument() {
    assertThat(of("kafka.Kafka", "/my files/s.properties").propertiesFile())
        .contains(Path.of("/my files/s.properties"));
  }

  @Test
  void makesDoWithoutExactArguments() {
    CommandLineArguments line =
        CommandLineArguments.of(
            "kafka.Kafka s.properties --override a=b", List.of(), Optional.empty());

    assertThat(line.propertiesFile()).contains(Path.of("s.properties"));
    assertThat(line.overrides()).containsExactly("a=b");
  }

  @ParameterizedTest
  @ValueSource(strings = {"log.dirs=/a,/b", "log.dir=/a"})
  void takesAWrapperForABroker(String logDirectories) throws IOException {
    Path file = write("strimzi.properties", "process.roles=broker\n" + logDirectories + "\n");
    CommandLineArguments line = of("com.example.Launcher", file.toString(), "--override", "a=b");

    assertThat(line.isBroker()).isTrue();
    assertThat(line.propertiesFile()).contains(file);
    assertThat(line.overrides()).containsExactly("a=b");
  }

  /** It shares KAFKA_OPTS with the broker, and would open the broker's pools for writing. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "bootstrap.servers=localhost:9092\n",
        "log.dirs=/a\nnode.id=1\n",
        "process.roles=broker\n",
        "process.roles=broker\nlog.dirs=\\u00zz\n"
      })
  void takesNoProgramWithAClientsFileForABroker(String content) throws IOException {
    Path client = write("client.properties", content);
    String command = "com.acme.Copy " + client;

    for (CommandLineArguments line :
        List.of(
            of("com.acme.Copy", client.toString()),
            of("com.acme.Copy", client + ".missing.properties"),
            of("com.acme.Copy", directory.toString() + ".properties"))) {
      assertThat(line.isBroker()).isFalse();
      assertThat(line.isKafkaTool()).isFalse();
      assertThat(line.propertiesFile()).isEmpty();
    }
    CommandLineArguments configured =
        CommandLineArguments.of(command, List.of(), Optional.of("/etc/server.properties"));
    assertThat(configured.isBroker()).isFalse();
    assertThat(configured.propertiesFile()).contains(Path.of("/etc/server.properties"));
  }

  @Test
  void takesNoToolThatIsGivenTheBrokersFileForABroker() throws IOException {
    String file = write("server.properties", BROKER).toString();
    for (String tool :
        List.of(
            "org.apache.kafka.connect.cli.ConnectStandalone",
            "kafka.tools.StorageTool",
            "kafka.admin.ConfigCommand")) {
      CommandLineArguments line = of(tool, file);
      assertThat(line.isBroker()).as(tool).isFalse();
      assertThat(line.isKafkaTool()).as(tool).isTrue();
    }
    assertThat(of("kafka.Kafka", file).isKafkaTool()).isFalse();
  }

  @Test
  void takesNoToolForABroker() {
    for (CommandLineArguments line :
        List.of(
            of("kafka.tools.StorageTool", "format", "-c", "server.properties"),
            of("org.apache.kafka.tools.DumpLogSegments", "--files", "x.log"),
            of("org.apache.kafka.connect.cli.ConnectStandalone", "connect.properties"),
            of("org.apache.kafka.connect.mirror.MirrorMaker", "mm2.properties"),
            of("strata.jar", "pool", "info"),
            of("kafka.docker.KafkaDockerWrapper", "setup"))) {
      assertThat(line.isBroker()).as(line.mainClass()).isFalse();
      assertThat(line.propertiesFile()).as(line.mainClass()).isEmpty();
      assertThat(line.overrides()).isEmpty();
    }
  }

  @Test
  void systemPropertyNamesTheFileAndMakesNoBroker() {
    CommandLineArguments tool =
        CommandLineArguments.of(
            "org.apache.kafka.tools.DumpLogSegments --files x",
            List.of(),
            Optional.of("/etc/s.properties"));
    CommandLineArguments broker =
        CommandLineArguments.of(
            "kafka.Kafka a.properties --override a=b", List.of(), Optional.of("/b.properties"));

    assertThat(tool.isBroker()).isFalse();
    assertThat(tool.propertiesFile()).contains(Path.of("/etc/s.properties"));
    assertThat(broker.propertiesFile()).contains(Path.of("/b.properties"));
    assertThat(broker.overrides()).containsExactly("a=b");
  }

  @Test
  void aBrokerWithoutAFileHasNone() {
    assertThat(of("kafka.Kafka", "--version").propertiesFile()).isEmpty();
    assertThat(of("kafka.Kafka").propertiesFile()).isEmpty();
    assertThat(CommandLineArguments.of("", List.of(), Optional.empty()).isBroker()).isFalse();
  }

  @Test
  void thisJvmIsNoBroker() {
    CommandLineArguments line = CommandLineArguments.ofThisJvm();

    assertThat(line.mainClass()).isNotEmpty();
    assertThat(line.isBroker()).isFalse();
  }

  @Test
  void loadsWhatTheLineNames() throws IOException {
    Path file = directory.resolve("s.properties");
    Files.writeString(file, "node.id=1\n");

    assertThat(of("kafka.Kafka", file.toString(), "--override", "node.id=2").load().orElseThrow())
        .extracting(BrokerProperties::nodeId)
        .hasToString("OptionalInt[2]");
    assertThat(of("strata.jar", "pool").load()).isEmpty();
    assertThatThrownBy(() -> of("kafka.Kafka", "a\0b.properties").load())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("found a properties file whose name is no path here");
  }

  /** A broker's class path is longer than what ProcessHandle reads of a command line. */
  @Test
  void readsTheExactArgumentsOfAJvmWithALongClassPath() throws Exception {
    String classPath = System.getProperty("java.class.path") + ":/x".repeat(3000);
    Path file = directory.resolve("with a space.properties");
    Files.writeString(file, BROKER);
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                classPath,
                Probe.class.getName(),
                file.toString(),
                "--override",
                "a=b  c")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();

    String output = new String(process.getInputStream().readAllBytes(), UTF_8);

    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(output).isEqualTo(file + "|a=b  c");
  }

  private static final java.nio.charset.Charset UTF_8 = java.nio.charset.StandardCharsets.UTF_8;

  /** Prints what it finds of its own command line. */
  static final class Probe {
    private Probe() {}

    public static void main(String[] args) {
      CommandLineArguments line = CommandLineArguments.ofThisJvm();
      System.out.print(line.propertiesFile().orElseThrow() + "|" + line.overrides().get(0));
    }
  }

  private Path write(String name, String content) throws IOException {
    return Files.writeString(directory.resolve(name), content);
  }

  private static CommandLineArguments of(String... words) {
    List<String> exact = new ArrayList<>(List.of("/usr/bin/java", "-Xmx1g", "-cp", "/a:/b"));
    exact.addAll(List.of(words));
    return CommandLineArguments.of(String.join(" ", words), exact, Optional.empty());
  }
}
