package io.strata.kafka.it.starts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A broker that runs as a user of its own, and an operator who at times is root: the command line
 * in a JVM of either. Only root can be both.
 */
class OtherUserTest {

  private static final String USER = "nobody";
  private static final Path SETPRIV = Path.of("/usr/bin/setpriv");
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private Path folder = Path.of("");
  private Path pools = Path.of("");
  private Path pool = Path.of("");
  private Path config = Path.of("");
  private Path jar = Path.of("");

  @BeforeEach
  void install() throws IOException {
    assumeThat(System.getProperty("user.name")).isEqualTo("root");
    assumeThat(SETPRIV).isExecutable();
    folder = Files.createTempDirectory("strata-other-user-");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    assumeThat(java(USER, List.of("-version")).code())
        .as("whether another user can run this JDK")
        .isZero();
    jar = readable(Files.copy(Distribution.strataJar(), folder.resolve("strata-kafka-1.jar")));
    Path logs = Files.createDirectory(folder.resolve("logs"));
    Files.writeString(logs.resolve("meta.properties"), "version=1\nnode.id=1\ncluster.id=abc\n");
    pools = Files.createDirectory(folder.resolve("pools"));
    pool = pools.resolve("hot.pool");
    config =
        readable(
            Files.writeString(
                folder.resolve("server.properties"),
                """
                process.roles=broker
                node.id=1
                log.dirs=%s
                strata.pools=%s
                strata.pool.create=16MiB
                metric.reporters=io.strata.kafka.StrataReporter
                """
                    .formatted(logs, pool)));
    for (Path each : List.of(logs, logs.resolve("meta.properties"), pools)) {
      give(each, USER);
    }
  }

  @AfterEach
  void remove() throws IOException {
    if (folder.isAbsolute()) {
      Workspace.delete(folder);
    }
  }

  private static Path readable(Path file) throws IOException {
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
  }

  /** Else the broker could not open them. */
  @Test
  void whatRootCreatesIsTheBrokersUsers() throws Exception {
    assertThat(strata("root", 0, "pool", "create", "--size", "16MiB", "--config", config))
        .doesNotContain("warning");
    assertThat(owner()).isEqualTo(USER);

    for (List<Object> command :
        List.of(
            List.<Object>of("pool", "repair", "--yes", pool),
            List.<Object>of("pool", "grow", "--size", "20MiB", pool),
            List.<Object>of("drain", "--config", config))) {
      strata("root", 0, command.toArray());
      assertThat(owner()).as("after %s", command).isEqualTo(USER);
    }
    strata(USER, 0, "drain", "--config", config);

    Path tooLarge = pools.resolve("large.pool");
    strata("root", 3, "pool", "create", "--size", "100TiB", tooLarge);
    strata(USER, 0, "pool", "create", "--size", "16MiB", tooLarge);
  }

  @Test
  void whatTheBrokersUserMayNotUseIsNamed() throws Exception {
    strata(USER, 0, "pool", "create", "--size", "16MiB", "--config", config);
    give(pool, "root");
    assertThat(strata(USER, 1, "doctor", "--config", config))
        .contains("FAIL  pool " + pool + ": found no permission for user " + USER)
        .contains("to read it (owner root")
        .contains("log directory");
    // Who is root does not see it.
    assertThat(strata("root", 0, "doctor", "--config", config))
        .contains("WARN  user: this runs as root")
        .contains("sudo -u " + USER + " strata doctor");

    give(pool, USER);
    give(pools, "root");
    Files.setPosixFilePermissions(pools, PosixFilePermissions.fromString("rwx------"));
    assertThat(strata(USER, 1, "doctor", "--config", config))
        .contains("to look into the directory " + pools + " (owner root")
        .doesNotContain("is not there", "accept-loss");
    assertThat(strata(USER, 3, "status", "--config", config)).contains("look into the directory");
    give(config, "root");
    Files.setPosixFilePermissions(config, PosixFilePermissions.fromString("rw-------"));
    assertThat(strata(USER, 3, "segments", "--config", config))
        .contains("permission denied for user " + USER + " (owner root");
  }

  /** As after a restoration by root: Kafka opens each file to read and write it. */
  @Test
  void aFileThatTheBrokersUserMayNotWriteIsNamed() throws Exception {
    strata(USER, 0, "pool", "create", "--size", "16MiB", "--config", config);
    Path partition = Files.createDirectory(folder.resolve("logs").resolve("orders-0"));
    give(partition, USER);
    Path log = readable(Files.createFile(partition.resolve("00000000000000000000.log")));
    assertThat(strata(USER, 1, "doctor", "--config", config))
        .contains("FAIL  log directory " + partition.getParent() + ": " + log)
        .contains("belongs to root, and user nobody may not read and write it");
    give(log, USER);
    assertThat(strata(USER, 0, "doctor", "--config", config)).doesNotContain("FAIL");
    give(partition, "root");
    Files.setPosixFilePermissions(partition, PosixFilePermissions.fromString("rwx------"));
    assertThat(strata(USER, 1, "doctor", "--config", config))
        .contains("FAIL  log directory " + partition.getParent() + ": " + partition);
  }

  /** The start refuses it. */
  @Test
  void aNewDirectoryOfTheRemoteStoreThatMayNotBeWrittenIsNamed() throws Exception {
    Path store = Files.createDirectory(folder.resolve("store"));
    Files.writeString(
        config,
        """
        remote.log.storage.system.enable=true
        remote.log.storage.manager.class.name=io.strata.kafka.migration.remote.StrataRemoteStorageManager
        rsm.config.levels=nas
        rsm.config.nas.directories=%s
        """
            .formatted(store),
        StandardOpenOption.APPEND);
    strata(USER, 0, "pool", "create", "--size", "16MiB", "--config", config);
    assertThat(strata(USER, 1, "doctor", "--config", config))
        .contains("FAIL  remote store " + store + ": " + store + " belongs to root");
    give(store, USER);
    assertThat(strata(USER, 0, "doctor", "--config", config)).doesNotContain("FAIL");
  }

  private String owner() throws IOException {
    return Files.getOwner(pool).getName();
  }

  private static void give(Path file, String user) throws IOException {
    UserPrincipal owner =
        file.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(user);
    Path unused = Files.setOwner(file, owner);
  }

  /** Returns what the command printed. */
  private String strata(String user, int code, Object... arguments) throws Exception {
    List<String> all =
        new ArrayList<>(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar", jar.toString()));
    for (Object argument : arguments) {
      all.add(argument.toString());
    }
    Ended ended = java(user, all);
    assertThat(ended.code()).as("%s: %s", all, ended.output()).isEqualTo(code);
    return ended.output();
  }

  private record Ended(int code, String output) {}

  private Ended java(String user, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    if (!user.equals("root")) {
      command.addAll(
          List.of(SETPRIV.toString(), "--reuid", user, "--regid", "65534", "--clear-groups"));
    }
    command.add(JAVA);
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.onExit().join().exitValue(), output);
  }
}
