package io.strata.kafka.cli.remote;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.cli.CommandLineRun;
import io.strata.kafka.cli.Main;
import io.strata.kafka.cli.MainTest;
import io.strata.kafka.cli.RemoteStores;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.layout.ColdMark;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.tier.LoopMount;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands about a store, on a store with three segments. */
public class RemoteCommandsTest {

  private static final SegmentKey FIRST = RemoteStores.key("orders", 3, 0, 1);

  @TempDir Path directory;
  private RemoteStores stores;
  private Path config;
  private Path first;

  @BeforeEach
  void aStore() throws IOException, InterruptedException {
    stores = new RemoteStores(directory);
    config = stores.config();
    first = stores.copy("orders", 3, 0, 1, Duration.ofDays(2));
    Path unused = stores.copy("orders", 3, 100, 2, Duration.ZERO);
    Path unusedToo = stores.copy("audit", 0, 7, 3, Duration.ZERO);
    Path unusedThree = stores.alsoInTheSecondLevel(FIRST);
  }

  @Test
  void lists() throws IOException {
    String out = CommandLineRun.of("remote", "ls", "--config", config).succeeds().out();

    assertThat(out)
        .containsPattern("PARTITION +OFFSETS +SIZE +LEVEL +BROKER +COPIED +STATE")
        .containsPattern("audit-0 +7-106 +97.7 KiB +ssd +4 +20.*Z +-")
        .containsPattern("orders-3 +0-99 +97.7 KiB +ssd\\+hdd +4 +20.*Z +-")
        .containsPattern("orders-3 +100-199 +97.7 KiB +ssd +4")
        .contains("total: 3 segments, 293 KiB of records;");
    assertThat(out.lines().skip(1).map(line -> line.substring(0, line.indexOf(' '))).limit(3))
        .containsExactly("audit-0", "orders-3", "orders-3");
  }

  /** Who takes a level out must see that it has the only manifest, or the only copy in order. */
  @Test
  void showsWhereTheIndexesOfAColdSegmentAreAndWhatIsDamaged() throws IOException {
    Path second = StoreNames.segment(stores.hdd, FIRST);
    Path unused =
        Files.write(second.resolve(StoreNames.COLD), ColdMark.done("C", Optional.empty()).print());
    Files.delete(log(second));
    boolean unusedToo = CopyMarks.damaged(first, "a flipped bit");
    assertThat(CommandLineRun.of("remote", "ls", "--config", config).succeeds().out())
        .containsPattern("orders-3 +0-99 .* ssd\\+\\(hdd\\)\\+cold +.*Z +damaged in ssd,cold");
    CommandLineRun run = CommandLineRun.of("remote", "ls", "--config", config, "--json");
    assertThat(run.json().at("/segments/1/copies/0/damaged").asBoolean()).isTrue();
    assertThat(run.json().at("/segments/1/copies/1/damaged").asBoolean()).isFalse();
  }

  @Test
  void listsSomeOfThem() throws IOException {
    assertThat(
            CommandLineRun.of("remote", "ls", "--config", config, "--topic", "audit", "--ids")
                .succeeds()
                .out())
        .contains("audit-0")
        .contains(RemoteStores.id(3))
        .doesNotContain("orders");
    assertThat(
            CommandLineRun.of("remote", "ls", "--dir", stores.hdd, "--partition", 3)
                .succeeds()
                .out())
        .containsPattern("orders-3 +0-99 +97.7 KiB +" + stores.hdd)
        .contains("total: 1 segments");
  }

