package io.strata.kafka.cli.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strata.kafka.cli.doctor.DoctorCheck.Diagnosis;
import io.strata.kafka.cli.doctor.DoctorCheck.Verdict;
import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.memory.MemoryDirectory;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.unpublished.MetadataLog;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What {@code strata doctor} finds in an installation, and what to do about it. */
class DoctorCommandTest {
  private static final long MIB = 1 << 20;
  private static final String FLAG =
      "-Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider";
  private static final String REPORTERS =
      "metric.reporters=org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter";

  /** On a disk: a pool in memory is refused. */
  @TempDir(factory = MemoryDirectory.OnDisk.class)
  Path directory;

  private Path logs = Path.of("");
  private Path libs = Path.of("");
  private Path pool = Path.of("");
  private Path root = Path.of("");
  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void install() throws IOException {
    logs = Files.createDirectory(directory.resolve("logs"));
    libs = Files.createDirectory(directory.resolve("libs"));
    pool = directory.resolve("hot.pool");
    root = directory.resolve("root");
    Files.createDirectories(root.resolve("proc/self"));
    Files.createDirectories(root.resolve("proc/sys/vm"));
    Files.writeString(
        root.resolve("proc/self/limits"),
        "Max processes   10  20  processes\nMax open files   200000   200000   files\n");
    Files.writeString(root.resolve("proc/sys/vm/max_map_count"), "1048576\n");
    Files.createFile(libs.resolve("kafka-clients-4.3.1.jar"));
    Files.createFile(libs.resolve("strata-kafka-1.jar"));
    Files.createFile(libs.resolve("strata-kafka-1-sources.jar"));
    Files.writeString(logs.resolve("meta.properties"), "version=1\nnode.id=1\ncluster.id=abc\n");
    environment.put("KAFKA_OPTS", "-Xlog:gc " + FLAG);
  }

  @Test
  void findsNothingToDoInASoundInstallation() throws IOException {
    createPool(PoolOwner.of(1, "abc"));

    JsonNode found = run(0, sound());

    assertThat(verdicts(found, "fail")).isEmpty();
    assertThat(verdicts(found, "ok"))
        .containsKeys("configuration", "flag", "jar", "kafka", "segments")
        .containsKeys("open files", "vm.max_map_count")
        .hasEntrySatisfying(
            "log directory " + logs,
            text ->
                assertThat(text)
                    .contains("is not marked as used with Strata: its log files have all bytes"));
  }

  @Test
  void printsForPeople() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    environment.remove("KAFKA_OPTS");
    StringWriter out = new StringWriter();

    int code = commandLine().setOut(new PrintWriter(out, true)).execute(arguments(sound()));

