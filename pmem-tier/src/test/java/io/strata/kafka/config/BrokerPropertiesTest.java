package io.strata.kafka.config;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What Strata reads of a broker's properties, and what it refuses there. */
class BrokerPropertiesTest {
  private static final String REPORTERS =
      "io.strata.kafka.StrataReporter, org.apache.kafka.common.metrics.JmxReporter";

  @TempDir Path directory;

  @Test
  void aKeyOfAPoolMeansThatThereIsMoreThanTheRemoteTier() {
    Map<String, String> remote =
        Map.of(
            "remote.log.storage.manager.class.name",
            "io.strata.kafka.migration.remote.StrataRemoteStorageManager");
    assertThat(of(remote).hasRemoteTierAlone()).isTrue();
    assertThat(of(Map.of()).hasRemoteTierAlone()).isFalse();
    Map<String, String> both = new HashMap<>(remote);
    both.put("strata.pool", "misspelled");
    assertThat(of(both).hasRemoteTierAlone()).isFalse();
  }

  @Test
  void loadsTheFileAndAppliesOverridesInOrder() throws IOException {
    Path file = directory.resolve("server.properties");
    Files.writeString(
        file,
        "node.id=3\nlog.dirs = /a , /b\\\n  ,/c\n# comment\nx=1\nl=\\u00e9\u00e9\n",
        ISO_8859_1);

    BrokerProperties broker =
        BrokerProperties.load(
            file, List.of("x=2", "x=3=4", "log.preallocate=true", "empty"), Path.of(""));

    assertThat(broker.nodeId()).hasValue(3);
    assertThat(broker.logDirs()).containsExactly(Path.of("/a"), Path.of("/b"), Path.of("/c"));
    assertThat(broker.metadataLogDir()).isEqualTo(Path.of("/a"));
    assertThat(broker.get("x")).contains("3=4");
    assertThat(broker.get("l")).contains("éé");
    assertThat(broker.get("empty")).isEmpty();
    assertThat(broker.logPreallocate()).isTrue();
    assertThat(broker.source()).isEqualTo(file.toString());
    assertThat(broker).hasToString("BrokerProperties[" + file + ", 6 keys]");
  }

