package io.strata.kafka.cli.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.cli.CommandLineRun;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What lives where, read while a writer has the pool open. */
class SegmentsCommandTest {
  private static final long MIB = 1 << 20;

  @TempDir Path directory;

  private Path logs = Path.of("");
  private Path poolFile = Path.of("");
  private Path config = Path.of("");

  // Opened before each test.
  @SuppressWarnings("NullAway.Init")
  private Pool pool;

  @BeforeEach
  void createPool() throws IOException {
    logs = Files.createDirectory(directory.resolve("logs"));
    poolFile = directory.resolve("hot.pool");
    Pool.create(PoolSpec.of(poolFile, MemoryType.MAPPED, 16 * MIB), ProgressListener.NONE);
    pool = Pool.open(poolFile, MemoryType.MAPPED, PoolOwner.of(1, "c"));
    config = directory.resolve("server.properties");
    Files.writeString(config, "node.id=1\nlog.dirs=" + logs + "\nstrata.pools=" + poolFile + "\n");
  }

  @AfterEach
  void closePool() throws IOException {
    pool.close();
  }

  @Test
  void showsEachSegmentAndTheTotals() throws IOException {
    hot("orders-0", "00000000000000000000.log", 100_000);
    Slot spilled = hot("orders-0", "00000000000000000500.log", 50_000);
    spilled.set(SlotFlag.SPILLED);
    Files.write(logs.resolve("orders-0/00000000000000000500.log"), new byte[60_000]);
    logFile("audit-1", "00000000000000000000.log", 2048);
    logFile("audit-1", "00000000000000000000.index", 10);
    Files.createFile(logs.resolve("recovery-point-offset-checkpoint"));

    CommandLineRun run = CommandLineRun.of("segments", "--config", config).succeeds();

    assertThat(run.out().lines())
        .containsExactly(
            "PARTITION  BASE OFFSET  STATE    START  CLEAN       END      SIZE  ONLY IN POOL  POOL",
            "audit-1              0  logdirs  2 KiB  2 KiB     2 KiB     2 KiB           0 B  -",
            "orders-0             0  hot        0 B    0 B  97.7 KiB  97.7 KiB      97.7 KiB "
                + " hot.pool",
            "orders-0           500  spilled    0 B    0 B  48.8 KiB  58.6 KiB      48.8 KiB "
                + " hot.pool",
            "",
            "total: 3 segments: 1 hot, 1 spilled, 1 logdirs",
            "pool "
                + poolFile
                + ": 146.5 KiB in 2 segments; "
                + ByteSize.format(pool.usage().usedBytes())
                + " of 14 MiB used",
            "logdirs: 11.8 KiB in 2 segments");
  }

  @Test
  void showsHowMuchIsOnlyInThePool() throws IOException {
    Slot clean = hot("orders-0", "00000000000000000000.log", 100_000);
    clean.setCleanLength(100_000);
    Slot dirty = hot("orders-0", "00000000000000000500.log", 1000);
    dirty.setCleanLength(400);

    String out = CommandLineRun.of("segments", "--config", config).succeeds().out();
    JsonNode json = CommandLineRun.of("segments", "--config", config, "--json").succeeds().json();

    assertThat(out)
        .containsPattern("orders-0 +0 +hot +0 B( +97.7 KiB){3} +0 B +hot.pool")
        .containsPattern("orders-0 +500 +hot +0 B +400 B +1000 B +1000 B +600 B +hot.pool")
        .contains("2 hot (1 of them clean), 0 spilled");
    assertThat(json.at("/segments/0/bytesOnlyInPool").asInt()).isZero();
    assertThat(json.at("/segments/1/bytesOnlyInPool").asInt()).isEqualTo(600);
    assertThat(json.at("/segments/1/clean").asInt()).isEqualTo(400);
    assertThat(json.at("/segments/1/end").asInt()).isEqualTo(1000);
    assertThat(json.at("/total/clean").asInt()).isEqualTo(1);
  }

  /** The tag follows an eviction later: until then the slot that it names is free, or another's. */
  @Test
  void aSegmentThatIsJustBeingEvictedIsWhereItsCopyIs() throws IOException {
    Slot evicted = hot("orders-0", "00000000000000000000.log", 10);
    byte[] whole = new byte[100];
    whole[16] = 2;
    Files.write(logs.resolve("orders-0/00000000000000000000.log"), whole);
    evicted.markDeleting();
    evicted.free();

    JsonNode json = CommandLineRun.of("segments", "--config", config, "--json").succeeds().json();

    assertThat(json.at("/segments/0/state").asText()).isEqualTo("LOGDIRS");
    assertThat(json.at("/segments/0/bytesInLogFile").asInt()).isEqualTo(100);
  }