    assertThat(code).isZero();
    assertThat(out.toString())
        .contains("OK    configuration: ")
        .contains("WARN  flag: is not in KAFKA_OPTS of this shell")
        .contains("      -> see that the broker's KAFKA_OPTS has " + FLAG)
        .containsPattern("\\d+ looked at: 0 failed, [12] warned\n");
  }

  /** As a start refuses it: only a type that is named may be in memory. */
  @Test
  void findsAPoolInMemory(@TempDir(factory = MemoryDirectory.OnTmpfs.class) Path memory)
      throws IOException {
    pool = memory.resolve("hot.pool");
    createPool(PoolOwner.of(1, "abc"));

    assertThat(verdicts(run(1, sound()), "fail").get("start"))
        .contains(pool.toString(), "tmpfs", "strata.pool.type=mapped");
    assertThat(run(0, List.of("strata.pools=" + pool, "strata.pool.type=mapped", REPORTERS)))
        .isNotNull();
    Files.delete(pool);
    assertThat(
            verdicts(
                run(1, List.of("strata.pools=" + pool, "strata.pool.create=16MiB", REPORTERS)),
                "fail"))
        .containsKey("start");
  }

  @Test
  void findsMistakesInTheKeys() throws IOException {
    createPool(PoolOwner.of(1, "abc"));

    Map<String, String> failed =
        verdicts(run(1, List.of("strata.pools=" + pool, "strata.spill.force=x")), "fail");

    assertThat(failed.get("configuration")).contains("strata.spill.force").contains("found 'x'");
  }

  @Test
  void findsAMissingReporter() throws IOException {
    createPool(PoolOwner.of(1, "abc"));

    assertThat(verdicts(run(1, List.of("strata.pools=" + pool)), "fail").get("configuration"))
        .contains("metric.reporters");
  }

  @Test
  void findsAPoolAndALogDirectoryOfDifferentMoments() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    UUID id = UUID.randomUUID();
    Path older = directory.resolve("older.pool");
    UserDefinedFileAttributeView attributes =
        Files.getFileAttributeView(logs, UserDefinedFileAttributeView.class);
    attributes.write("strata.directory", UTF_8.encode(id.toString()));
    try (Pool opened = Pool.open(pool, MemoryType.MAPPED, PoolOwner.ANY)) {
      Slot shared = opened.allocateSlot(id, "orders-0/0.log").orElseThrow();
      assertThat(shared.committedLength()).isZero();
      attributes.write("strata.moments", moment(opened, id, 1));
    }
    assertThat(verdicts(run(0, sound()), "fail")).isEmpty();

    Files.copy(pool, older);
    try (Pool opened = Pool.open(pool, MemoryType.MAPPED, PoolOwner.ANY)) {
      ByteBuffer before = moment(opened, id, 2);
      opened.moments().begin(id, 3);
      opened.moments().settle(id);
      attributes.write("strata.moments", before);
    }
    assertThat(verdicts(run(1, sound()), "fail").get("start"))
        .contains("the log directory is older than the pool file", "1970-01-01T00:00:00.003Z");

    Files.move(older, pool, StandardCopyOption.REPLACE_EXISTING);
    assertThat(verdicts(run(1, sound()), "fail").get("start"))
        .contains("the pool file is older than the log directory");
  }

  private static ByteBuffer moment(Pool pool, UUID directory, long now) throws IOException {
    long moment = pool.moments().begin(directory, now);
    pool.moments().settle(directory);
    return UTF_8.encode(pool.info().id() + "=" + moment + "\n");
  }

  @Test
  void findsAnotherProvidersFlag() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    environment.put("KAFKA_OPTS", FLAG + "s");

    assertThat(verdicts(run(1, sound()), "fail").get("flag")).contains("Providers");
  }

  @Test
  void findsTheFlagOfARunningBroker() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    long pid = ProcessHandle.current().pid();
    Path process = Files.createDirectory(root.resolve("proc/" + pid));
    Path open = Files.createDirectory(process.resolve("fd")).resolve("7");
    Path unused = Files.createSymbolicLink(open, pool);
    Files.writeString(
        Files.createDirectory(process.resolve("fdinfo")).resolve("7"),
        "pos:\t0\nlock:\t1: OFDLCK ADVISORY  WRITE -1 00:2d:7 0 EOF\n");
    Files.writeString(process.resolve("cmdline"), "java\0" + FLAG + "\0kafka.Kafka\0");
    Files.writeString(process.resolve("limits"), "Max open files   unlimited  unlimited  files\n");
    environment.clear();

    Map<String, String> found = verdicts(run(0, sound()), "ok");

    assertThat(found.get("flag")).isEqualTo("is in the broker's command line (process %d)", pid);
    assertThat(found.get("broker")).startsWith("runs as process " + pid);
    assertThat(found.get("open files")).isEqualTo("no limit for the broker, with 0 segments");

    Files.writeString(process.resolve("cmdline"), "java\0kafka.Kafka\0");
    assertThat(verdicts(run(1, sound()), "fail").get("flag")).startsWith("is not in the broker's");
  }

  @Test
  void findsArchivesThatEndTheNextStart() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    Path without = Files.writeString(directory.resolve("kafka.jsa"), "kafka/Kafka");
    Path with =
        Files.writeString(
            directory.resolve("strata.jsa"),
            "x".repeat((1 << 16) - 20) + "io/strata/kafka/nio/StrataFileSystemProvider\0");

    environment.put("KAFKA_JVM_PERFORMANCE_OPTS", "-XX:SharedArchiveFile=" + without);
    assertThat(verdicts(run(0, sound()), "ok").get("class archive"))
        .isEqualTo(without + " was recorded without Strata's provider");

    environment.put(
        "KAFKA_JVM_PERFORMANCE_OPTS", "-XX:SharedArchiveFile=%s:%s".formatted(without, with));
    assertThat(verdicts(run(1, sound()), "fail").get("class archive"))
        .isEqualTo(with + " was recorded with Strata's provider: a JVM with it does not start");

    environment.put("KAFKA_JVM_PERFORMANCE_OPTS", "-XX:AOTCache=" + with);
    assertThat(verdicts(run(1, sound()), "fail")).containsKey("class archive");

    environment.put(
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "-XX:+AutoCreateSharedArchive -XX:SharedArchiveFile=" + directory.resolve("new.jsa"));
    assertThat(verdicts(run(1, sound()), "fail").get("class archive"))
        .startsWith("-XX:+AutoCreateSharedArchive has the JVM record");

    for (String option :
        List.of("-XX:ArchiveClassesAtExit=a", "-XX:AOTCacheOutput=a", "-XX:AOTMode=record")) {
      environment.put("KAFKA_JVM_PERFORMANCE_OPTS", option);
      assertThat(verdicts(run(0, sound()), "warn").get("class archive")).startsWith(option);
    }
  }

  @Test
  void findsAgentsThatUseUnixDomainSockets() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    String datadog = FLAG + " -javaagent:/opt/dd-java-agent.jar";

    for (String option :
        List.of(
            "-Ddd.trace.agent.url=unix:///var/run/datadog/apm.socket",
            "-Ddd.dogstatsd.socket=/var/run/datadog/dsd.socket")) {
      environment.put("KAFKA_OPTS", datadog + " " + option);
      assertThat(verdicts(run(0, sound()), "warn").get("unix domain sockets")).startsWith(option);
    }
    environment.put("KAFKA_OPTS", datadog);
    environment.put("DD_TRACE_AGENT_URL", "unix:///var/run/datadog/apm.socket");
    assertThat(verdicts(run(0, sound()), "warn").get("unix domain sockets"))
        .startsWith("DD_TRACE_AGENT_URL=unix:");

    environment.put("DD_TRACE_AGENT_URL", "http://localhost:8126");
    assertThat(verdicts(run(0, sound()), "warn")).doesNotContainKey("unix domain sockets");

    environment.remove("DD_TRACE_AGENT_URL");
    Files.createFile(
        Files.createDirectories(root.resolve("var/run/datadog")).resolve("apm.socket"));
    assertThat(verdicts(run(0, sound()), "warn").get("unix domain sockets"))
        .startsWith("Datadog's agent uses ");
    environment.put("KAFKA_OPTS", datadog + " -Ddd.trace.agent.url=http://localhost:8126");
    assertThat(verdicts(run(0, sound()), "warn")).doesNotContainKey("unix domain sockets");
  }

  @Test
  void findsAMissingAndATwofoldJar() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    Files.createFile(libs.resolve("strata-kafka-2.jar"));
    assertThat(verdicts(run(1, sound()), "fail").get("jar")).contains("2 jars of Strata");

    Files.delete(libs.resolve("strata-kafka-1.jar"));
    Files.delete(libs.resolve("strata-kafka-2.jar"));
    assertThat(verdicts(run(1, sound()), "fail").get("jar")).contains("neither").contains("libs");

    environment.put("CLASSPATH", directory + "/*");
    Files.createFile(directory.resolve("strata-kafka-1.jar"));
    assertThat(verdicts(run(0, sound()), "ok").get("jar")).contains("strata-kafka-1.jar");
  }

  @Test
  void warnsOfAnUntestedKafka() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    Files.move(libs.resolve("kafka-clients-4.3.1.jar"), libs.resolve("kafka-clients-5.0.0.jar"));

    assertThat(verdicts(run(0, sound()), "warn").get("kafka")).contains("Kafka 5.0.0");
  }

  /** The keys of a sound installation, and one log directory more. */
  private List<String> soundWith(Path logDirectory) {
    List<String> lines = new ArrayList<>(sound());
    lines.add("log.dirs=" + logs + "," + logDirectory);
    return lines;
  }

  @Test
  void findsAMissingLogDirectory() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    List<String> lines = soundWith(directory.resolve("unmounted"));

    // As Kafka, which ends where a log directory has no meta.properties.
    assertThat(verdicts(run(1, lines), "fail"))
        .containsEntry("log directory " + directory.resolve("unmounted"), "is not there");

    lines.add("metadata.log.dir=" + directory.resolve("unmounted"));
    assertThat(verdicts(run(1, lines), "fail"))
        .containsEntry("log directory " + directory.resolve("unmounted"), "is not there");
  }

  /** Kafka does not start without it, and it may be beside the log directories. */
  @Test
  void findsAMissingDirectoryOfTheMetadata() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    List<String> lines = new ArrayList<>(sound());
    Path metadata = directory.resolve("metadata");
    lines.add("metadata.log.dir=" + metadata);

    assertThat(verdicts(run(1, lines), "fail"))
        .containsEntry("log directory " + metadata, "is not there");

    Files.createDirectory(metadata);
    assertThat(verdicts(run(1, lines), "fail").get("log directory " + metadata))
        .contains("has no meta.properties, and other log directories have");
  }

  @Test
  void findsAMountPointWithoutItsFileSystem() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    Path empty = Files.createDirectory(directory.resolve("empty"));
    List<String> lines = soundWith(empty);

    assertThat(verdicts(run(1, lines), "fail").get("log directory " + empty))
        .contains("has no meta.properties, and other log directories have");
  }

  /** Kafka starts with it offline. */
  @Test
  void warnsOfALogDirectoryThatCannotBeUsed() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    Path file = Files.createFile(directory.resolve("file"));
    List<String> lines = soundWith(file);

    assertThat(verdicts(run(0, lines), "warn")).containsKey("log directory " + file);
  }

  @Test
  void findsAPoolOfAnotherBroker() throws IOException {
    createPool(PoolOwner.of(2, "abc"));

    assertThat(verdicts(run(1, sound()), "fail").get("pool " + pool))
        .contains("broker 2 of cluster abc")
        .contains("broker 1 of cluster abc");
  }

  @Test
  void findsADamagedPool() throws IOException {
    Files.write(pool, new byte[(int) (4 * MIB)]);

    assertThat(verdicts(run(1, sound()), "fail").get("pool " + pool)).contains("cannot be used: ");
  }

  @Test
  void saysWhetherAMissingPoolIsCreated() throws IOException {
    assertThat(verdicts(run(1, sound()), "fail")).containsEntry("pool " + pool, "is not there");

    List<String> create = new ArrayList<>(sound());
    create.add("strata.pool.create=16MiB");
    assertThat(verdicts(run(0, create), "ok").get("pool " + pool))
        .contains("the next start creates it with 16 MiB, on the file system of ");
    assertThat(pool).doesNotExist();

    new SegmentTag(UUID.randomUUID(), 0, 1).write(logFile());
    assertThat(verdicts(run(1, create), "fail").get("pool " + pool))
        .contains("does not create it")
        .contains("has bytes in pool");
  }

  @Test
  void findsSegmentsWhosePoolIsNotNamed() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    new SegmentTag(UUID.randomUUID(), 0, 1).write(logFile());

    assertThat(verdicts(run(1, sound()), "fail").get("segments")).contains("1 segments");
  }

  @Test
  void findsSegmentsOfALogDirectoryThatIsNotConfigured() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    UUID away = UUID.randomUUID();
    try (Pool open = Pool.open(pool, MemoryType.MAPPED, PoolOwner.of(1, "abc"))) {
      Slot slot = open.allocateSlot(away, "orders-0/00000000000000000000.log").orElseThrow();
      assertThat(slot.grow()).isTrue();
      slot.commit(1000);
    }

    assertThat(verdicts(run(1, sound()), "fail").get("start"))
        .contains("1 segments", "of log directory " + away);
  }

  @Test
  void insistsOnDaxWhereTheKeysDo() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    List<String> lines = new ArrayList<>(sound());
    lines.add("strata.require.dax=true");

    assertThat(verdicts(run(1, lines), "fail").get("pool " + pool)).contains("strata.require.dax");
  }

  @Test
  void saysThatAPoolIsBesideTheLogDirectories() throws IOException {
    createPool(PoolOwner.of(1, "abc"));

    assertThat(verdicts(run(0, sound()), "ok").get("pool " + pool))
        .contains(", on the file system of ", "so that copies down compete with appends");
  }

  @Test
  void warnsOfLowLimits() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    Files.writeString(root.resolve("proc/self/limits"), "Max open files   1024   4096   files\n");
    Files.writeString(root.resolve("proc/sys/vm/max_map_count"), "5000\n");

    assertThat(verdicts(run(0, sound()), "warn"))
        .hasEntrySatisfying(
            "open files", text -> assertThat(text).startsWith("1024 for this shell"))
        .hasEntrySatisfying("vm.max_map_count", text -> assertThat(text).startsWith("5000"));
  }

  /** The kernel answers a second read of such a file with its end: the first must ask for all. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void readsTheKernelsFilesAtOnce() throws IOException {
    byte[] text = new byte[100];
    int length;
    try (FileInputStream file = new FileInputStream("/proc/sys/vm/max_map_count")) {
      length = file.read(text);
    }

    assertThat(Surroundings.ofThisProcess().number("proc/sys/vm/max_map_count"))
        .hasValue(Long.parseLong(new String(text, 0, length, UTF_8).strip()));
  }

  @Test
  void knowsThatTheRemoteTierAloneNeedsNeitherPoolNorFlag() throws IOException {
    environment.remove("KAFKA_OPTS");
    Path store = Files.createDirectory(directory.resolve("store"));

    JsonNode found = run(0, remoteAlone(store));
    assertThat(verdicts(found, "fail")).isEmpty();
    assertThat(verdicts(found, "warn")).isEmpty();
    assertThat(verdicts(found, "ok")).containsKeys("configuration", "flag", "jar", "kafka");

    assertThat(verdicts(run(1, remoteAlone(store.resolve("away"))), "fail").get("configuration"))
        .contains("rsm.config.nas.directories", "is not there");

    environment.put("KAFKA_OPTS", FLAG);
    assertThat(verdicts(run(1, remoteAlone(store)), "fail").get("flag")).contains("no pool");
  }

  @Test
  void saysHowManyRemoteReadsThePartitionsNeed() throws IOException {
    environment.remove("KAFKA_OPTS");
    Path store = Files.createDirectory(directory.resolve("store"));
    Path unused = Files.createDirectories(store.resolve("topics").resolve("orders-eu"));
    for (int partition = 0; partition < 60; partition++) {
      Path unusedToo = Files.createDirectory(logs.resolve("orders-eu-" + partition));
      Path unusedThree = Files.createDirectory(logs.resolve("local-" + partition));
    }
    List<String> keys = new ArrayList<>(remoteAlone(store));
    assertThat(verdicts(run(0, keys), "warn").get("remote.log.reader.max.pending.tasks"))
        .contains("100, with 60 partitions");
    keys.add("remote.log.reader.max.pending.tasks=120");
    assertThat(verdicts(run(0, keys), "ok")).containsKey("remote.log.reader.max.pending.tasks");
  }

  @Test
  void findsALogDirectoryWithRecordsInAPoolThatIsNotConfigured() throws IOException {
    environment.remove("KAFKA_OPTS");
    Path store = Files.createDirectory(directory.resolve("store"));
    Files.writeString(
        logs.resolve("meta.properties"),
        """
        #strata-marker 1
        #strata-begin
        version=1
        node.id=1
        cluster.id=abc
        #strata-end
        version=In use by Strata.
        """);

    assertThat(verdicts(run(1, remoteAlone(store)), "fail").get("log directory " + logs))
        .contains("newest records are in a pool");
  }

  private List<String> remoteAlone(Path store) {
    return List.of(
        "node.id=1",
        "log.dirs=" + logs,
        "remote.log.storage.system.enable=true",
        "remote.log.storage.manager.class.name="
            + "io.strata.kafka.migration.remote.StrataRemoteStorageManager",
        "rsm.config.levels=nas",
        "rsm.config.nas.directories=" + store);
  }

  @Test
  void leavesAControllerAlone() throws IOException {
    JsonNode found = run(0, List.of("process.roles=controller", "strata.pools=/nowhere"));

    assertThat(verdicts(found, "ok").get("configuration")).contains("only a controller");
  }

  @Test
  void changesNothing() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    try (Pool open = Pool.open(pool, MemoryType.MAPPED, PoolOwner.of(1, "abc"))) {
      Path log = logFile();
      UUID id = UUID.randomUUID();
      Files.setAttribute(
          logs, "user:strata.directory", ByteBuffer.wrap(id.toString().getBytes(UTF_8)));
      Slot slot = open.allocateSlot(id, "orders-0/" + log.getFileName()).orElseThrow();
      assertThat(slot.grow()).isTrue();
      slot.commit(1000);
      new SegmentTag(open.info().id(), slot.index(), slot.generation()).write(log);
    }
    Map<Path, FileTime> before = times();

    run(0, sound());

    assertThat(times()).isEqualTo(before);
  }

  private Map<Path, FileTime> times() throws IOException {
    Map<Path, FileTime> times = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(path -> !path.endsWith("server.properties")).toList()) {
        times.put(
            file,
            file.equals(directory) ? FileTime.fromMillis(0) : Files.getLastModifiedTime(file));
      }
    }
    return times;
  }

  private Path logFile() throws IOException {
    Path partition = Files.createDirectory(logs.resolve("orders-0"));
    return Files.createFile(partition.resolve("00000000000000000000.log"));
  }

  private List<String> sound() {
    return List.of("strata.pools=" + pool, REPORTERS);
  }

  private void createPool(PoolOwner owner) throws IOException {
    Pool.create(
        PoolSpec.of(pool, MemoryType.MAPPED, 16 * MIB).withOwner(owner), ProgressListener.NONE);
  }

  private JsonNode run(int expected, List<String> lines) throws IOException {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        commandLine()
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute("--config", config(lines).toString(), "--libs", libs.toString(), "--json");
    assertThat(err.toString()).isEmpty();
    assertThat(code).as("%s", out).isEqualTo(expected);
    return new ObjectMapper().readTree(out.toString());
  }

  private CommandLine commandLine() {
    return new CommandLine(
        new DoctorCommand(new Surroundings(environment, Optional.empty(), root)));
  }

  private String[] arguments(List<String> lines) throws IOException {
    return new String[] {"--config", config(lines).toString(), "--libs", libs.toString()};
  }

  private Path config(List<String> lines) throws IOException {
    List<String> all = new ArrayList<>(List.of("node.id=1", "log.dirs=" + logs));
    all.addAll(lines);
    return Files.write(directory.resolve("server.properties"), all);
  }

  private static Map<String, String> verdicts(JsonNode document, String verdict) {
    Map<String, String> found = new HashMap<>();
    document
        .get("checks")
        .forEach(
            check -> {
              if (check.get("verdict").asText().equals(verdict)) {
                found.merge(
                    check.get("what").asText(),
                    check.get("found").asText(),
                    (one, other) -> one + "; " + other);
              }
            });
    return found;
  }

  /** Another owner does not help on a file system that is mounted read-only. */
  @Test
  void saysWhetherTheMountOrTheOwnerIsWhy() throws Exception {
    Path file = Files.createTempFile("read-only", "");
    try {
      assertThat(StorageCheck.notWritable("pool", file, true))
          .isEqualTo(
              new Diagnosis(
                  Verdict.FAIL,
                  "pool",
                  "its file system is mounted read-only",
                  "look at the kernel's log (dmesg), then 'mount -o remount,rw' it"));
      assertThat(StorageCheck.notWritable("pool", file, false).remedy())
          .contains("correct the owner");
    } finally {
      Files.delete(file);
    }
  }

  /** Kafka up to 4.3.1 counts what is local and remote twice: KAFKA-20732. */
  @Test
  void namesTieredTopicsThatSizeRetentionDeletesTooEarly() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    Path metadata = Files.createDirectory(logs.resolve("__cluster_metadata-0"));
    for (String topic : List.of("by-size", "by-time", "local", "usual")) {
      Files.createDirectory(logs.resolve(topic + "-0"));
    }
    MetadataLog.append(
        metadata,
        MetadataLog.LOG,
        0,
        topic("by-size", "remote.storage.enable", "true"),
        topic("by-size", "retention.bytes", "1000000"),
        topic("by-time", "remote.storage.enable", "true"),
        topic("by-time", "retention.bytes", "-1"),
        topic("local", "retention.bytes", "1000000"),
        topic("deleted", "remote.storage.enable", "true"),
        topic("deleted", "retention.bytes", "1000000"),
        topic("usual", "remote.storage.enable", "true"));
    List<String> lines = new ArrayList<>(sound());
    lines.add("remote.log.storage.manager.class.name=another.Manager");

    assertThat(verdicts(run(0, lines), "warn").get("size retention"))
        .contains("4.3.1", "KAFKA-20732", "1 tiered topics", ": by-size");
    lines.add("log.retention.bytes=5000000");
    assertThat(verdicts(run(0, lines), "warn").get("size retention"))
        .contains("2 tiered topics", ": by-size, usual");
    Files.move(libs.resolve("kafka-clients-4.3.1.jar"), libs.resolve("kafka-clients-4.4.0.jar"));
    assertThat(verdicts(run(0, lines), "warn")).doesNotContainKey("size retention");
  }

  /** Kafka's remote log manager stops a broker that cannot create its topic in two minutes. */
  @Test
  void findsAMetadataTopicThatNeedsMoreReplicasThanThereAreBrokers() throws IOException {
    createPool(PoolOwner.of(1, "abc"));
    List<String> lines = new ArrayList<>(sound());
    lines.add("process.roles=broker,controller");
    lines.add("controller.quorum.voters=1@one:9093");
    assertThat(verdicts(run(0, lines), "ok")).as("no tiering").doesNotContainKey(METADATA_REPLICAS);
    lines.add("remote.log.storage.system.enable=true");
    lines.add("remote.log.storage.manager.class.name=another.Manager");

    assertThat(verdicts(run(0, lines), "warn").get(METADATA_REPLICAS))
        .as("before the first start, by the voters")
        .contains("3", "1 broker");
    lines.set(2, "process.roles=broker");
    assertThat(verdicts(run(0, lines), "ok").get(METADATA_REPLICAS))
        .as("before the first start, without a word of the brokers")
        .contains("3");
    Path metadata = Files.createDirectory(logs.resolve("__cluster_metadata-0"));
    MetadataLog.append(
        metadata, MetadataLog.LOG, 0, MetadataLog.registered(1), MetadataLog.registered(2));
    assertThat(verdicts(run(0, lines), "warn").get(METADATA_REPLICAS)).contains("3", "2 brokers");
    lines.add(METADATA_REPLICAS + "=2");
    assertThat(verdicts(run(0, lines), "ok").get(METADATA_REPLICAS)).contains("2");
    lines.remove(lines.size() - 1);
    MetadataLog.append(metadata, MetadataLog.LOG, 2, MetadataLog.topic("__remote_log_metadata"));
    assertThat(run(0, lines).toString()).as("the topic is there").doesNotContain(METADATA_REPLICAS);
  }

  private static final String METADATA_REPLICAS =
      "rlmm.config.remote.log.metadata.topic.replication.factor";

  private static byte[] topic(String name, String key, String value) {
    return MetadataLog.config(MetadataLog.TOPIC, name, key, value);
  }
}
