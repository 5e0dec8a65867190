package io.strata.kafka.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.broker.TierSpecs;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.MemoryDirectory;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.LoopMount;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is done offline to log directories: copying everything to the log files, and discarding a
 * lost pool.
 */
class DrainAndAcceptLossTest {
  private static final String FIRST = "00000000000000000000.log";

  /** On a disk: of a pool in memory the command has more to say. */
  @TempDir(factory = MemoryDirectory.OnDisk.class)
  Path directory;

  private Path logs = Path.of("");
  private Path pool = Path.of("");
  private Path config = Path.of("");

  @BeforeEach
  void createPool() throws IOException {
    createPool(directory.resolve("logs"), directory.resolve("hot.pool"));
  }

  private void createPool(Path logDirectory, Path poolFile) throws IOException {
    logs = Files.createDirectory(logDirectory);
    Files.writeString(logs.resolve("meta.properties"), "node.id=1\ncluster.id=c\n");
    Files.createFile(logs.resolve(".lock"));
    pool = poolFile;
    config = directory.resolve("server.properties");
    Files.writeString(config, "node.id=1\nlog.dirs=" + logs + "\nstrata.pools=" + pool + "\n");
    CommandLineRun.of("pool", "create", "--size", "8MiB", "--config", config).succeeds();
  }

  @Test
  void drainBringsEveryByteLogFile() throws Exception {
    byte[] small = append("orders-0/" + FIRST, 100_000);
    byte[] large = append("orders-1/" + FIRST, 9 << 20);
    assertThat(CommandLineRun.of("segments", "--config", config).succeeds().out())
        .contains("1 hot, 1 spilled");

    CommandLineRun run = CommandLineRun.of("drain", "--config", config).succeeds();

    assertThat(run.out())
        .startsWith("Copied 2 segments to their log files")
        .contains("nothing of Strata");
    assertThat(logs.resolve("orders-0").resolve(FIRST)).hasBinaryContent(small);
    assertThat(logs.resolve("orders-1").resolve(FIRST)).hasBinaryContent(large);
    assertThat(SegmentTag.read(logs.resolve("orders-0").resolve(FIRST))).isEmpty();
    assertThat(CommandLineRun.of("segments", "--config", config).succeeds().out())
        .contains("0 hot, 0 spilled, 2 logdirs");
  }

  /** A disk that is full to its last byte keeps stock Kafka from starting, too. */
  @Test
  void aLogDirectoryByTwoNamesIsRefused() throws Exception {
    byte[] bytes = append("orders-0/" + FIRST, 100_000);
    Path link = Files.createSymbolicLink(directory.resolve("link"), logs);
    Files.writeString(
        config, "node.id=1\nlog.dirs=" + logs + "," + link + "\nstrata.pools=" + pool + "\n");
    for (String command : List.of("drain", "accept-loss")) {
      assertThat(CommandLineRun.of(command, "--config", config).fails(ExitCode.REFUSED).err())
          .contains("found " + link + " by two names");
    }
    Files.writeString(config, "node.id=1\nlog.dirs=" + link + "\nstrata.pools=" + pool + "\n");
    CommandLineRun.of("drain", "--config", config).succeeds();
    assertThat(logs.resolve("orders-0").resolve(FIRST)).hasBinaryContent(bytes);
  }

