package io.strata.kafka.cli.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.cli.CommandLineRun;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.MemoryDirectory;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolOwner;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands about pool files, on real pools. */
class PoolCommandsTest {
  private static final long MIB = 1 << 20;

  /** On a disk: of a pool in memory the command has more to say. */
  @TempDir(factory = MemoryDirectory.OnDisk.class)
  Path directory;

  @Test
  void createsAPoolAndShowsIt() throws IOException {
    Path file = directory.resolve("hot.pool");

    CommandLineRun created =
        CommandLineRun.of(
                "pool", "create", "--size", "16MiB", "--broker-id", 3, "--cluster-id", "abc", file)
            .succeeds();
    CommandLineRun shown = CommandLineRun.of("pool", "info", file).succeeds();

    assertThat(Files.size(file)).isEqualTo(16 * MIB);
    assertThat(shown.out())
        .isEqualTo(created.out())
        .startsWith(file.toString())
        .contains("broker 3 of cluster abc")
        .contains("size      16 MiB")
        .contains("segments  0 of 16");
  }

  @Test
  void showsAPoolForMachines() throws IOException {
    Path file = directory.resolve("hot.pool");

    JsonNode pool =
        CommandLineRun.of(
                "pool", "create", "--path", file, "--size", "16MiB", "--slots", 5, "--json")
            .succeeds()
            .json()
            .at("/pools/0");

    assertThat(pool.get("path").asText()).isEqualTo(file.toString());
    assertThat(pool.get("sizeBytes").asLong()).isEqualTo(16 * MIB);
    assertThat(pool.get("slots").asInt()).isEqualTo(5);
    assertThat(pool.get("usedBytes").asLong()).isZero();
    assertThat(pool.get("freeBytes").asLong()).isEqualTo(pool.get("dataBytes").asLong());
    assertThat(pool.has("brokerId")).isFalse();
    assertThat(pool.get("durability").asText()).isIn("POWER", "FORCE", "PROCESS");
  }

  @Test
  void takesPathTypeAndOwnerFromTheConfiguration() throws IOException {
    Path file = directory.resolve("hot.pool");
    Path logs = Files.createDirectory(directory.resolve("logs"));
    Files.writeString(logs.resolve("meta.properties"), "node.id=7\ncluster.id=from-meta\n");
    Path config = directory.resolve("server.properties");
    Files.writeString(
        config,
        "node.id=7\nlog.dirs=" + logs + "\nstrata.pools=" + file + "\nstrata.pool.type=file\n");

    CommandLineRun run =
        CommandLineRun.of("pool", "create", "--size", "16MiB", "--config", config).succeeds();

    assertThat(run.out()).contains("broker 7 of cluster from-meta");
    assertThat(CommandLineRun.of("pool", "info", "--config", config).succeeds().out())
        .isEqualTo(run.out());
  }

  @Test
  void saysWhatIsNextWhenThePoolIsNotListed() throws IOException {
    Path config = directory.resolve("server.properties");
    Files.writeString(config, "node.id=7\nlog.dirs=" + directory.resolve("logs") + "\n");
    Path file = directory.resolve("hot.pool");

    CommandLineRun run =
        CommandLineRun.of("pool", "create", "--size", "16MiB", "--config", config, file);

    assertThat(run.code()).isZero();
    assertThat(run.err()).contains("next: add " + file + " to strata.pools");
    assertThat(run.out()).contains("broker 7 of any cluster");
  }

  /** Not as if the pool were not listed. */
  @Test
  void aKeyThatIsWrongIsNamedWhenAPoolIsCreated() throws IOException {
    Path file = directory.resolve("hot.pool");
    Path config = directory.resolve("server.properties");
    Files.writeString(
        config,
        "node.id=7\nlog.dirs=%s\nstrata.pools=%s\nstrata.migration.treshold=1\n"
            .formatted(directory.resolve("logs"), file));

    assertThat(
            CommandLineRun.of("pool", "create", "--size", "16MiB", "--config", config)
                .fails(ExitCode.REFUSED)
                .err())
        .contains("strata.migration.treshold");
    CommandLineRun named =
        CommandLineRun.of("pool", "create", "--size", "16MiB", "--config", config, file);

    assertThat(named.code()).isZero();
    assertThat(named.err()).contains("strata.migration.treshold").doesNotContain("next: add");
  }