  @Test
  void showsThemForMachines() throws IOException {
    hot("orders-0", "00000000000000000007.log", 100_000);
    logFile("audit-1", "00000000000000000000.log", 2048);

    JsonNode json = CommandLineRun.of("segments", "--config", config, "--json").succeeds().json();

    assertThat(json.get("segments")).hasSize(2);
    JsonNode hot = json.at("/segments/1");
    assertThat(hot.get("topic").asText()).isEqualTo("orders");
    assertThat(hot.get("partition").asInt()).isZero();
    assertThat(hot.get("baseOffset").asLong()).isEqualTo(7);
    assertThat(hot.get("state").asText()).isEqualTo("HOT");
    assertThat(hot.get("bytesInPool").asLong()).isEqualTo(100_000);
    assertThat(hot.get("bytesInLogFile").asLong()).isZero();
    assertThat(hot.get("pool").asText()).isEqualTo(poolFile.toString());
    assertThat(json.at("/total/hot").asInt()).isEqualTo(1);
    assertThat(json.at("/total/bytesInLogFile").asLong()).isEqualTo(2048);
    assertThat(json.at("/pools/0/bytesInPool").asLong()).isEqualTo(100_000);
    assertThat(json.get("findings")).isEmpty();
  }

  @Test
  void filtersByTopicAndPrintsTotalsOnly() throws IOException {
    hot("orders-0", "00000000000000000000.log", 10);
    logFile("audit-1", "00000000000000000000.log", 2048);

    assertThat(
            CommandLineRun.of("segments", "--config", config, "--topic", "orders").succeeds().out())
        .contains("orders-0")
        .doesNotContain("audit");
    assertThat(CommandLineRun.of("segments", "--config", config, "--totals").succeeds().out())
        .startsWith("total: 2 segments: 1 hot, 0 spilled, 1 logdirs");
  }

  @Test
  void namesReplicasAndStagesThatAreNotOrdinary() throws IOException {
    hot("orders-0.0123-delete", "00000000000000000000.log", 10);
    hot("orders-1", "00000000000000000000.log.deleted", 10);

    assertThat(CommandLineRun.of("segments", "--config", config).succeeds().out())
        .contains("orders-0 (deleted)")
        .contains("hot (deleted)");
  }