  @Test
  void namesAFileThatIsMissingOrMalformed() throws IOException {
    Path file = directory.resolve("bad.properties");
    assertThatThrownBy(() -> BrokerProperties.load(file, List.of(), Path.of("")))
        .isInstanceOf(NoSuchFileException.class);
    Files.writeString(file, "a=\\u12");
    assertThatThrownBy(() -> BrokerProperties.load(file, List.of(), Path.of("")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("found a malformed Unicode escape");
    Files.writeString(file, "log.dirs=/a\\u0000b");
    assertThatThrownBy(() -> BrokerProperties.load(file, List.of(), Path.of("")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file + ": found a log directory that is no path here");
  }

  @Test
  void fallsBackAsKafkaDoes() {
    assertThat(of(Map.of()).logDirs()).containsExactly(Path.of("/tmp/kafka-logs"));
    assertThat(of(Map.of("log.dir", "/x")).logDirs()).containsExactly(Path.of("/x"));
    assertThat(of(Map.of("log.dirs", "/x,,/y,")).logDirs())
        .as("as Kafka 3.9 reads it")
        .containsExactly(Path.of("/x"), Path.of("/y"));
    assertThat(of(Map.of("log.dir", "/x", "log.dirs", "/y")).logDirs())
        .containsExactly(Path.of("/y"));
    assertThat(of(Map.of("metadata.log.dir", "/m")).metadataLogDir()).isEqualTo(Path.of("/m"));
    assertThat(of(Map.of("broker.id", "7")).nodeId()).hasValue(7);
    assertThat(of(Map.of("broker.id", "-1")).nodeId()).isEmpty();
    assertThat(of(Map.of("node.id", "x")).nodeId()).isEmpty();
    assertThat(of(Map.of()).metricReporters())
        .containsExactly("org.apache.kafka.common.metrics.JmxReporter");
    assertThat(of(Map.of("metric.reporters", "")).metricReporters()).isEmpty();
  }

  @Test
  void acceptsAnOrdinaryBroker() {
    assertThat(check(Map.of())).isEmpty();
    assertThat(check(Map.of("log.preallocate", "false"))).isEmpty();
  }

  @Test
  void refusesPreallocation() {
    assertThat(check(Map.of("log.preallocate", " TRUE ")))
        .singleElement()
        .extracting(ConfigProblem::message)
        .asString()
        .startsWith("log.preallocate: found 'true', expected false; remove it");
  }

  @Test
  void refusesAMissingReporterAndWarnsOfAMissingJmxReporter() {
    assertThat(check(Map.of("metric.reporters", "com.example.Other")))
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.isError()).isTrue();
              assertThat(problem.message()).contains("io.strata.kafka.StrataReporter");
            });
    assertThat(check(Map.of("metric.reporters", "io.strata.kafka.StrataReporter")))
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.isError()).isFalse();
              assertThat(problem.message()).contains("JmxReporter");
            });
  }

  @Test
  void refusesAClassPathWithOurClassesInAnyForm() throws IOException {
    Path jars = Files.createDirectory(directory.resolve("jars"));
    Path jar = jars.resolve("strata.JAR");
    try (OutputStream out = Files.newOutputStream(jar);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.putNextEntry(new ZipEntry(BrokerChecks.OWN_CLASS));
    }
    Path classes = directory.resolve("classes");
    Path ownClass = classes.resolve(BrokerChecks.OWN_CLASS);
    Files.createDirectories(ownClass.getParent());
    Files.createFile(ownClass);

    for (String entry : List.of(jar.toString(), jars + "/*", classes.toString())) {
      String classPath = "/nowhere/x.jar" + File.pathSeparator + entry;
      assertThat(check(classPaths(classPath, OWN_MANAGER)))
          .as(entry)
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.key()).isEqualTo("remote.log.storage.manager.class.path");
                assertThat(problem.isError()).isTrue();
                assertThat(problem.message()).contains("holds Strata").contains("remove");
              });
      // No class of ours is loaded from there.
      assertThat(check(classPaths(classPath, "com.example.M"))).as(entry).isEmpty();
    }
  }

  /** Strimzi always writes the text null. */
  @ParameterizedTest
  @ValueSource(strings = {"null", "/empty", "/opt/aiven/*", ""})
  void acceptsAClassPathFromWhichNothingOfOursIsLoaded(String classPath) {
    assertThat(check(classPaths(classPath, OWN_MANAGER))).isEmpty();
    assertThat(check(classPaths(classPath, "com.example.M"))).isEmpty();
  }

  private static final String OWN_MANAGER =
      "io.strata.kafka.migration.remote.StrataRemoteStorageManager";

  /** Of both managers. */
  private static Map<String, String> classPaths(String classPath, String storageManager) {
    return Map.of(
        "remote.log.storage.manager.class.path",
        classPath,
        "remote.log.storage.manager.class.name",
        storageManager,
        "remote.log.metadata.manager.class.path",
        classPath,
        "remote.log.metadata.manager.class.name",
        "com.example.Metadata");
  }

  @ParameterizedTest
  @CsvSource({
    "controller, true",
    "' controller ', true",
    "'broker,controller', false",
    "'controller, broker', false",
    "broker, false",
    "'', false"
  })
  void tellsANodeThatIsOnlyAController(String roles, boolean alone) {
    assertThat(BrokerProperties.of("test", Map.of("process.roles", roles)).isControllerAlone())
        .isEqualTo(alone);
  }

  @Test
  void acceptsAThirdPartysClassPath() throws IOException {
    Path jars = Files.createDirectory(directory.resolve("jars"));
    Files.writeString(jars.resolve("broken.jar"), "not a zip");
    try (OutputStream out = Files.newOutputStream(jars.resolve("other.jar"));
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.putNextEntry(new ZipEntry("com/example/M.class"));
    }

    assertThat(
            check(
                Map.of(
                    "remote.log.storage.manager.class.path",
                    jars + "/*" + File.pathSeparator + jars,
                    "remote.log.storage.manager.class.name",
                    "com.example.M")))
        .isEmpty();
  }

  @Test
  void refusesDirectoriesFromAConfigurationProvider() {
    assertThat(check(Map.of("log.dirs", "${env:DIRS}")))
        .singleElement()
        .extracting(ConfigProblem::message)
        .asString()
        .startsWith("log.dirs: found '${env:DIRS}'");
  }

  /** Kafka deletes it with the topic, or takes it for a partition and does not start. */
  @Test
  void refusesAPoolInADirectoryOfALogDirectory() throws IOException {
    Path partition = Files.createDirectories(directory.resolve("logs/orders-0"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), partition);
    for (Path pool : List.of(partition.resolve("hot.pool"), link.resolve("hot.pool"))) {
      assertThat(messages(pool.toString()))
          .singleElement()
          .asString()
          .startsWith("ERROR strata.pools: found '" + pool + "', which is in a directory of")
          .contains(directory.toRealPath() + "/logs", "move the pool out of there");
    }
    assertThat(messages(directory + "/logs/hot.pool")).isEmpty();
    assertThat(messages(directory + "/logs2/orders-0/hot.pool")).isEmpty();
  }

  /** By two names, through a link. */
  @Test
  void refusesOnePoolTwice() throws IOException {
    Path pools = Files.createDirectory(directory.resolve("pools"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), pools);
    assertThat(messages(pools + "/hot.pool," + link + "/hot.pool"))
        .singleElement()
        .asString()
        .startsWith("ERROR strata.pools: found")
        .contains(pools + "/hot.pool", link + "/hot.pool", "which are one file", "take one");
    assertThat(messages(pools + "/hot.pool," + pools + "/warm.pool")).isEmpty();
  }

  private List<String> messages(String pools) {
    return of(
            Map.of(
                "log.dirs",
                directory + "/logs",
                "metric.reporters",
                REPORTERS,
                "strata.pools",
                pools))
        .check()
        .stream()
        .map(ConfigProblem::toString)
        .toList();
  }

  @Test
  void checkedConfigReportsBothKindsOfProblems() {
    BrokerProperties broker = of(Map.of("log.preallocate", "true", "metric.reporters", REPORTERS));

    assertThatThrownBy(broker::checkedConfig)
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e ->
                assertThat(e.problems())
                    .extracting(ConfigProblem::key)
                    .containsExactly("strata.pools", "log.preallocate"));
  }

  @Test
  void checkedConfigPassesWithAWarning() throws ConfigRefusedException {
    BrokerProperties broker =
        of(Map.of("strata.pools", "/p", "metric.reporters", "io.strata.kafka.StrataReporter"));

    assertThat(broker.checkedConfig().pools()).containsExactly(Path.of("/p"));
  }

  private static List<ConfigProblem> check(Map<String, String> more) {
    Map<String, String> properties = new HashMap<>(Map.of("metric.reporters", REPORTERS));
    properties.putAll(more);
    return of(properties).check();
  }

  private static BrokerProperties of(Map<String, String> properties) {
    return BrokerProperties.of("test", properties);
  }
}
