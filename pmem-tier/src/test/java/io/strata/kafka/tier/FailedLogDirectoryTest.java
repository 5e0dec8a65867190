package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One log directory that fails when recovery has something to do in it goes offline, as in Kafka:
 * the others start, and its slots stay.
 */
final class FailedLogDirectoryTest {

  private static final byte[] GOOD = Batches.of(100_000, 1);
  private static final byte[] OLD = Batches.of(300_000, 2);
  private static final byte[] NEW = Batches.of(100_000, 3);

  @TempDir private Path root;
  private LoopMount disk;
  private TierFixture fixture;
  private Path good;
  private Path old;
  private Path newer;
  private final List<Path> skipped = new ArrayList<>();

  @BeforeEach
  void open() throws IOException, InterruptedException {
    disk = LoopMount.of(root, "ext4", 64);
    Path second = Files.createDirectory(disk.directory().resolve("logs")).toRealPath();
    fixture = new TierFixture(Files.createDirectory(root.resolve("live"))).pool("a.pool", 16 << 20);
    fixture.logDirectories.add(second);
    fixture.events =
        new TierEvents() {
          @Override
          public void logDirectorySkipped(Path directory, String reason) {
            skipped.add(directory);
          }
        };
    fixture.open();
    good = fixture.segment("good-0", 0);
    fixture.append(good, GOOD);
    Path partition = Files.createDirectory(second.resolve("orders-0"));
    old = partition.resolve(good.getFileName());
    newer = partition.resolve("00000000000000001000.log");
    fixture.append(old, OLD);
    fixture.append(newer, NEW);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
    disk.close();
  }

  private TieredSegment segment(Path file) {
    return fixture.tier().segments().stream()
        .filter(each -> each.logFile().equals(file))
        .findAny()
        .orElseThrow();
  }

  /** A kill between an eviction and the removal of the tag. */
  private void leaveATag() throws Exception {
    try (FileChannel active = fixture.tier().open(newer, TierFixture.KAFKA).orElseThrow()) {
      assertThat(active.isOpen()).isTrue();
      SegmentTag tag = segment(old).tag();
      assertDone(fixture.destage(old, 1));
      assertDone(fixture.evict(old));
      tag.write(old);
    }
    fixture.close();
  }

  /** A kill between the decision to delete and the deletion. */
  private void leaveADeletion() throws IOException {
    segment(old).segment().markDeleting();
    fixture.close();
  }

  /** A kill when a copy was written and not yet known. */
  private void leaveACopy() throws IOException {
    byte[] bytes = fixture.read(old);
    try (FileChannel file = FileChannel.open(old, StandardOpenOption.WRITE)) {
      assertThat(file.write(ByteBuffer.wrap(bytes))).isEqualTo(bytes.length);
      file.force(true);
    }
    fixture.close();
  }

  private void assertOnlyTheBadOneIsOffline() throws IOException {
    for (int i = 0; i < 2; i++) {
      skipped.clear();
      fixture.open();
      assertThat(skipped).containsExactly(fixture.logDirectories.get(1));
      assertThat(fixture.read(good)).isEqualTo(GOOD);
      assertThat(fixture.tier().recoveryReport().kept()).isNotEmpty();
      assertThat(fixture.tier().recoveryReport().orphaned()).isEmpty();
      assertThat(fixture.tier().recoveryReport().freed()).isEmpty();
      assertThatThrownBy(() -> fixture.tier().open(newer, TierFixture.KAFKA))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(newer.toString());
      fixture.close();
    }
  }

  private void assertGoesOn() throws IOException {
    skipped.clear();
    fixture.open();
    assertThat(skipped).isEmpty();
    assertThat(fixture.read(good)).isEqualTo(GOOD);
    assertThat(fixture.read(newer)).isEqualTo(NEW);
  }

  @Test
  void readOnlyWithATagToRemove() throws Exception {
    leaveATag();
    disk.readOnly(true);
    assertOnlyTheBadOneIsOffline();
    disk.readOnly(false);
    assertGoesOn();
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  @Test
  void readOnlyWithADeletionToFinish() throws Exception {
    leaveADeletion();
    disk.readOnly(true);
    assertOnlyTheBadOneIsOffline();
    disk.readOnly(false);
    assertGoesOn();
    assertThat(old).doesNotExist();
  }

  @Test
  void readOnlyWithACopyToWithdraw() throws Exception {
    leaveACopy();
    disk.readOnly(true);
    assertOnlyTheBadOneIsOffline();
    disk.readOnly(false);
    assertGoesOn();
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  @Test
  void oneFileThatCannotBeDeleted() throws Exception {
    leaveADeletion();
    disk.immutable(old, true);
    assertOnlyTheBadOneIsOffline();
    disk.immutable(old, false);
    assertGoesOn();
    assertThat(old).doesNotExist();
  }

  @Test
  void oneFileThatCannotBeChanged() throws Exception {
    leaveACopy();
    disk.immutable(old, true);
    assertOnlyTheBadOneIsOffline();
    disk.immutable(old, false);
    assertGoesOn();
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }
}