  @Test
  void reportsSegmentsWhosePoolIsMissing() throws IOException {
    hot("orders-0", "00000000000000000000.log", 10);
    pool.close();
    Files.move(poolFile, directory.resolve("elsewhere"));

    CommandLineRun run = CommandLineRun.of("segments", "--config", config);

    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.out()).contains("unreachable").contains("1 unreachable").contains("?");
    assertThat(run.err()).contains(poolFile.toString()).contains("1 segments");
    pool = Pool.open(directory.resolve("elsewhere"), MemoryType.MAPPED, PoolOwner.ANY);
  }

  @Test
  void reportsATagWhoseSlotWasDiscarded() throws IOException {
    hot("orders-0", "00000000000000000000.log", 10).discard();

    CommandLineRun run = CommandLineRun.of("segments", "--config", config);

    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.out()).contains("unreachable");
  }

  @Test
  void reportsALogDirectoryThatIsMissing() throws IOException {
    Files.delete(logs);

    CommandLineRun run = CommandLineRun.of("segments", "--config", config);

    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.err()).contains(logs.toString()).contains("correct log.dirs");
  }

  @Test
  void reportsATopicThatIsNotThere() throws IOException {
    logFile("orders-0", "00000000000000000000.log", 10);
    logFile("order-items-0", "00000000000000000000.log", 10);
    logFile("audit-0", "00000000000000000000.log", 10);

    CommandLineRun typo = CommandLineRun.of("segments", "--config", config, "--topic", "order");
    assertThat(typo.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(typo.err())
        .isEqualToIgnoringNewLines(
            "strata: topic order: found no partition of it in the log directories of this broker;"
                + " near names: orders, order-items");
    CommandLineRun other =
        CommandLineRun.of("segments", "--config", config, "--topic", "x", "--topic", "audit");
    assertThat(other.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(other.err()).contains("topic x:", "topics: audit, order-items, orders");
    assertThat(other.out()).contains("audit-0", "total: 1 segments");
    assertThat(CommandLineRun.of("segments", "--config", config, "--topic", "orders").err())
        .isEmpty();
  }

  /** A link that leads in a circle is one that root cannot read either. */
  @Test
  void reportsWhatCannotBeLookedAtAndGoesOn() throws IOException {
    logFile("orders-0", "00000000000000000000.log", 10);
    Path circle = logs.resolve("orders-0/00000000000000000500.log");
    Files.createSymbolicLink(circle, circle);
    Path partition = logs.resolve("orders-1");
    Files.createSymbolicLink(partition, partition);

    CommandLineRun run = CommandLineRun.of("segments", "--config", config);

    assertThat(run.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.err())
        .contains("log file " + circle + " was not looked at")
        .contains("directory " + partition + " was not looked at");
    assertThat(run.out()).contains("total: 1 segments");
  }

  /** The broker skips the log directory; the commands name the file, and go on with the others. */
  @Test
  void aMalformedTagIsNamedAndTheOthersAreShown() throws IOException {
    logFile("orders-0", "00000000000000000000.log", 10);
    logFile("orders-1", "00000000000000000000.log", 10);
    Path file = logs.resolve("orders-1/00000000000000000000.log");
    Files.setAttribute(file, "user:strata.segment", ByteBuffer.wrap(new byte[] {'2', ' ', 'x'}));

    CommandLineRun run = CommandLineRun.of("segments", "--config", config);

    assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(run.err()).contains("log file " + file + " was not looked at");
    assertThat(run.out()).contains("total: 1 segments");
    assertThat(CommandLineRun.of("doctor", "--config", config).out()).contains(file.toString());
    CommandLineRun loss = CommandLineRun.of("accept-loss", "--config", config);
    assertThat(loss.code()).as(loss.err()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(loss.err()).contains("log directory " + logs + " was not looked at", "" + file);
  }

  /** A broker creates and deletes segments during the command: neither is disturbed. */
  @Test
  void looksOnWhileSegmentsComeAndGo() throws Exception {
    hot("steady-0", "00000000000000000000.log", 1000);
    AtomicBoolean stop = new AtomicBoolean();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread writer =
        new Thread(
            () -> {
              try {
                for (int i = 0; !stop.get(); i = (i + 1) % 50) {
                  String name = String.format("%020d.log", i);
                  Slot slot = hot("busy-0", name, 70_000);
                  slot.markDeleting();
                  Files.delete(logs.resolve("busy-0").resolve(name));
                  var extents = slot.extents().toList();
                  slot.free();
                  pool.release(extents);
                }
              } catch (Throwable e) {
                failure.set(e);
              }
            });
    writer.start();
    try {
      for (int i = 0; i < 100; i++) {
        CommandLineRun run = CommandLineRun.of("segments", "--config", config).succeeds();
        assertThat(run.out()).contains("steady-0").doesNotContain("unreachable");
      }
    } finally {
      stop.set(true);
      writer.join();
    }
    assertThat(failure.get()).isNull();
  }

  @Test
  void refusesAMalformedConfiguration() throws IOException {
    Files.writeString(config, "strata.pols=/x\n");

    CommandLineRun run = CommandLineRun.of("segments", "--config", config).fails(ExitCode.REFUSED);

    assertThat(run.err().lines())
        .hasSize(2)
        .allSatisfy(line -> assertThat(line).startsWith("strata: strata.po"));
  }

  private Slot hot(String partition, String name, int bytes) throws IOException {
    Path file = logFile(partition, name, 0);
    Slot slot =
        pool.allocateSlot(new UUID(1, 2), partition + "/" + name)
            .orElseThrow(() -> new IllegalStateException("no slot is free"));
    while (slot.extents().end() < bytes) {
      assertThat(slot.grow()).isTrue();
    }
    slot.commit(bytes);
    new SegmentTag(pool.info().id(), slot.index(), slot.generation()).write(file);
    return slot;
  }

  private Path logFile(String partition, String name, int bytes) throws IOException {
    Path file = Files.createDirectories(logs.resolve(partition)).resolve(name);
    Files.write(file, new byte[bytes]);
    return file;
  }
}