  /** The broker would be refused again, for the segment that is there. */
  @Test
  void aSegmentThatIsNotThereIsNoneToForget() throws IOException {
    Path file = directory.resolve("hot.pool");
    Path logs = Files.createDirectory(directory.resolve("logs"));
    Path config = directory.resolve("server.properties");
    Files.writeString(config, "node.id=7\nlog.dirs=%s\nstrata.pools=%s\n".formatted(logs, file));
    CommandLineRun.of("pool", "create", "--size", "16MiB", "--config", config).succeeds();
    UUID lost = UUID.randomUUID();
    try (Pool pool = Pool.open(file, MemoryType.MAPPED, PoolOwner.ANY)) {
      Slot slot = pool.allocateSlot(lost, "orders-0/0.log").orElseThrow();
      assertThat(slot.committedLength()).isZero();
    }

    CommandLineRun run =
        CommandLineRun.of(
            "pool",
            "forget",
            "--config",
            config,
            "--directory",
            lost,
            "--yes",
            "--segment",
            logs.resolve("orders-0/0.log"),
            "--segment",
            "orders-0/0.log",
            file);

    assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.err()).contains("found no segment " + logs.resolve("orders-0/0.log"));
    assertThat(run.out()).contains("1 segment discarded");
  }

  @Test
  void refusesAmbiguousOrMissingTargets() throws IOException {
    Path config = directory.resolve("server.properties");
    Files.writeString(config, "node.id=7\nstrata.pools=/p/a,/p/b\n");

    assertThat(
            CommandLineRun.of("pool", "create", "--size", "16MiB", "--config", config)
                .fails(ExitCode.USAGE)
                .err())
        .contains("exactly one file in strata.pools (it has 2)");
    assertThat(
            CommandLineRun.of("pool", "create", "--size", "16MiB", "--path", "a", "b")
                .fails(ExitCode.USAGE)
                .err())
        .contains("--path");
    assertThat(
            CommandLineRun.of(
                    "pool", "create", "--size", "16MiB", "--config", config, "--broker-id", 1, "b")
                .fails(ExitCode.USAGE)
                .err())
        .contains("--broker-id");
    assertThat(
            CommandLineRun.of("pool", "info", "--config", config, "b").fails(ExitCode.USAGE).err())
        .contains("both files and --config");
  }

  @Test
  void doesNotOverwriteAFile() throws IOException {
    Path file = directory.resolve("precious");
    Files.writeString(file, "data");

    assertThat(
            CommandLineRun.of("pool", "create", "--size", "16MiB", file)
                .fails(ExitCode.REFUSED)
                .err())
        .contains(file.toString());
    assertThat(file).hasContent("data");
  }

  @Test
  void refusesASizeThatIsTooSmall() {
    CommandLineRun.of("pool", "create", "--size", "1KiB", directory.resolve("p"))
        .fails(ExitCode.USAGE);
  }

  /** What to do depends on the configuration. */
  @Test
  void aPoolThatTheBrokerCreatesIsNotToBeCreatedByACommand() throws IOException {
    Path config = directory.resolve("server.properties");
    String keys =
        "node.id=7\nlog.dirs=%s\nstrata.pools=%s\n"
            .formatted(directory, directory.resolve("hot.pool"));
    Files.writeString(config, keys);
    assertThat(CommandLineRun.of("pool", "info", "--config", config).fails(ExitCode.REFUSED).err())
        .contains("found no such file", "'strata pool create'");

    Files.writeString(config, keys + "strata.pool.create=16MiB\n");
    assertThat(CommandLineRun.of("pool", "info", "--config", config).fails(ExitCode.REFUSED).err())
        .contains("found no such file", "start the broker, which creates it")
        .doesNotContain("'strata pool create'");
  }

  @Test
  void refusesWhatIsNoPool() throws IOException {
    Path file = directory.resolve("x");
    Files.write(file, new byte[(int) (8 * MIB)]);

    CommandLineRun.of("pool", "info", file).fails(ExitCode.REFUSED);
    CommandLineRun.of("pool", "grow", "--size", "16MiB", file).fails(ExitCode.REFUSED);
  }

  @Test
  void growsAPool() throws IOException {
    Path file = directory.resolve("hot.pool");
    CommandLineRun.of("pool", "create", "--size", "16MiB", file).succeeds();

    CommandLineRun grown = CommandLineRun.of("pool", "grow", "--size", "32MiB", file).succeeds();

    assertThat(grown.out()).contains("size      32 MiB");
    assertThat(Files.size(file)).isEqualTo(32 * MIB);
    CommandLineRun.of("pool", "grow", "--size", "16MiB", file).fails(ExitCode.USAGE);
  }

  @Test
  void growsTheOnlyPoolOfAConfiguration() throws IOException {
    Path file = directory.resolve("hot.pool");
    CommandLineRun.of("pool", "create", "--size", "16MiB", file).succeeds();
    Path config = directory.resolve("server.properties");
    Files.writeString(config, "strata.pools=" + file + "\n");

    CommandLineRun grown =
        CommandLineRun.of("pool", "grow", "--size", "32MiB", "--config", config).succeeds();

    assertThat(grown.out()).contains("size      32 MiB");
    Files.writeString(config, "strata.pools=" + file + "," + directory.resolve("other") + "\n");
    CommandLineRun.of("pool", "grow", "--size", "64MiB", "--config", config).fails(ExitCode.USAGE);
    CommandLineRun.of("pool", "repair").fails(ExitCode.USAGE);
  }

  @Test
  void refusesToGrowAPoolInUseAndShowsItAllTheSame() throws IOException {
    Path file = directory.resolve("hot.pool");
    CommandLineRun.of("pool", "create", "--size", "16MiB", file).succeeds();
    try (Pool pool = Pool.open(file, MemoryType.MAPPED, PoolOwner.of(1, "c"))) {
      assertThat(pool.info().size()).isEqualTo(16 * MIB);

      assertThat(
              CommandLineRun.of("pool", "grow", "--size", "32MiB", file)
                  .fails(ExitCode.REFUSED)
                  .err())
          .contains("lock");
      assertThat(CommandLineRun.of("pool", "info", file).succeeds().out())
          .contains("broker 1 of cluster c");
    }
  }

  @Test
  void aSoundPoolPassesTheCheckWhileItIsInUse() throws IOException {
    Path file = directory.resolve("hot.pool");
    CommandLineRun.of("pool", "create", "--size", "16MiB", file).succeeds();
    try (Pool pool = Pool.open(file, MemoryType.MAPPED, PoolOwner.of(1, "c"))) {
      Slot slot = pool.allocateSlot(new UUID(1, 2), "t-0/x.log").orElseThrow();
      assertThat(slot.grow()).isTrue();

      assertThat(CommandLineRun.of("pool", "check", file).succeeds().out())
          .isEqualTo(file + ": sound, 1 segments, 64 KiB used" + System.lineSeparator());
      assertThat(
              CommandLineRun.of("pool", "check", file, "--json")
                  .succeeds()
                  .json()
                  .at("/pools/0/usable")
                  .asBoolean())
          .isTrue();
    }
  }

  @Test
  void aDamagedSlotIsFoundAndRepairedOnlyOnRequest() throws IOException {
    Path file = directory.resolve("hot.pool");
    CommandLineRun.of("pool", "create", "--size", "16MiB", file).succeeds();
    long position;
    try (Pool pool = Pool.open(file, MemoryType.MAPPED, PoolOwner.of(1, "c"))) {
      Slot slot = pool.allocateSlot(new UUID(1, 2), "t-0/x.log").orElseThrow();
      position = SlotLayout.slotPosition(slot.index());
    }
    flipByte(file, position + 1);

    CommandLineRun check = CommandLineRun.of("pool", "check", file);
    assertThat(check.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(check.out()).contains(": damaged,").contains("error: slot 0 at " + position);
    assertThat(
            CommandLineRun.of("pool", "check", file, "--json")
                .json()
                .at("/pools/0/findings/0/slot")
                .asInt(-1))
        .isZero();

    CommandLineRun refused = CommandLineRun.of("pool", "repair", file);
    assertThat(refused.code()).isEqualTo(ExitCode.REFUSED.code());
    assertThat(refused.err()).contains("--yes");
    assertThat(refused.out()).contains("slot 0");
    assertThat(CommandLineRun.of("pool", "check", file).code()).isEqualTo(ExitCode.FINDINGS.code());

    CommandLineRun look = CommandLineRun.of("pool", "repair", "--dry-run", file);
    assertThat(look.code()).isZero();
    assertThat(look.out()).contains("slot 0");
    JsonNode told =
        CommandLineRun.of("pool", "repair", "--dry-run", "--json", file).succeeds().json();
    assertThat(told.get("done").asBoolean()).isFalse();
    assertThat(told.at("/findings/0/slot").asInt(-1)).isZero();
    assertThat(CommandLineRun.of("pool", "check", file).code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(CommandLineRun.of("pool", "repair", "--dry-run", "--yes", file).code())
        .isEqualTo(ExitCode.USAGE.code());

    CommandLineRun repaired = CommandLineRun.of("pool", "repair", "--yes", file);
    assertThat(repaired.code()).isZero();
    assertThat(repaired.out()).contains("repaired, 1 damaged slots freed");
    assertThat(repaired.err()).contains("before the broker starts").contains("accept-loss");
    assertThat(CommandLineRun.of("pool", "check", file).succeeds().out()).contains("sound");
    assertThat(
            CommandLineRun.of("pool", "repair", file, "--json").succeeds().json().at("/freedSlots"))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--yes", "--dry-run"})
  void repairDoesNotAdviseWhatItThenRefuses(String option) throws IOException {
    Path file = directory.resolve("hot.pool");
    CommandLineRun.of("pool", "create", "--size", "16MiB", file).succeeds();
    for (long copy : new long[] {0, 4096}) {
      flipByte(file, copy + 100);
    }
    byte[] before = Files.readAllBytes(file);
    Object[] repair =
        option.isEmpty()
            ? new Object[] {"pool", "repair", file}
            : new Object[] {"pool", "repair", option, file};

    CommandLineRun run = CommandLineRun.of(repair).fails(ExitCode.REFUSED);

    assertThat(run.err())
        .startsWith("strata: this cannot be repaired: CORRUPT: pool " + file)
        .contains("restore the file from a copy")
        .doesNotContain("--yes");
    assertThat(Files.readAllBytes(file)).isEqualTo(before);
  }

  /** What is no pool any more may have been one. */
  @Test
  void repairKeepsAFileThatMayHaveBeenAPool() throws IOException {
    Path file = directory.resolve("hot.pool");
    CommandLineRun.of("pool", "create", "--size", "16MiB", file).succeeds();
    for (long copy : new long[] {0, 4096}) {
      flipByte(file, copy);
    }

    assertThat(CommandLineRun.of("pool", "repair", "--yes", file).fails(ExitCode.REFUSED).err())
        .contains("NOT_A_POOL", "If a pool was here, keep the file")
        .doesNotContain("remove");
  }

  @Test
  void checkShowsWhyAPoolIsRefused() throws IOException {
    Path file = directory.resolve("x");
    Files.write(file, new byte[(int) (8 * MIB)]);

    CommandLineRun run = CommandLineRun.of("pool", "check", file);

    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.out()).contains("NOT_A_POOL");
  }

  @Test
  void checkShowsWhatItFoundBeforeAPoolThatCannotBeRead() throws IOException {
    Path file = directory.resolve("hot.pool");
    CommandLineRun.of("pool", "create", "--size", "16MiB", file).succeeds();

    CommandLineRun run = CommandLineRun.of("pool", "check", file, directory.resolve("none"));

    assertThat(run.code()).isNotZero();
    assertThat(run.out()).contains(file + ": sound");
  }

  private static void flipByte(Path file, long position) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, position);
      one.put(0, (byte) (one.get(0) ^ 0x10)).rewind();
      channel.write(one, position);
    }
  }
}