  /** Who waits until none of a topic is left, or wants to know that all are whole, may mistype. */
  @ParameterizedTest
  @ValueSource(strings = {"ls", "du", "verify", "scrub"})
  void aTopicThatTheStoreDoesNotHaveIsNamed(String command) {
    CommandLineRun run =
        CommandLineRun.of("remote", command, "--config", config, "--topic", "oders");
    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.err())
        .contains("found no segment of topic oders in the store, which has those of audit, orders");
  }

  @Test
  void listsForMachines() throws IOException {
    JsonNode json =
        CommandLineRun.of("remote", "ls", "--config", config, "--json").succeeds().json();

    assertThat(json.get("clusterId").asText()).isEqualTo(RemoteStores.CLUSTER);
    assertThat(json.get("findings")).isEmpty();
    JsonNode segment = json.get("segments").get(1);
    assertThat(segment.get("topic").asText()).isEqualTo("orders");
    assertThat(segment.get("partition").asInt()).isEqualTo(3);
    assertThat(segment.get("startOffset").asLong()).isZero();
    assertThat(segment.get("endOffset").asLong()).isEqualTo(99);
    assertThat(segment.get("id").asText()).isEqualTo(RemoteStores.id(1));
    assertThat(segment.get("bytes").asInt()).isEqualTo(RemoteStores.BYTES);
    assertThat(segment.get("copies").get(1).get("level").asText()).isEqualTo("hdd");
    assertThat(segment.get("copies").get(0).get("path").asText()).isEqualTo(first.toString());
  }

  /** As in a directory of a server of NFS that has gone. */
  @Test
  @Tag("long")
  void eachEndsWhereADirectoryDoesNotAnswer() throws Exception {
    Path identity = stores.hdd.resolve(StoreNames.IDENTITY);
    Files.delete(identity);
    assertThat(new ProcessBuilder("mkfifo", identity.toString()).start().waitFor()).isZero();
    List<CompletableFuture<CommandLineRun>> runs =
        Stream.of("ls", "du", "verify", "scrub")
            .map(
                command ->
                    CompletableFuture.supplyAsync(
                        () -> onBoth(command), work -> new Thread(work).start()))
            .toList();
    for (CompletableFuture<CommandLineRun> each : runs) {
      CommandLineRun run = each.get(2, TimeUnit.MINUTES).fails(ExitCode.FAILED);
      assertThat(run.err().lines()).hasSize(1);
      assertThat(run.err()).startsWith("strata: " + stores.hdd + " did not answer within");
    }
    // What hangs in it ends.
    FileChannel.open(identity, StandardOpenOption.READ, StandardOpenOption.WRITE).close();
  }

  private CommandLineRun onBoth(String command) {
    return CommandLineRun.of("remote", command, "--dir", stores.ssd, "--dir", stores.hdd);
  }

  @Test
  void listsTheRestWhereAManifestIsDamaged() throws IOException {
    flip(first.resolve(StoreNames.MANIFEST), 20);

    CommandLineRun run = CommandLineRun.of("remote", "ls", "--config", config);

    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.err()).startsWith("strata: " + first.resolve(StoreNames.MANIFEST));
    assertThat(run.out()).contains("audit-0").containsPattern("orders-3 +0-99 .* hdd ");
  }

  @Test
  void saysThatADirectoryIsNoStores() throws IOException {
    Path other = Files.createDirectories(directory.resolve("mnt"));

    CommandLineRun run = CommandLineRun.of("remote", "ls", "--dir", other, "--dir", stores.ssd);

    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.err())
        .startsWith("strata: " + other + ": found no strata-store.json")
        .contains("is its file system mounted?");
    assertThat(run.out()).contains("orders-3", "total of what could be read: ");
  }

  @Test
  void sumsUp() throws IOException {
    assertThat(CommandLineRun.of("remote", "du", "--config", config).succeeds().out())
        .containsPattern("PARTITION +LEVEL +COPIES +SIZE")
        .containsPattern("audit-0 +ssd +1 +97.8 KiB")
        .containsPattern("orders-3 +ssd +2 +195.6 KiB")
        .containsPattern("orders-3 +hdd +1 +97.8 KiB")
        .contains("ssd: 3 copies, 293.3 KiB")
        .contains("hdd: 1 copies, 97.8 KiB")
        .contains("total: 4 copies, 391.1 KiB");
    assertThat(CommandLineRun.of("remote", "du", "--config", config, "--totals").succeeds().out())
        .startsWith("ssd: 3 copies");
    JsonNode json =
        CommandLineRun.of("remote", "du", "--config", config, "--json").succeeds().json();
    assertThat(json.get("partitions").get(1).get("segments").asInt()).isEqualTo(2);
    assertThat(json.get("total").get("bytes").asLong()).isEqualTo(4L * (RemoteStores.BYTES + 128));
  }

  @Test
  void verifiesAndScrubsASoundStore() throws IOException {
    assertThat(CommandLineRun.of("remote", "verify", "--config", config).succeeds().out())
        .contains("ssd " + stores.ssd + ": 3 segments, 9 files checked; nothing found")
        .contains("hdd " + stores.hdd + ": 1 segments, 3 files checked; nothing found");
    assertThat(CommandLineRun.of("remote", "scrub", "--config", config).succeeds().out())
        .contains("ssd " + stores.ssd + ": 3 segments, 9 files checked, 293.3 KiB read; nothing");
  }

  @Test
  void aFlippedBitIsFoundByTheScrubAndNotByVerify() throws IOException {
    Path log = log(first);
    flip(log, 70_000);
    assertThat(CommandLineRun.of("remote", "verify", "--config", config).succeeds().out())
        .contains("nothing found");

    CommandLineRun run = CommandLineRun.of("remote", "scrub", "--config", config, "--json");

    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    JsonNode ssd = run.json().get("directories").get(0);
    assertThat(ssd.get("level").asText()).isEqualTo("ssd");
    assertThat(ssd.get("findings")).hasSize(1);
    assertThat(ssd.get("findings").get(0).get("kind").asText()).isEqualTo("corrupt");
    assertThat(ssd.get("findings").get(0).get("path").asText()).isEqualTo(log.toString());
    assertThat(run.json().get("directories").get(1).get("findings")).isEmpty();
  }

  @Test
  void verifyFindsWhatIsMissingOrShort() throws IOException {
    Path log = log(first);
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
      file.setLength(10);
    }

    CommandLineRun run = CommandLineRun.of("remote", "verify", "--config", config);
    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.out()).contains("corrupt: " + log + ": found 10 bytes, expected 100000");

    Files.delete(log);
    assertThat(CommandLineRun.of("remote", "verify", "--config", config).out())
        .contains("missing: " + log);
    assertThat(
            CommandLineRun.of("remote", "verify", "--config", config, "--topic", "audit")
                .succeeds()
                .out())
        .contains("1 segments");
  }

  @Test
  void verifyFindsADirectoryOfAnotherStore(@TempDir Path elsewhere)
      throws IOException, InterruptedException {
    RemoteStores others = new RemoteStores(elsewhere, "another-cluster");
    Path unused = others.copy("orders", 0, 0, 9, Duration.ZERO);

    CommandLineRun run =
        CommandLineRun.of("remote", "verify", "--dir", stores.ssd, "--dir", others.ssd);

    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.out()).contains(others.ssd + ": found a directory of store ");
  }

  @Test
  void orphansGoOnlyWhenAskedFor() throws IOException {
    Path orphan = Files.createDirectories(stores.ssd.resolve("staging/4-dead/half"));
    Path file = Files.writeString(orphan.resolve("x.log"), "x");
    Path young = Files.createDirectories(stores.ssd.resolve("staging/5-alive"));
    FileTime old = FileTime.from(Instant.now().minus(Duration.ofHours(2)));
    for (Path path : List.of(file, orphan, orphan.resolveSibling("."))) {
      Path unused = Files.setLastModifiedTime(path, old);
    }

    assertThat(CommandLineRun.of("remote", "scrub", "--config", config).succeeds().out())
        .contains("orphan: " + orphan.getParent());
    assertThat(orphan).exists();
    assertThat(
            CommandLineRun.of("remote", "scrub", "--config", config, "--remove-orphans")
                .succeeds()
                .out())
        .contains("1 orphans removed")
        .contains("removed: " + orphan.getParent());
    assertThat(orphan.getParent()).doesNotExist();
    assertThat(young).exists();
  }

  /** A script that frees space would take it for done. */
  @Test
  @SuppressWarnings("try") // mounted until it is closed
  void anOrphanThatCannotBeRemovedIsNamed() throws Exception {
    Path orphan = Files.createDirectories(stores.ssd.resolve("staging/4-dead"));
    for (Path path : List.of(orphan, orphan.resolveSibling("."))) {
      Path unused =
          Files.setLastModifiedTime(path, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
    }
    try (LoopMount readOnly = LoopMount.readOnly(stores.ssd)) {
      CommandLineRun run =
          CommandLineRun.of("remote", "scrub", "--config", config, "--remove-orphans");

      assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.FINDINGS.code());
      assertThat(run.out()).contains("orphan: " + orphan, "cannot be removed now");
    }
  }

  @Test
  void aConfigurationThatCannotBeUsedIsRefused() throws IOException {
    Files.writeString(config, "node.id=1\nlog.dirs=/tmp/x\nrsm.config.levels=ssd\n");

    assertThat(CommandLineRun.of("remote", "ls", "--config", config).fails(ExitCode.REFUSED).err())
        .contains("rsm.config.ssd.directories: found nothing");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ls --dir /no/such/directory",
        "ls --config server.properties --dir /tmp",
        "scrub --dir /tmp --remove-unneeded",
        "scrub --dir /tmp --command-config x",
        "scrub --dir /tmp --bootstrap-server x:1 --command-config /no/such/file",
        "scrub --dir /tmp --older-than soon",
        "scrub --dir /tmp --orphan-age 0s",
        "scrub --dir /tmp --remove-orphans --topic orders",
        "scrub --dir /tmp --rate 100M",
        "du --partition x --dir /tmp",
        "ls --partition -1 --dir /tmp",
      })
  void wrongUsage(String line) {
    List<Object> words = new ArrayList<>(List.of("remote"));
    words.addAll(Arrays.asList((Object[]) line.split(" ", -1)));

    CommandLineRun run = CommandLineRun.of(words.toArray()).fails(ExitCode.USAGE);

    assertThat(run.err().lines().count()).isLessThanOrEqualTo(2);
  }

  @Test
  void worksWithoutKafkasClassesAndSaysWhereTheyAreNeeded() throws Exception {
    String withoutKafka =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("/org/apache/kafka/") && !entry.contains("slf4j"))
            .collect(Collectors.joining(File.pathSeparator));

    assertThat(run(withoutKafka, "remote", "ls", "--config", config.toString()))
        .contains("total: 3 segments");
    assertThat(run(withoutKafka, "remote", "verify", "--config", config.toString()))
        .contains("nothing found");
    assertThat(
            run(
                withoutKafka,
                "remote",
                "scrub",
                "--config",
                config.toString(),
                "--bootstrap-server",
                "localhost:1"))
        .startsWith("strata: --bootstrap-server: found no class org.apache.kafka.")
        .contains("java -cp 'strata.jar:/opt/kafka/libs/*' io.strata.kafka.cli.Main")
        .hasLineCount(1);
  }

  private static String run(String classPath, String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-cp",
                classPath,
                Main.class.getName()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      return String.join("\n", out.lines().toList());
    } finally {
      process.destroyForcibly();
    }
  }

  /** The names of the fields of all commands' output. */
  public static Set<String> fields(Path directory) throws IOException, InterruptedException {
    RemoteCommandsTest test = new RemoteCommandsTest();
    test.directory = directory;
    test.aStore();
    Set<String> fields = new TreeSet<>();
    for (String command : List.of("ls", "du", "scrub")) {
      MainTest.collectFields(
          CommandLineRun.of("remote", command, "--config", test.config, "--json").json(), fields);
    }
    flip(log(test.first), 1);
    MainTest.collectFields(
        CommandLineRun.of("remote", "scrub", "--config", test.config, "--json").json(), fields);
    return fields;
  }

  private static Path log(Path segment) {
    return segment.resolve("00000000000000000000.log");
  }

  private static void flip(Path file, long position) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(position);
      int old = bytes.read();
      bytes.seek(position);
      bytes.write(old ^ 1);
    }
  }
}
