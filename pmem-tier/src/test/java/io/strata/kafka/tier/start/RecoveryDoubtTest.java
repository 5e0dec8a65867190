package io.strata.kafka.tier.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.offline.AcceptedLoss;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts with something that recovery cannot look at, or must not believe. */
final class RecoveryDoubtTest {

  private static final long MIB = 1 << 20;
  private static final byte[] BATCHES = Batches.of(700_000, 1);
  private static final byte[] MORE = Batches.of(100_000, 2);

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path segment;
  private Path newer;

  @BeforeEach
  void oneSegment() throws IOException {
    start(new TierFixture(directory).pool("a.pool", 16 * MIB));
  }

  private void start(TierFixture with) throws IOException {
    fixture = with;
    fixture.open();
    segment = fixture.segment("orders-0", 0);
    newer = fixture.segment("orders-0", 1000);
    fixture.append(segment, BATCHES);
  }

  private void startWithTwoTiers() throws IOException {
    fixture.close();
    start(TierFixture.twoTiers(Files.createDirectory(directory.resolve("two")), 16 * MIB));
    fixture.append(newer, MORE);
  }

  private static void tag(Path file, String value) throws IOException {
    int written =
        Files.getFileAttributeView(file, UserDefinedFileAttributeView.class)
            .write("strata.segment", ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)));
    assertThat(written).isPositive();
  }

  /** The directory is skipped: its segments may have copies that recovery does not see. */
  @Test
  void segmentsOfADirectoryThatWasSkippedAreNotUsed() throws Exception {
    startWithTwoTiers();
    TierFixture.assertDone(fixture.destage(segment, 1));
    fixture.close();
    Path other = Files.createFile(fixture.segment("other-0", 0));
    tag(other, "garbage");
    fixture.open();
    Files.delete(other);
    assertThatThrownBy(() -> fixture.tier().open(segment, TierFixture.KAFKA))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(segment.toString())
        .hasMessageContaining("restart the broker");
    fixture.reopen();
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
    fixture.close();
  }

  @Test
  void partitionsMovedToAnotherLogDirectoryAreFoundByTheirTags() throws Exception {
    fixture.close();
    Path first = fixture.logs();
    Path second = Files.createDirectory(fixture.root.resolve("logs2"));
    fixture.logDirectories.add(second);
    fixture.open();
    fixture.close();
    UUID id = LogDirectory.find(first.toRealPath()).orElseThrow().id();
    Files.move(first.resolve("orders-0"), second.resolve("orders-0"));
    fixture.logDirectories.remove(first);
    AcceptedLoss.GivenUp givenUp = AcceptedLoss.GivenUp.of(id, Optional.empty(), List.of(second));
    assertThat(AcceptedLoss.forget(fixture.pools.get(0), givenUp, true)).isEmpty();
    fixture.open();
    assertThat(fixture.read(second.resolve("orders-0").resolve(segment.getFileName())))
        .isEqualTo(BATCHES);
    fixture.close();
  }

  /** Its new disk is not mounted at some starts: another directory is there, as Kafka sees it. */
  @Test
  void aPartitionThatWasMovedWaitsForItsLogDirectory() throws Exception {
    fixture.awaitBackgroundWork();
    fixture.close();
    Path second = Files.createDirectory(fixture.root.resolve("logs2"));
    fixture.logDirectories.add(second);
    fixture.open();
    fixture.close();
    Path moved = second.resolve("orders-0").resolve(segment.getFileName());
    Files.move(fixture.logs().resolve("orders-0"), second.resolve("orders-0"));
    fixture.reopen();
    fixture.close();
    Path unmounted = Files.move(second, fixture.root.resolve("unmounted"));
    Files.createDirectory(second);
    for (int i = 0; i < 3; i++) {
      fixture.open();
      assertThat(fixture.tier().recoveryReport().kept())
          .singleElement()
          .asString()
          .contains("was moved to another log directory");
      fixture.close();
    }
    // Moved once more, as a copy without attributes.
    Path copy = second.resolve("orders-0").resolve(segment.getFileName());
    Files.createDirectory(copy.getParent());
    Files.write(copy, Arrays.copyOf(BATCHES, BATCHES.length / 2));
    assertThatThrownBy(() -> fixture.open())
        .hasMessageContaining("no attribute of it says where they are");
    Files.delete(copy);
    Files.delete(copy.getParent());
    Files.delete(second);
    Files.move(unmounted, second);
    fixture.open();
    assertThat(fixture.read(moved)).isEqualTo(BATCHES);
    fixture.close();

    // And back again, where the slot has it.
    Files.move(second.resolve("orders-0"), fixture.logs().resolve("orders-0"));
    fixture.reopen();
    fixture.close();
    Files.delete(segment);
    fixture.open();
    assertThat(fixture.tier().recoveryReport().kept()).isEmpty();
    assertThat(fixture.tier().recoveryReport().orphaned()).containsExactly(segment.toString());
    fixture.close();
  }

  /**
   * Kafka does not start with such a directory, and formats none: no start has seen the new one.
   */
  @Test
  void nothingIsFreedWhileALogDirectoryIsNotFormatted() throws Exception {
    fixture.awaitBackgroundWork();
    fixture.close();
    Path second = Files.createDirectory(fixture.root.resolve("logs2"));
    fixture.logDirectories.add(second);
    for (Path each : List.of(fixture.logs(), second)) {
      Files.writeString(each.resolve("meta.properties"), "version=1\nnode.id=1\n");
    }
    fixture.open();
    fixture.close();
    Path moved = second.resolve("orders-0").resolve(segment.getFileName());
    Files.move(fixture.logs().resolve("orders-0"), second.resolve("orders-0"));
    Path unmounted = Files.move(second, fixture.root.resolve("unmounted"));
    Files.createDirectory(second);
    for (int i = 0; i < 3; i++) {
      fixture.reopen();
      assertThat(fixture.tier().recoveryReport().orphaned()).isEmpty();
      fixture.close();
    }
    Files.delete(second);
    Files.move(unmounted, second);
    fixture.open();
    assertThat(fixture.read(moved)).isEqualTo(BATCHES);
  }

  /** A partition behind a symbolic link, whose disk is not mounted at two starts. */
  @Test
  void segmentsOfAPartitionBehindALinkWaitForIt() throws Exception {
    fixture.awaitBackgroundWork();
    fixture.close();
    Path disk = Files.createDirectory(fixture.root.resolve("disk"));
    Path partition = fixture.logs().resolve("orders-0");
    Files.move(partition, disk.resolve("orders-0"));
    Files.createSymbolicLink(partition, disk.resolve("orders-0"));
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
    fixture.close();
    Files.move(disk, fixture.root.resolve("unmounted"));
    for (int i = 0; i < 2; i++) {
      fixture.open();
      assertThat(fixture.tier().recoveryReport().kept())
          .singleElement()
          .asString()
          .contains("symbolic link");
      fixture.close();
    }
    Files.move(fixture.root.resolve("unmounted"), disk);
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
    fixture.close();
  }
}
