package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.Marker;
import io.strata.kafka.tier.offline.AcceptedLoss;
import io.strata.kafka.tier.offline.Drain;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A log directory is copied without its attributes, to a broker with another pool. Its log files
 * are beginnings that end between two batches: none of them says that it lacks records.
 */
final class CopyWithoutAttributesTest {

  private static final int MIB = 1 << 20;
  private static final byte[] BATCHES = Batches.of(300_000, 1);
  private static final byte[] MORE = Batches.of(100_000, 2);

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path segment;

  @BeforeEach
  void aBeginning() throws Exception {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("broker")));
    Files.writeString(fixture.logs().resolve("meta.properties"), "version=1\n");
    fixture.pool("a.pool", 16 * MIB).open();
    segment = fixture.segment("orders-0", 0);
    fixture.append(segment, BATCHES);
    TierFixture.assertDone(fixture.destage(segment, 1));
    fixture.append(segment, MORE);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private void copyWithoutAttributes() throws Exception {
    fixture.close();
    Path original = Files.move(fixture.logs(), directory.resolve("original"));
    Process process =
        new ProcessBuilder("cp", "-r", original.toString(), fixture.logs().toString())
            .inheritIO()
            .start();
    assertThat(process.waitFor()).isZero();
    Files.delete(fixture.pools.remove(0));
    fixture.pool("b.pool", 16 * MIB);
  }

  @Test
  void isRefused() throws Exception {
    copyWithoutAttributes();
    for (int start = 0; start < 2; start++) {
      assertThatThrownBy(fixture::open)
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining(segment.toString())
          .hasMessageContaining("the log directory was used with pools, has records (")
          .hasMessageContaining(") and no extended attributes")
          .hasMessageContaining("setfattr -n user.strata.directory");
      assertThat(HotTier.refusal(fixture.spec(), missing -> {})).isPresent();
      assertThat(TierFixture.attributes(fixture.logs())).isEmpty();
    }

    // As the message has it.
    Files.setAttribute(
        fixture.logs(),
        "user:strata.directory",
        StandardCharsets.UTF_8.encode(UUID.randomUUID().toString()));
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
  }

  /** Kafka replicates them. */
  @Test
  void isTakenWithoutItsPartitions() throws Exception {
    copyWithoutAttributes();
    Files.delete(segment);
    Files.delete(segment.getParent());
    fixture.open();
  }

  /** The metadata log is never in a pool. */
  @Test
  void isTakenIfItHasOnlyMetadata() throws Exception {
    copyWithoutAttributes();
    Files.move(
        segment.getParent(), Files.createDirectory(directory.resolve("away")).resolve("orders-0"));
    Files.write(fixture.segment("__cluster_metadata-0", 0), BATCHES);
    fixture.open();
  }

  /** Otherwise a drain that was killed could not be run again. */
  @Test
  void hasNotTheMarkThatADrainLeavesUntilItsEnd() throws Exception {
    fixture.close();
    Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
    assertThat(TierFixture.attributes(fixture.logs())).isEmpty();
    assertThat(Marker.isMarked(fixture.logs())).isFalse();

    fixture.open();
    for (LogDirectory each : List.copyOf(fixture.tier().logDirectories().all())) {
      fixture.tier().release(each);
    }
    fixture.close();
    assertThat(Marker.isMarked(fixture.logs())).isTrue();
    fixture.open();
    assertThat(fixture.read(segment)).hasSize(BATCHES.length + MORE.length);
  }

  private void assertTagIsMissed(Path file, SegmentTag tag) throws Exception {
    for (int start = 0; start < 3; start++) {
      assertThatThrownBy(fixture::open)
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("without extended attributes")
          .hasMessageContaining("setfattr -n user.strata.segment");
    }
    tag.write(file);
    fixture.open();
    assertThat(fixture.read(file)).hasSize(BATCHES.length + 2 * MORE.length);
  }

  /** The pool has what the log file lacks: the slot was freed at the second start. */
  @Test
  void olderThanTheBytesThatWereCopiedDownSinceAndOfOneFileIsRefused() throws Exception {
    SegmentTag tag = SegmentTag.read(segment).orElseThrow();
    byte[] older = Files.readAllBytes(segment);
    fixture.append(segment, MORE);
    TierFixture.assertDone(fixture.destage(segment, 1));
    fixture.close();
    Files.delete(segment);
    Files.write(segment, older);
    assertTagIsMissed(segment, tag);
  }

  /** As it is moved to another disk by hand. */
  @Test
  void inAnotherLogDirectoryIsRefused() throws Exception {
    SegmentTag tag = SegmentTag.read(segment).orElseThrow();
    fixture.append(segment, MORE);
    fixture.close();
    Path second = Files.createDirectory(fixture.root.resolve("logs2"));
    Files.writeString(second.resolve("meta.properties"), "version=1\n");
    fixture.logDirectories.add(second);
    fixture.open();
    fixture.close();
    Path moved = fixture.logDirectories.get(1).resolve("orders-0").resolve(segment.getFileName());
    Files.createDirectory(moved.getParent());
    Files.write(moved, Files.readAllBytes(segment));
    Files.delete(segment);
    Files.delete(segment.getParent());
    assertTagIsMissed(moved, tag);
  }

  /** The file is in its own place: the directory that is away has no better one. */
  @Test
  void isRefusedWhileAnotherLogDirectoryIsAway() throws Exception {
    SegmentTag tag = SegmentTag.read(segment).orElseThrow();
    byte[] older = Files.readAllBytes(segment);
    fixture.append(segment, MORE);
    fixture.close();
    Files.delete(segment);
    Files.write(segment, older);
    fixture.logDirectories.add(fixture.root.resolve("not-mounted"));
    assertTagIsMissed(segment, tag);
  }

  @Test
  void differsFromALogDirectoryThatWasGivenUp() throws Exception {
    fixture.close();
    Object before = TierFixture.attributes(fixture.logs()).get("strata.directory");
    assertThat(SegmentTag.remove(segment)).isTrue();
    AcceptedLoss.GivenUp givenUp =
        AcceptedLoss.GivenUp.of(
            LogDirectory.find(fixture.logs()).orElseThrow().id(),
            Optional.of(fixture.logs()),
            List.of());
    assertThat(AcceptedLoss.forgetAll(fixture.pools, fixture.logs(), givenUp, true)).isEqualTo(1);
    assertThat(TierFixture.attributes(fixture.logs()).get("strata.directory"))
        .isNotNull()
        .isNotEqualTo(before);
    fixture.open();
  }
}
