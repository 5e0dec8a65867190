package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.UUID;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code strata verify} on copies of log directories. */
final class VerifyCommandTest {

  private static final int HOLE_FROM = 100_000;
  private static final int HOLE_TO = 300_000;
  private static final byte[] BATCHES = batches();

  @TempDir private Path directory;
  private Path logs;
  private Path copy;
  private Path file;
  private Path copied;

  private static byte[] batches() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int offset = 0; offset < 500; offset++) {
      SimpleRecord record = new SimpleRecord(offset, new byte[1000]);
      ByteBuffer batch = MemoryRecords.withRecords(offset, Compression.NONE, record).buffer();
      bytes.write(batch.array(), batch.arrayOffset() + batch.position(), batch.remaining());
    }
    return bytes.toByteArray();
  }

  @BeforeEach
  void whole() throws IOException {
    logs = directory.resolve("logs");
    copy = Files.createDirectory(directory.resolve("copy"));
    file = Files.createDirectories(logs.resolve("orders-0")).resolve("00000000000000000000.log");
    copied = copy.resolve(logs.relativize(file));
    Files.write(file, BATCHES);
    Files.write(file.resolveSibling("00000000000000000000.index"), new byte[100]);
  }

  /** The bytes of a hole are in a pool. */
  private void makeHole() throws IOException {
    byte[] hole = BATCHES.clone();
    Arrays.fill(hole, HOLE_FROM, HOLE_TO, (byte) 0);
    Files.write(file, hole);
  }

  private void rsync() throws Exception {
    Process process =
        new ProcessBuilder(
                "rsync", "--archive", "--xattrs", "--size-only", logs + "/", copy.toString())
            .inheritIO()
            .start();
    assertThat(process.waitFor()).isZero();
  }

  /** A program that compares lengths alone keeps the hole that a drain has filled. */
  @Test
  void aHoleThatASecondPassHasLeftIsFound() throws Exception {
    assumeThat(Path.of("/usr/bin/rsync")).exists();
    makeHole();
    rsync();
    Files.write(file, BATCHES);
    rsync();
    assertThat(copied).hasSize(BATCHES.length);
    assertThat(Files.readAllBytes(copied)).isNotEqualTo(BATCHES);

    CommandLineRun found = CommandLineRun.of("verify", copy);
    assertThat(found.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(found.err()).contains(copied + ": found at position", "a batch of size 0");
    assertThat(found.out()).contains("Read 1 log files", "1 are damaged");
    CommandLineRun.of("verify", logs, logs.resolve("orders-0")).succeeds();
  }

  @Test
  void aPartOfABatchIsFound() throws Exception {
    try (FileChannel cut = FileChannel.open(file, StandardOpenOption.WRITE)) {
      cut.truncate(BATCHES.length - 1L);
    }
    CommandLineRun found = CommandLineRun.of("verify", "--json", logs);
    assertThat(found.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(found.json().at("/damaged/0/problem").asText())
        .contains("bytes of a batch and then the end");
    assertThat(found.json().at("/damaged/0/file").asText()).isEqualTo(file.toString());
  }

  /** Nothing can be said of it without its pool. */
  @Test
  void whatIsInAPoolIsNotDamage() throws Exception {
    makeHole();
    SegmentTag tag = new SegmentTag(UUID.randomUUID(), 1, 1);
    tag.write(file);
    CommandLineRun found = CommandLineRun.of("verify", logs).succeeds();
    assertThat(found.out()).contains("1 more have bytes in pools");
    tag.writeWhole(file, BATCHES.length);
    assertThat(CommandLineRun.of("verify", logs).code()).isEqualTo(ExitCode.FINDINGS.code());
  }

  /** A user who names the directory around the log directories would delete the source. */
  @Test
  void aDirectoryWithoutLogFilesIsNoIntactCopy() {
    CommandLineRun around = CommandLineRun.of("verify", directory, logs);
    assertThat(around.code()).isEqualTo(ExitCode.FINDINGS.code());
    assertThat(around.err()).contains(directory + ": found no log file").doesNotContain(logs + ":");
    CommandLineRun.of("verify", logs).succeeds();
  }

  @Test
  void aDirectoryThatIsNotThereIsAWrongUsage() {
    assertThat(CommandLineRun.of("verify", directory.resolve("none")).fails(ExitCode.USAGE).err())
        .contains("none");
  }
}