  @Test
  void aPartitionThatIsAwayKeepsTheDrainIncomplete() throws Exception {
    byte[] bytes = append("orders-0/" + FIRST, 100_000);
    Path partition = logs.resolve("orders-0");
    Path away = Files.move(partition, directory.resolve("away"));
    assertThat(CommandLineRun.of("doctor", "--config", config).out())
        .contains("log files: 1 of segments in the pools are missing (" + partition)
        .contains("the one after it frees their bytes");
    CommandLineRun run = CommandLineRun.of("drain", "--config", config);
    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.err()).contains("stays in its pool: " + partition, "bring it back");
    assertThat(run.out()).contains("1 segments stay in their pools");
    assertThat(CommandLineRun.of("doctor", "--config", config).out())
        .as("no broker has run")
        .contains("the one after it frees their bytes");
    Files.move(away, partition);
    assertThat(CommandLineRun.of("doctor", "--config", config).out()).doesNotContain("log files:");
    CommandLineRun.of("drain", "--config", config).succeeds();
    assertThat(partition.resolve(FIRST)).hasBinaryContent(bytes);
  }

  @Test
  void anOlderPoolIsRefused() throws Exception {
    byte[] bytes = append("orders-0/" + FIRST, 100_000);
    Path older = Files.copy(pool, directory.resolve("older"));
    append("orders-1/" + FIRST, 100_000);
    Path current = Files.move(pool, directory.resolve("current"));
    Files.move(older, pool);
    assertThat(CommandLineRun.of("drain", "--config", config).fails(ExitCode.REFUSED).err())
        .contains("the pool file is older than the log directory");
    CommandLineRun segments = CommandLineRun.of("segments", "--config", config);
    assertThat(segments.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(segments.out()).containsPattern("orders-1 .* unreachable");
    assertThat(segments.err()).contains("the current one if it is an older copy");
    CommandLineRun loss = CommandLineRun.of("accept-loss", "--config", config, "--yes");
    assertThat(loss.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(loss.err()).contains("the pool file is older than the log directory");
    assertThat(
            CommandLineRun.of("accept-loss", "--config", config, "--pool", UUID.randomUUID()).err())
        .contains("--pool: found", "expected the UUID of a pool that the log directories name");
    Files.move(current, pool, StandardCopyOption.REPLACE_EXISTING);
    CommandLineRun.of("drain", "--config", config).succeeds();
    assertThat(logs.resolve("orders-0").resolve(FIRST)).hasBinaryContent(bytes);
  }

  /** Another broker's log directories do not say what is needed in this pool. */
  @Test
  void whatChangesAPoolInsistsOnItsOwnersConfiguration() throws Exception {
    byte[] bytes = append("orders-0/" + FIRST, 100_000);
    UUID logDirectory = LogDirectory.find(logs).orElseThrow().id();
    Path others = Files.createDirectory(directory.resolve("others"));
    Files.writeString(others.resolve("meta.properties"), "node.id=2\ncluster.id=c\n");
    Path other = directory.resolve("other.properties");
    Files.writeString(other, "node.id=2\nlog.dirs=" + others + "\nstrata.pools=" + pool + "\n");
    for (List<String> command :
        List.of(
            List.of("forget", "--yes", "--directory", logDirectory.toString()),
            List.of("grow", "--size", "16MiB"),
            List.of("repair", "--yes"))) {
      List<Object> arguments = new ArrayList<>(List.of("pool"));
      arguments.addAll(command);
      arguments.addAll(List.of("--config", other, pool));
      assertThat(CommandLineRun.of(arguments.toArray()).fails(ExitCode.REFUSED).err())
          .contains("found a pool of broker 1", "expected one of broker 2");
    }
    CommandLineRun.of("drain", "--config", config).succeeds();
    assertThat(logs.resolve("orders-0").resolve(FIRST)).hasBinaryContent(bytes);
  }

  @Test
  void drainWithoutSpaceChangesNothing() throws Exception {
    try (LoopMount disk = LoopMount.of(directory, "ext4", 32)) {
      createPool(disk.directory().resolve("logs"), directory.resolve("other.pool"));
      byte[] bytes = append("orders-0/" + FIRST, 5 << 20);
      Path filler = disk.directory().resolve("filler");
      FileStore store = Files.getFileStore(logs);
      while (store.getUsableSpace() > 3 << 20) {
        Files.write(
            filler, new byte[1 << 20], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      }
      long free = store.getUsableSpace();

      assertThat(CommandLineRun.of("drain", "--config", config).fails(ExitCode.REFUSED).err())
          .contains("log directories [" + logs + "]", "expected 5 MiB", "make the file system")
          .doesNotContain("No space left");

      assertThat(store.getUsableSpace()).isEqualTo(free);
      assertThat(SegmentTag.read(logs.resolve("orders-0").resolve(FIRST))).isPresent();
      Files.delete(filler);
      CommandLineRun.of("drain", "--config", config).succeeds();
      assertThat(logs.resolve("orders-0").resolve(FIRST)).hasBinaryContent(bytes);
    }
  }

  /** As two volumes of a container on one disk: each has room for itself, and not for both. */
  @Test
  void theSpaceOfADiskThatIsMountedTwiceIsCountedOnce() throws Exception {
    try (LoopMount disk = LoopMount.of(directory, "ext4", 32);
        LoopMount again = LoopMount.again(disk, directory.resolve("again"))) {
      createPool(disk.directory().resolve("logs"), directory.resolve("other.pool"));
      CommandLineRun.of("pool", "grow", "--size", "16MiB", pool).succeeds();
      Path first = logs;
      logs = secondLogDirectory(again.directory().resolve("second"));
      append("audit-0/" + FIRST, 4 << 20);
      logs = first;
      append("orders-0/" + FIRST, 4 << 20);
      Path filler = disk.directory().resolve("filler");
      while (Files.getFileStore(logs).getUsableSpace() > 6 << 20) {
        Files.write(
            filler, new byte[1 << 20], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      }

      assertThat(CommandLineRun.of("drain", "--config", config).fails(ExitCode.REFUSED).err())
          .contains("expected 8 MiB", "make the file system");
    }
  }

  /** Another owner does not help; the mount's options are another directory's, by the JDK. */
  @Test
  @SuppressWarnings("try") // mounted until it is closed
  void aReadOnlyFileSystemIsNoQuestionOfPermissions() throws Exception {
    Path part = Files.createDirectory(directory.resolve("part"));
    createPool(directory.resolve("other-logs"), part.resolve("other.pool"));
    try (LoopMount readOnly = LoopMount.readOnly(part)) {
      for (String command : List.of("status", "drain", "doctor")) {
        CommandLineRun run = CommandLineRun.of(command, "--config", config);
        assertThat(run.out() + run.err()).as(command).isNotEmpty().doesNotContain("chown", "owner");
      }
      assertThat(CommandLineRun.of("drain", "--config", config).fails(ExitCode.REFUSED).err())
          .contains("Read-only file system", "remount");
    }
  }

  @Test
  void drainTellsMachinesWhatItDid() throws Exception {
    append("orders-0/" + FIRST, 100_000);

    JsonNode json = CommandLineRun.of("drain", "--config", config, "--json").succeeds().json();

    assertThat(json.get("complete").asBoolean()).isTrue();
    assertThat(json.get("segments").asInt()).isEqualTo(1);
    assertThat(json.get("bytes").asLong()).isEqualTo(100_000);
    assertThat(CommandLineRun.of("drain", "--config", config).succeeds().out())
        .startsWith("Copied 0 segments to their log files, 0 B");
  }

  /** The file system has lost DAX: that is when the records must get out. */
  @Test
  void drainDoesNotInsistOnDax() throws Exception {
    byte[] bytes = append("orders-0/" + FIRST, 100_000);
    Files.writeString(config, "strata.require.dax=true\n", StandardOpenOption.APPEND);

    CommandLineRun.of("drain", "--config", config).succeeds();

    assertThat(logs.resolve("orders-0").resolve(FIRST)).hasBinaryContent(bytes);
  }

  @Test
  void drainIsRefusedWhileThePoolIsInUse() throws Exception {
    append("orders-0/" + FIRST, 10);
    try (Pool open = Pool.open(pool, MemoryType.MAPPED, PoolOwner.of(1, "c"))) {
      assertThat(open.slots()).hasSize(1);

      assertThat(CommandLineRun.of("drain", "--config", config).fails(ExitCode.REFUSED).err())
          .contains("locked");
    }
  }

  @Test
  void aLogDirectoryIsNotGivenUpWhileAPoolIsInUse() throws Exception {
    byte[] bytes = append("orders-0/" + FIRST, 100_000);
    try (Pool open = Pool.open(pool, MemoryType.MAPPED, PoolOwner.of(1, "c"))) {
      assertThat(open.slots()).hasSize(1);

      assertThat(
              CommandLineRun.of("accept-loss", "--config", config, "--log-directory", logs, "--yes")
                  .fails(ExitCode.REFUSED)
                  .err())
          .contains("locked");
    }
    CommandLineRun.of("drain", "--config", config).succeeds();
    assertThat(logs.resolve("orders-0").resolve(FIRST)).hasBinaryContent(bytes);
  }

  @Test
  void drainAndAcceptLossAreRefusedWhileABrokerHoldsALogDirectory() throws Exception {
    append("orders-0/" + FIRST, 10);
    Process broker =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                LockHolder.class.getName(),
                logs.resolve(".lock").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      assertThat(broker.getInputStream().read()).isEqualTo('L');

      for (String command : List.of("drain", "accept-loss")) {
        assertThat(CommandLineRun.of(command, "--config", config).fails(ExitCode.REFUSED).err())
            .contains(logs.toString())
            .contains("stop the broker");
      }
    } finally {
      broker.getOutputStream().close();
      broker.waitFor();
    }
    CommandLineRun.of("drain", "--config", config).succeeds();
  }

  /** Does to a log directory what a broker does. */
  static final class LockHolder {
    private LockHolder() {}

    @SuppressWarnings("try") // what is held is only to be released
    public static void main(String[] args) throws IOException {
      try (FileChannel channel =
              FileChannel.open(
                  Path.of(args[0]), StandardOpenOption.READ, StandardOpenOption.WRITE);
          var lock = channel.lock()) {
        System.out.write("L".getBytes(UTF_8));
        System.out.flush();
        System.in.read();
      }
    }
  }

  @Test
  void aSoundTierHasLostNothing() throws Exception {
    append("orders-0/" + FIRST, 10);

    CommandLineRun run = CommandLineRun.of("accept-loss", "--config", config, "--yes").succeeds();

    assertThat(run.out()).contains("no loss to accept");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void theLossOfAPoolIsAcceptedOnRequestOnly() throws Exception {
    append("orders-0/" + FIRST, 10);
    Path stock = Files.createDirectory(logs.resolve("audit-0"));
    Files.write(stock.resolve(FIRST), new byte[10]);
    Path stopped = Files.createFile(logs.resolve(".kafka_cleanshutdown"));
    Path points = logs.resolve("recovery-point-offset-checkpoint");
    Files.writeString(points, "0\n2\naudit 0 7\norders 0 7\n");
    Files.delete(pool);

    CommandLineRun plan = CommandLineRun.of("accept-loss", "--config", config);
    assertThat(plan.code()).isEqualTo(ExitCode.REFUSED.code());
    assertThat(plan.out().lines())
        .containsExactly(
            "PARTITION  MAY LACK RECORDS FROM OFFSET  FILES TO DELETE  BYTES  THEIR OFFSETS "
                + " DIRECTORY",
            "orders-0                              0                0      0              -  "
                + logs.toRealPath().resolve("orders-0"),
            "Would delete 0 files of 0 bytes in 0 of 1 partitions.");
    assertThat(plan.err()).contains("--yes").contains(pool.toString());
    assertThat(stopped).exists();
    assertThat(points).content().contains("orders 0 7");

    CommandLineRun done = CommandLineRun.of("accept-loss", "--config", config, "--yes", "--json");
    assertThat(done.code()).isZero();
    assertThat(done.json().at("/partitions/0/topic").asText()).isEqualTo("orders");
    assertThat(done.json().at("/partitions/0/fromOffset").asInt()).isZero();
    assertThat(stopped).doesNotExist();
    assertThat(points).content().isEqualTo("0\n2\naudit 0 7\norders 0 0\n");
    assertThat(SegmentTag.read(logs.resolve("orders-0").resolve(FIRST))).isEmpty();
    assertThat(stock.resolve(FIRST)).exists();
    assertThat(CommandLineRun.of("accept-loss", "--config", config, "--yes").out())
        .contains("no loss to accept");
  }

  /** One letter is mistyped, and then another pool is made there. */
  @Test
  void aPoolThatALogDirectoryNamesIsNotLost() throws Exception {
    byte[] appended = append("orders-0/" + FIRST, 1000);
    Path file = logs.resolve("orders-0").resolve(FIRST);
    SegmentTag tag = SegmentTag.read(file).orElseThrow();
    String right = Files.readString(config);
    Files.writeString(config, right.replace("hot.pool", "hat.pool"));

    for (int i = 0; i < 2; i++) {
      CommandLineRun run = CommandLineRun.of("accept-loss", "--config", config, "--yes");
      assertThat(run.code()).isEqualTo(ExitCode.REFUSED.code());
      assertThat(run.out()).isEmpty();
      assertThat(run.err())
          .contains("not lost", tag.pool() + "=" + pool, directory.resolve("hat.pool").toString());
      assertThat(SegmentTag.read(file)).contains(tag);
      if (i == 0) {
        CommandLineRun.of("pool", "create", "--size", "8MiB", "--config", config).succeeds();
      }
    }

    Files.writeString(config, right);
    CommandLineRun.of("drain", "--config", config).succeeds();
    assertThat(file).hasBinaryContent(appended);
  }

  @Test
  void acceptLossSaysWhereItLooked() throws Exception {
    append("orders-0/" + FIRST, 1000);
    Files.writeString(config, Files.readString(config).replace("hot.pool", "hat.pool"));
    Files.delete(pool);

    assertThat(CommandLineRun.of("accept-loss", "--config", config, "--yes").err())
        .contains("at any path")
        .contains("[" + directory.resolve("hat.pool") + ", " + pool + "]");
  }

  /** They would be looked for below this process's working directory, not the broker's. */
  @Test
  void whatChangesSomethingInsistsOnTheBrokersWorkingDirectory() throws Exception {
    byte[] appended = append("orders-0/" + FIRST, 1000);
    Files.writeString(config, "node.id=1\nlog.dirs=logs\nstrata.pools=" + pool + "\n");

    for (String command :
        List.of(
            "drain",
            "accept-loss --yes",
            "pool repair",
            "pool forget --directory " + UUID.randomUUID())) {
      List<Object> arguments = new ArrayList<>(List.of(command.split(" ")));
      arguments.addAll(List.of("--config", config));
      assertThat(CommandLineRun.of(arguments.toArray()).fails(ExitCode.REFUSED).err())
          .contains("relative log directories [logs]")
          .contains("--working-directory");
    }
    CommandLineRun.of("drain", "--config", config, "--working-directory", directory).succeeds();
    assertThat(logs.resolve("orders-0").resolve(FIRST)).hasBinaryContent(appended);
  }

  /** One that is not there, and one with a link in a circle, which root cannot read either. */
  @Test
  void acceptLossNamesTheLogDirectoriesThatItCouldNotLookAt() throws Exception {
    append("orders-0/" + FIRST, 10);
    Path missing = directory.resolve("unmounted");
    Path failing = Files.createDirectory(directory.resolve("failing"));
    Path partition = Files.createDirectory(failing.resolve("audit-0"));
    Files.createSymbolicLink(partition.resolve(FIRST), partition.resolve(FIRST));
    Files.writeString(
        config,
        Files.readString(config)
            .replace("log.dirs=" + logs, "log.dirs=%s,%s,%s".formatted(logs, missing, failing)));

    CommandLineRun sound = CommandLineRun.of("accept-loss", "--config", config, "--yes");
    assertThat(sound.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(sound.out()).contains("No loss to accept in the log directories that could be read");
    assertThat(sound.err())
        .contains("log directory " + missing + " was not looked at: it is not there")
        .contains("log directory " + failing + " was not looked at: ")
        .contains(partition.resolve(FIRST).toString());

    Files.delete(pool);
    CommandLineRun lost = CommandLineRun.of("accept-loss", "--config", config, "--yes", "--json");
    assertThat(lost.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(lost.json().at("/skipped/0/logDirectory").asText()).isEqualTo(missing.toString());
    assertThat(lost.json().at("/skipped/1/reason").asText()).contains("audit-0");
    assertThat(SegmentTag.read(logs.resolve("orders-0").resolve(FIRST))).isEmpty();
  }

  @Test
  void aPoolOfANewerVersionIsNotLost() throws Exception {
    append("orders-0/" + FIRST, 10);
    writeVersion(99);

    CommandLineRun run =
        CommandLineRun.of("accept-loss", "--config", config, "--yes").fails(ExitCode.REFUSED);

    assertThat(run.err()).contains("version 99");
    assertThat(logs.resolve("orders-0")).isDirectory();
  }

  @Test
  void anOlderCopyOfAPoolIsTakenForLostOnRequest() throws Exception {
    append("orders-0/" + FIRST, 1000);
    SegmentTag tag = SegmentTag.read(logs.resolve("orders-0").resolve(FIRST)).orElseThrow();
    Path older = Files.copy(pool, directory.resolve("older.pool"));
    append("orders-1/" + FIRST, 1000);
    Files.move(older, pool, StandardCopyOption.REPLACE_EXISTING);

    assertThat(CommandLineRun.of("accept-loss", "--config", config, "--dry-run").err())
        .contains("pool " + pool + ": the pool file is older than the log directory")
        .contains("--pool " + tag.pool())
        .doesNotContain("create a new one");
    CommandLineRun run =
        CommandLineRun.of("accept-loss", "--config", config, "--pool", tag.pool(), "--yes");

    assertThat(run.code()).isZero();
    assertThat(run.out()).contains("orders-0");
    assertThat(run.err())
        .isEqualToIgnoringNewLines(
            """
            strata: pool %s is lost; next, before the broker starts: move the file away and \
            create a new one with 'strata pool create'\
            """
                .formatted(pool));
    assertThat(SegmentTag.read(logs.resolve("orders-0").resolve(FIRST))).isEmpty();
  }

  /** The log directory's volume is restored from a snapshot, and the current one is gone. */
  @Test
  void whatThePoolHasOfAnOlderLogDirectoryIsGivenUpOnRequest() throws Exception {
    append("orders-0/" + FIRST, 1000);
    Path older = directory.resolve("older");
    assertThat(new ProcessBuilder("cp", "-a", "" + logs, "" + older).start().waitFor()).isZero();
    append("orders-0/00000000000000001000.log", 2000);
    append("orders-1/" + FIRST, 1000);
    Files.move(logs, directory.resolve("current"));
    Files.move(older, logs);

    assertThatThrownBy(this::openTier)
        .hasMessageContaining("the log directory is older than the pool file")
        .hasMessageContaining("accept-loss --log-directory " + logs);
    CommandLineRun first = CommandLineRun.of("accept-loss", "--config", config, "--dry-run");
    assertThat(first.err()).contains("accept-loss --log-directory " + logs);
    CommandLineRun.of("accept-loss", "--config", config, "--log-directory", "/", "--yes")
        .fails(ExitCode.REFUSED);
    CommandLineRun run =
        CommandLineRun.of("accept-loss", "--config", config, "--log-directory", logs, "--yes");

    assertThat(run.code()).isZero();
    assertThat(run.out()).contains("orders-0").doesNotContain("orders-1");
    assertThat(run.err()).contains("the pools' 3 segments of [" + logs + "] were discarded");
    try (HotTier tier = openTier()) {
      assertThat(tier.recoveryReport().hot()).isZero();
    }
    assertThat(append("orders-2/" + FIRST, 10)).hasSize(10);
  }

  private void writeVersion(int version) throws IOException {
    try (FileChannel file =
        FileChannel.open(pool, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      for (long copy : new long[] {0, 4096}) {
        ByteBuffer header =
            ByteBuffer.allocate(SuperblockLayout.HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        file.read(header, copy);
        header.putInt(SuperblockLayout.VERSION_OFFSET, version);
        CRC32C crc = new CRC32C();
        crc.update(header.array(), 0, SuperblockLayout.CHECKSUM_OFFSET);
        header.putInt(SuperblockLayout.CHECKSUM_OFFSET, (int) crc.getValue());
        file.write(header.rewind(), copy);
      }
    }
  }

  @Test
  void segmentsOfRepairedSlotsAreLost() throws Exception {
    append("orders-0/" + FIRST, 10);
    append("orders-1/" + FIRST, 10);
    damageSlot();

    assertThat(CommandLineRun.of("accept-loss", "--config", config).succeeds().out())
        .contains("no loss to accept");
    CommandLineRun repair = CommandLineRun.of("pool", "repair", "--yes", pool);
    assertThat(repair.code()).isZero();
    assertThat(repair.err()).contains("accept-loss");
    assertThat(CommandLineRun.of("segments", "--config", config).out()).contains("1 unreachable");

    assertThat(CommandLineRun.of("accept-loss", "--config", config, "--yes").succeeds().out())
        .contains("orders-0")
        .doesNotContain("orders-1");
    assertThat(SegmentTag.read(logs.resolve("orders-1").resolve(FIRST))).isPresent();
    CommandLineRun.of("segments", "--config", config).succeeds();
  }

  private void damageSlot() throws IOException {
    try (FileChannel file = FileChannel.open(pool, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.allocate(3).put(new byte[] {7, 7, 7}).flip(), damagedPosition());
    }
  }

  @Test
  @SuppressWarnings("try") // mounted until it is closed
  void aReadOnlyLogDirectoryIsNamedAndTheOthersAreDone() throws Exception {
    Path first = logs;
    logs = secondLogDirectory(directory.resolve("second"));
    byte[] bytes = append("audit-0/" + FIRST, 50_000);
    Path other = logs.resolve("audit-0").resolve(FIRST);
    logs = first;
    append("orders-0/" + FIRST, 100_000);
    try (LoopMount readOnly = LoopMount.readOnly(first)) {
      CommandLineRun run = CommandLineRun.of("drain", "--config", config);
      assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.FINDINGS.code());
      assertThat(run.err()).contains("" + first);
      assertThat(other).hasBinaryContent(bytes);
      assertThat(SegmentTag.read(other)).isEmpty();
      logs = directory.resolve("second");
      append("audit-1/" + FIRST, 1_000);
      Files.move(pool, directory.resolve("away"));
      CommandLineRun loss = CommandLineRun.of("accept-loss", "--config", config, "--yes");
      assertThat(loss.code()).as(loss.err()).isEqualTo(ExitCode.FINDINGS.code());
      assertThat(loss.err()).contains("log directory " + first + " was not changed to the end");
      assertThat(loss.out()).contains("audit-1").doesNotContain("orders-0");
      JsonNode json =
          CommandLineRun.of("accept-loss", "--config", config, "--yes", "--json").json();
      assertThat(json.get("done").asBoolean()).isFalse();
      assertThat(json.at("/skipped/0/logDirectory").asText()).isEqualTo("" + first);
      assertThat(SegmentTag.read(logs.resolve("audit-1").resolve(FIRST))).isEmpty();
    }
  }

  /** Beside the first one; both are configured. */
  private Path secondLogDirectory(Path second) throws IOException {
    Files.createDirectory(second);
    Files.writeString(second.resolve("meta.properties"), "node.id=1\ncluster.id=c\n");
    Files.createFile(second.resolve(".lock"));
    Files.writeString(
        config, "node.id=1\nlog.dirs=" + logs + "," + second + "\nstrata.pools=" + pool + "\n");
    return second;
  }

  @Test
  void whatIsBehindALinkIsDrained() throws Exception {
    byte[] bytes = append("orders-0/" + FIRST, 100_000);
    Path target = Files.move(logs.resolve("orders-0"), directory.resolve("kafka1"));
    Files.createSymbolicLink(logs.resolve("orders-0"), target);
    CommandLineRun.of("drain", "--config", config).succeeds();
    assertThat(target.resolve(FIRST)).hasBinaryContent(bytes);
    assertThat(SegmentTag.read(target.resolve(FIRST))).isEmpty();
  }

  @Test
  void theLossOfWhatIsBehindALinkIsAcceptedToo() throws Exception {
    append("orders-0/" + FIRST, 100_000);
    Path target = Files.move(logs.resolve("orders-0"), directory.resolve("kafka1"));
    Files.createSymbolicLink(logs.resolve("orders-0"), target);
    Files.delete(pool);
    CommandLineRun run = CommandLineRun.of("accept-loss", "--config", config, "--yes");
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out()).contains("orders-0");
    CommandLineRun.of("pool", "create", "--size", "8MiB", "--config", config).succeeds();
    openTier().close();
  }

  /** Their slots name the log directory that the files were made in, for good. */
  @Test
  void givingUpALogDirectoryLeavesWhatWasMovedToAnotherAndTakesWhatCameFromIt() throws Exception {
    Path second = Files.createDirectory(directory.resolve("second"));
    Files.writeString(second.resolve("meta.properties"), "node.id=1\ncluster.id=c\n");
    Files.createFile(second.resolve(".lock"));
    Files.writeString(
        config, "node.id=1\nlog.dirs=" + logs + "," + second + "\nstrata.pools=" + pool + "\n");
    byte[] moved = append("moved-0/" + FIRST, 100_000);
    append("stays-0/" + FIRST, 1_000);
    Path other = Files.createDirectories(second.resolve("came-0"));
    Path first = logs;
    logs = second;
    append("came-0/" + FIRST, 2_000);
    logs = first;
    Files.move(other, logs.resolve("came-0"));
    Files.move(logs.resolve("moved-0"), second.resolve("moved-0"));
    openTier().close();
    Path older = directory.resolve("older");
    assertThat(new ProcessBuilder("cp", "-a", "" + logs, "" + older).start().waitFor()).isZero();
    openTier().close();
    Files.move(logs, directory.resolve("current"));
    Files.move(older, logs);

    CommandLineRun preview =
        CommandLineRun.of("accept-loss", "--config", config, "--log-directory", logs);
    assertThat(preview.err()).contains("the pools' 2 segments of [" + logs + "] would be");
    CommandLineRun run =
        CommandLineRun.of("accept-loss", "--config", config, "--log-directory", logs, "--yes");

    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.err()).contains("the pools' 2 segments of [" + logs + "] were discarded");
    CommandLineRun.of("drain", "--config", config).succeeds();
    assertThat(second.resolve("moved-0").resolve(FIRST)).hasBinaryContent(moved);
  }

  private long damagedPosition() throws IOException {
    SegmentTag tag = SegmentTag.read(logs.resolve("orders-0").resolve(FIRST)).orElseThrow();
    return SlotLayout.slotPosition(tag.slot()) + SlotLayout.GENERATION_OFFSET;
  }

  private HotTier openTier() throws Exception {
    BrokerProperties broker = BrokerProperties.load(config, List.of(), Path.of(""));
    return HotTier.open(
        TierSpecs.of(broker.strataConfig().orElseThrow(), broker),
        TierEvents.NONE,
        SegmentEvents.NONE);
  }

  /** Appends random bytes to a new segment, as a broker does. */
  private byte[] append(String name, int length) throws Exception {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    Path file = logs.resolve(name);
    Files.createDirectories(logs.resolve(name).resolveSibling("."));
    try (HotTier tier = openTier();
        FileChannel channel =
            tier.open(
                    file,
                    Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE))
                .orElseThrow()) {
      ByteBuffer source = ByteBuffer.wrap(bytes);
      while (source.hasRemaining()) {
        channel.write(source);
      }
    }
    return bytes;
  }
}
