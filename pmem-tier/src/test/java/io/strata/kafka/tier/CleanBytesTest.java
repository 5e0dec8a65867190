package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult.Outcome;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.offline.ReadOnlyTier;
import io.strata.kafka.tier.spec.MoveStage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Without its pool, a log file is a valid beginning of its segment, whatever comes in between. */
final class CleanBytesTest {

  private static final long MIB = 1 << 20;
  private static final int SLOW = 1;
  private static final int LOG_DIRS = 2;
  private static final int KEPT = 300_000;
  private static final byte[] OLD = Batches.of(700_000, 1);
  private static final byte[] NEW = Batches.of(100_000, 2);

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path old;

  @BeforeEach
  void open() throws IOException {
    fixture = TierFixture.twoTiers(Files.createDirectory(directory.resolve("live")), 16 * MIB);
    fixture.open();
    old = fixture.segment("orders-0", 0);
    fixture.append(old, OLD);
    fixture.append(fixture.segment("orders-0", 1000), NEW);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private FileChannel openAsKafka() throws IOException {
    return fixture.tier().open(old, TierFixture.KAFKA).orElseThrow();
  }

  /** As a follower that takes over another leader's batches. */
  private static void change(FileChannel channel) throws IOException {
    channel.truncate(KEPT);
    assertThat(channel.write(ByteBuffer.wrap(NEW), KEPT)).isEqualTo(NEW.length);
  }

  private static byte[] changed() {
    byte[] bytes = Arrays.copyOf(OLD, KEPT + NEW.length);
    System.arraycopy(NEW, 0, bytes, KEPT, NEW.length);
    return bytes;
  }

  @ParameterizedTest
  @EnumSource(names = {"DESTAGE_COPIED", "DESTAGE_FORCED", "DESTAGE_VERIFIED", "DESTAGE_CLEAN"})
  void truncatedWhileItIsCopied(MoveStage stage) throws Exception {
    try (FileChannel channel = openAsKafka()) {
      fixture.at(stage, () -> change(channel));
      assertThat(fixture.destage(old, LOG_DIRS)).isNotNull();
      assertThat(fixture.view(old).clean()).isFalse();
      byte[] left = Files.readAllBytes(old);
      assertThat(left).hasSizeLessThanOrEqualTo(KEPT).isEqualTo(Arrays.copyOf(OLD, left.length));
      assertThat(TierFixture.content(channel)).isEqualTo(changed());
    }
    fixture.reopen();
    assertThat(fixture.read(old)).isEqualTo(changed());
  }

  @Test
  void copyThatIsReadBackWithAnotherChecksumIsDropped() throws Exception {
    fixture.at(
        MoveStage.DESTAGE_FORCED,
        () -> {
          try (FileChannel logFile = FileChannel.open(old, StandardOpenOption.WRITE)) {
            assertThat(logFile.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), KEPT)).isEqualTo(3);
          }
        });
    assertThatThrownBy(() -> fixture.destage(old, LOG_DIRS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("another checksum");
    assertThat(old).isEmptyFile();
    assertThat(fixture.view(old).clean()).isFalse();
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  @Test
  void copyThatIsStoppedTakesNoSpace() throws Exception {
    MoveControl stopping =
        new MoveControl() {
          private boolean begun;

          @Override
          public boolean cancelled() {
            return begun;
          }

          @Override
          public void beforeCopying(long bytes) {
            begun = true;
          }
        };
    assertThat(
            fixture
                .tier()
                .tieredSegments()
                .destage(fixture.view(old).id(), LOG_DIRS, stopping)
                .outcome())
        .isEqualTo(Outcome.CANCELLED);
    assertThat(old).isEmptyFile();
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  @Test
  void evictedSegmentThatIsTruncatedToNothingBeforeItsTagFollowed() throws Exception {
    assertDone(fixture.destage(old, LOG_DIRS));
    TierFixture[] killed = new TierFixture[1];
    try (FileChannel channel = openAsKafka()) {
      fixture.at(
          MoveStage.EVICT_FREED,
          () -> {
            channel.truncate(0);
            killed[0] = fixture.copyTo(Files.createDirectory(directory.resolve("killed")));
          });
      assertDone(fixture.evict(old));
    }
    try (TierFixture left = killed[0]) {
      left.open();
      assertThat(left.read(left.segment("orders-0", 0))).isEmpty();
    }
  }

  @Test
  void onlyWhatIsNotCleanIsCopied() throws Exception {
    assertDone(fixture.destage(old, LOG_DIRS));
    try (FileChannel channel = openAsKafka()) {
      assertThat(channel.write(ByteBuffer.wrap(NEW), OLD.length)).isEqualTo(NEW.length);
      assertThat(fixture.view(old).clean()).isFalse();
      assertThat(old).hasBinaryContent(OLD);

      MoveResult again = fixture.destage(old, LOG_DIRS);

      assertThat(again.outcome()).isEqualTo(Outcome.DONE);
      assertThat(again.bytes()).isEqualTo(NEW.length);
      assertDone(fixture.evict(old));
      assertThat(TierFixture.content(channel)).startsWith(OLD).endsWith(NEW);
    }
    assertThat(Files.size(old)).isEqualTo(OLD.length + NEW.length);
  }

  @Test
  void whatACrashLeavesBehindTheCleanBytesIsDropped() throws Exception {
    assertDone(fixture.destage(old, LOG_DIRS));
    try (FileChannel channel = openAsKafka()) {
      assertThat(channel.write(ByteBuffer.wrap(NEW), OLD.length)).isEqualTo(NEW.length);
    }
    TierFixture[] killed = new TierFixture[1];
    fixture.at(
        MoveStage.DESTAGE_FORCED,
        () -> killed[0] = fixture.copyTo(Files.createDirectory(directory.resolve("killed"))));
    assertDone(fixture.destage(old, LOG_DIRS));
    try (TierFixture left = killed[0]) {
      Path file = left.segment("orders-0", 0);
      assertThat(Files.size(file)).isEqualTo(OLD.length + NEW.length);
      left.open();
      assertThat(file).hasBinaryContent(OLD);
      assertThat(left.read(file)).startsWith(OLD).endsWith(NEW);
    }
  }

  /** Kafka appends to it next: without its slot, that would go to the log file. */
  @Test
  void truncatedSegmentThatIsTheNewestAgainKeepsItsSlot() throws Exception {
    Path newer = fixture.segment("orders-0", 1000);
    assertDone(fixture.destage(old, LOG_DIRS));
    assertThat(fixture.view(old).active()).isFalse();
    Path deleted = newer.resolveSibling(newer.getFileName() + ".deleted");
    assertThat(fixture.tier().move(newer, deleted, StandardCopyOption.ATOMIC_MOVE)).isTrue();
    assertThat(fixture.tier().delete(deleted)).isTrue();
    try (FileChannel channel = openAsKafka()) {
      channel.truncate(KEPT);
    }
    // Before the engine looks again, others need its space.
    Path pressing = fixture.segment("lines-0", 0);
    while (fixture.tier().counts().tiers().get(0).spilled().bytes().sum() == 0) {
      fixture.append(pressing, NEW);
    }
    assertThat(fixture.tier().segments()).extracting(TieredSegment::logFile).contains(old);
    fixture.append(old, NEW);
    assertThat(fixture.read(old)).isEqualTo(changed());
  }

  @Test
  void toolsReadWhatIsJustBeingRelocated() throws Exception {
    for (MoveStage stage : List.of(MoveStage.RELOCATE_COMMITTED, MoveStage.RELOCATE_TAGGED)) {
      fixture.at(
          stage,
          () -> {
            ReadOnlyTier tool = new ReadOnlyTier();
            assertThat(tool.size(old)).isEqualTo(OptionalLong.of(OLD.length));
            try (FileChannel channel =
                tool.open(old, Set.of(StandardOpenOption.READ)).orElseThrow()) {
              assertThat(TierFixture.content(channel)).isEqualTo(OLD);
            }
          });
      assertDone(
          fixture.view(old).tier() == 0 ? fixture.destage(old, SLOW) : fixture.promote(old, 0));
    }
  }
}
