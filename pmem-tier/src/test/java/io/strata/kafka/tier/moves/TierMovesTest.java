package io.strata.kafka.tier.moves;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static io.strata.kafka.tier.TierFixture.content;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.TieredSegmentsContract;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult.Outcome;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.FileSystemKind;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** One segment's moves, with real files and pools, and what a reopening makes of them. */
@ParameterizedClass
@EnumSource(names = {"JDK", "LUCENE"})
final class TierMovesTest extends TieredSegmentsContract {

  private static final long MIB = 1 << 20;
  private static final int LOG_DIRS = 1;
  private static final byte[] OLD = Batches.of(700_000, 1);
  private static final byte[] NEW = Batches.of(100_000, 2);

  @Parameter FileSystemKind kind = FileSystemKind.JDK;
  @TempDir private Path directory;
  private TierFixture fixture;
  private Path old;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(directory, kind).pool("one.pool", 16 * MIB);
    fixture.open();
    old = sealed("orders-0");
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  @Override
  protected Sealed sealed() throws IOException {
    // The engine knows a segment that has left the pool while it is open.
    FileChannel channel = fixture.tier().open(old, TierFixture.KAFKA).orElseThrow();
    long id = view(old).id();
    return new Sealed() {
      @Override
      public TieredSegments tiers() {
        return fixture.tier().tieredSegments();
      }

      @Override
      public long id() {
        return id;
      }

      @Override
      public int lower() {
        return LOG_DIRS;
      }

      @Override
      public void requireContent() throws IOException {
        assertThat(content(channel)).isEqualTo(OLD);
        assertThat(fixture.read(old)).isEqualTo(OLD);
      }

      @Override
      public void delete() throws IOException {
        assertThat(fixture.tier().delete(old)).isTrue();
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    };
  }

  /** A segment of {@link #OLD} with a newer one behind it. */
  private Path sealed(String partition) throws IOException {
    Path file = fixture.segment(partition, 0);
    fixture.append(file, OLD);
    fixture.append(fixture.segment(partition, 1000), NEW);
    return file;
  }

  private SegmentView view(Path file) {
    return fixture.view(file);
  }

  private List<TierUsage> usages() {
    return fixture.tier().tieredSegments().state().tiers();
  }

  private TierUsage usage() {
    return usages().get(0);
  }

  private MoveResult destage(Path file, int tier) throws IOException, InterruptedException {
    return fixture.destage(file, tier);
  }

  private MoveResult evict(Path file) throws IOException {
    return fixture.evict(file);
  }

  private MoveResult promote(Path file, int tier) throws IOException, InterruptedException {
    return fixture.promote(file, tier);
  }

  @Test
  void destagedSegmentIsReadFromThePoolAndWholeInLogFile() throws Exception {
    FileTime modified = FileTime.fromMillis(1_700_000_000_000L);
    assertThat(fixture.tier().setLastModified(old, modified)).isTrue();
    assertDone(destage(old, LOG_DIRS));
    assertThat(view(old).cleanTier()).hasValue(LOG_DIRS);
    assertThat(view(old).tier()).isZero();
    assertThat(Files.readAllBytes(old)).isEqualTo(OLD);
    assertThat(Files.getLastModifiedTime(old)).isEqualTo(modified);
    assertThat(fixture.read(old)).isEqualTo(OLD);
    assertThat(usage().cleanBytes()).isEqualTo(MIB);
    assertThat(usage().dirtyBytes()).isEqualTo(128 << 10);
    assertThat(usage().activeBytes()).isEqualTo(128 << 10);
    fixture.reopen();
    assertThat(view(old).cleanTier()).hasValue(LOG_DIRS);
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  @Test
  void evictedSegmentIsAPlainFileAndOpenChannelsGoOn() throws Exception {
    try (FileChannel channel = fixture.tier().open(old, TierFixture.KAFKA).orElseThrow()) {
      assertDone(destage(old, LOG_DIRS));
      assertDone(evict(old));
      assertThat(SegmentTag.read(old)).isEmpty();
      assertThat(view(old).tier()).isEqualTo(LOG_DIRS);
      assertThat(content(channel)).isEqualTo(OLD);
      assertThat(usage().cleanBytes()).isZero();
      assertThat(usage().usedBytes()).isEqualTo(128 << 10);
      // As Kafka does after an unclean leader election: it may become the active one again.
      channel.truncate(1000);
      assertThat(channel.size()).isEqualTo(1000);
      assertThat(channel.write(ByteBuffer.wrap(NEW), 1000)).isEqualTo(NEW.length);
      assertThat(old).hasSize(1000 + NEW.length);
      assertThat(channel.size()).isEqualTo(1000 + NEW.length);
    }
    fixture.reopen();
    assertThat(fixture.tier().figures().hot()).isEqualTo(1);
  }

  @Test
  void promotedSegmentIsReadFromThePoolByOpenChannels() throws Exception {
    try (FileChannel channel = fixture.tier().open(old, TierFixture.KAFKA).orElseThrow()) {
      assertDone(destage(old, LOG_DIRS));
      assertDone(evict(old));
      assertDone(promote(old, 0));
      assertThat(view(old).tier()).isZero();
      assertThat(view(old).cleanTier()).hasValue(LOG_DIRS);
      assertThat(content(channel)).isEqualTo(OLD);
      // Clean from the beginning: evicted without I/O.
      assertDone(evict(old));
      assertThat(content(channel)).isEqualTo(OLD);
      assertDone(promote(old, 0));
    }
    fixture.reopen();
    assertThat(fixture.read(old)).isEqualTo(OLD);
    assertThat(view(old).tier()).isZero();
  }

  @Test
  void promotedSegmentThatIsChangedIsNoLongerInLogFile() throws Exception {
    assertDone(destage(old, LOG_DIRS));
    try (FileChannel channel = fixture.tier().open(old, TierFixture.KAFKA).orElseThrow()) {
      assertDone(evict(old));
      assertDone(promote(old, 0));
      channel.truncate(100_000);
      channel.write(ByteBuffer.wrap(NEW), 100_000);
      assertThat(view(old).clean()).isFalse();
      assertThat(view(old).dirtyBytes()).isEqualTo(NEW.length);
      assertDone(evict(old));
      assertThat(view(old).tier()).isZero();
      assertThat(evict(old).outcome()).isEqualTo(Outcome.CANCELLED);
    }
    assertThat(Files.readAllBytes(old)).isEqualTo(Arrays.copyOf(OLD, 100_000));
    byte[] expected = Arrays.copyOf(OLD, 100_000 + NEW.length);
    System.arraycopy(NEW, 0, expected, 100_000, NEW.length);
    fixture.reopen();
    assertThat(fixture.read(old)).isEqualTo(expected);
  }

  @Test
  void segmentInLogFileOfAnEarlierRunIsPromotedThroughAChannelOpenedSince() throws Exception {
    assertDone(destage(old, LOG_DIRS));
    assertDone(evict(old));
    fixture.reopen();
    try (FileChannel channel = fixture.tier().open(old, TierFixture.KAFKA).orElseThrow();
        FileChannel newer =
            fixture
                .tier()
                .open(fixture.segment("orders-0", 1000), TierFixture.KAFKA)
                .orElseThrow()) {
      assertThat(view(old).tier()).isEqualTo(LOG_DIRS);
      assertDone(promote(old, 0));
      assertThat(content(channel)).isEqualTo(OLD);
      assertThat(newer.size()).isEqualTo(NEW.length);
      assertThat(fixture.tier().size(old)).hasValue(OLD.length);
    }
  }

  /** Its clean extents leave the pool, its last one stays, and appends go on there. */
  @Test
  void activeSegmentIsCopiedAndEvictedInPartsWhileItIsAppendedTo() throws Exception {
    Path active = fixture.segment("busy-0", 0);
    byte[] all = new byte[0];
    try (FileChannel channel = fixture.tier().open(active, TierFixture.KAFKA).orElseThrow()) {
      for (int i = 0; i < 5; i++) {
        byte[] more = Batches.of(700_000, 10 + i);
        channel.write(ByteBuffer.wrap(more), all.length);
        all = concat(all, more);
        assertThat(view(active).active()).isTrue();
        assertThat(view(active).dirtyBytes()).isEqualTo(more.length);
        assertDone(destage(active, LOG_DIRS));
        assertThat(view(active).dirtyBytes()).isZero();
        assertDone(evict(active));
        assertThat(view(active).tier()).isZero();
        assertThat(view(active).cleanBytes()).isZero();
        assertThat(view(active).poolBytes()).isLessThanOrEqualTo(MIB);
        assertThat(content(channel)).isEqualTo(all);
        assertThat(Files.readAllBytes(active)).isEqualTo(all);
      }
      assertThat(promote(active, 0).outcome()).isEqualTo(Outcome.CANCELLED);
    }
    assertThat(usage().dirtyBytes() + usage().cleanBytes()).isEqualTo(usage().usedBytes());
    fixture.reopen();
    assertThat(fixture.read(active)).isEqualTo(all);
    assertThat(view(active).tier()).isZero();
  }

  /** Below what has been evicted, within what is clean, within what is dirty. */
  @Test
  void segmentThatIsEvictedInPartIsTruncatedAnywhere() throws Exception {
    byte[] copied = Batches.of(3_000_000, 21);
    for (int length : new int[] {0, 100_000, 2_999_000, 3_000_000, 3_050_000}) {
      Path active = fixture.segment("cut" + length + "-0", 0);
      fixture.append(active, copied);
      assertDone(destage(active, LOG_DIRS));
      assertDone(evict(active));
      fixture.append(active, NEW);
      byte[] kept = Arrays.copyOf(concat(copied, NEW), length);
      try (FileChannel channel = fixture.tier().open(active, TierFixture.KAFKA).orElseThrow()) {
        channel.truncate(length);
        assertThat(content(channel)).isEqualTo(kept);
        channel.write(ByteBuffer.wrap(OLD), length);
        assertThat(content(channel)).isEqualTo(concat(kept, OLD));
      }
      assertThat(view(active).spilled()).isFalse();
      fixture.reopen();
      assertThat(fixture.read(active)).isEqualTo(concat(kept, OLD));
      assertThat(fixture.tier().delete(active)).isTrue();
      Awaitility.await().until(() -> usage().segments() == 2);
    }
  }

  /** One partition whose segment is larger than the pool. */
  @Test
  void appendMakesSpaceOfTheCleanBytesOfItsOwnSegment() throws Exception {
    Path active = fixture.segment("busy-0", 0);
    byte[] all = Batches.of(8_000_000, 31);
    fixture.append(active, all);
    assertDone(destage(active, LOG_DIRS));
    byte[] more = Batches.of(7_000_000, 32);
    fixture.append(active, more);
    assertThat(fixture.tier().figures().spilled()).isZero();
    assertThat(view(active).dirtyBytes()).isEqualTo(more.length);
    assertThat(fixture.read(active)).isEqualTo(concat(all, more));
    fixture.reopen();
    assertThat(fixture.read(active)).isEqualTo(concat(all, more));
  }

  private static byte[] concat(byte[] a, byte[] b) {
    byte[] both = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, both, a.length, b.length);
    return both;
  }

  @Test
  void corruptSegmentIsCopiedNowhere() throws Exception {
    Path corrupt = fixture.segment("broken-0", 0);
    byte[] bytes = OLD.clone();
    bytes[300_000]++;
    fixture.append(corrupt, bytes);
    fixture.append(fixture.segment("broken-0", 1000), NEW);
    assertThatThrownBy(() -> destage(corrupt, LOG_DIRS))
        .isInstanceOf(CorruptSegmentException.class)
        .hasMessageContaining(corrupt.toString())
        .hasMessageContaining("checksum");
    assertThat(corrupt).isEmptyFile();
    assertThat(view(corrupt).clean()).isFalse();
    assertThat(fixture.read(corrupt)).isEqualTo(bytes);
  }

  /** Kafka may yet truncate what a power failure has torn. */
  @Test
  void nothingMayMoveBeforeKafkaHasLoadedTheLogs() throws Exception {
    fixture.close();
    try (HotTier restarted = HotTier.open(fixture.spec(), TierEvents.NONE, SegmentEvents.NONE)) {
      TieredSegments segments = restarted.tieredSegments();
      assertThat(segments.mayMove()).isFalse();
      restarted.logsLoaded();
      assertThat(segments.mayMove()).isTrue();
    }
  }

  @Test
  void anAppendAfterARestartEvictsBeforeAnyPlan() throws Exception {
    assertDone(destage(old, LOG_DIRS));
    fixture.close();
    try (HotTier restarted = HotTier.open(fixture.spec(), TierEvents.NONE, SegmentEvents.NONE)) {
      TierUsage usage = restarted.tieredSegments().usages().get(0);
      Path big = fixture.segment("big-0", 0);
      byte[] bytes = new byte[(int) (usage.freeBytes() + MIB / 2)];
      try (FileChannel channel = restarted.open(big, TierFixture.KAFKA).orElseThrow()) {
        assertThat(channel.write(ByteBuffer.wrap(bytes))).isEqualTo(bytes.length);
      }
      assertThat(restarted.figures().spilled()).isZero();
    }
  }

  /** Something that happens to a segment while it is copied. */
  private interface Action {
    void run() throws IOException;
  }

  /** Has {@code action} happen before each piece is copied. */
  private static MoveControl whileCopying(Action action) {
    return new MoveControl() {
      @Override
      public boolean cancelled() {
        return false;
      }

      @Override
      public void beforeCopying(long bytes) {
        try {
          action.run();
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
    };
  }

  private MoveResult destageOld(MoveControl control) throws IOException, InterruptedException {
    return fixture.tier().tieredSegments().destage(view(old).id(), LOG_DIRS, control);
  }

  private Path deleted() {
    return old.resolveSibling("00000000000000000000.log.deleted");
  }

  /** As Kafka renames a segment before it deletes it. */
  private void renameForDeletion() throws IOException {
    assertThat(fixture.tier().move(old, deleted(), StandardCopyOption.ATOMIC_MOVE)).isTrue();
  }

  @Test
  void aChangeWhileItIsCopiedWins() throws Exception {
    try (FileChannel channel = fixture.tier().open(old, TierFixture.KAFKA).orElseThrow()) {
      MoveResult result = destageOld(whileCopying(() -> channel.truncate(200_000)));
      assertThat(result.outcome()).isEqualTo(Outcome.CANCELLED);
      assertThat(view(old).clean()).isFalse();
      assertThat(content(channel)).isEqualTo(Arrays.copyOf(OLD, 200_000));
    }
  }

  @Test
  void deletionAndRenamingWhileItIsCopied() throws Exception {
    MoveResult result =
        destageOld(
            whileCopying(
                () -> {
                  if (Files.exists(old)) {
                    renameForDeletion();
                    assertThat(fixture.tier().delete(deleted())).isTrue();
                  }
                }));
    assertThat(result.outcome()).isEqualTo(Outcome.CANCELLED);
    Awaitility.await().until(() -> usage().usedBytes() == 128 << 10);
  }

  @Test
  void renamingForDeletionEndsACopy() throws Exception {
    MoveResult result =
        destageOld(
            whileCopying(
                () -> {
                  if (Files.exists(old)) {
                    renameForDeletion();
                  }
                }));
    assertThat(result.outcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(deleted()).isEmptyFile();
    assertThat(fixture.read(deleted())).isEqualTo(OLD);
  }

  @Test
  void theOldestDirtySegmentHasAnAgeUntilItIsClean() throws Exception {
    assertThat(oldestDirty()).isPresent();
    assertDone(destage(old, LOG_DIRS));
    assertThat(oldestDirty()).as("the other one is active").isEmpty();
  }

  private OptionalLong oldestDirty() {
    return fixture.tier().figures().tiers().get(0).oldestDirtyMillis();
  }

  @Test
  void appendThatFindsNoSpaceEvictsWhatIsClean() throws Exception {
    assertDone(destage(old, LOG_DIRS));
    Path big = fixture.segment("big-0", 0);
    fixture.append(big, new byte[(int) (usage().freeBytes() + MIB / 2)]);
    assertThat(fixture.tier().figures().spilled()).isZero();
    assertThat(fixture.tier().counts().tiers().get(0).pressure().number().sum()).isEqualTo(1);
    assertThat(fixture.tier().figures().hot()).isEqualTo(2);
    Awaitility.await().untilAsserted(() -> assertThat(SegmentTag.read(old)).isEmpty());
    assertThat(Files.readAllBytes(old)).isEqualTo(OLD);
    // Nothing is left to evict.
    fixture.append(big, new byte[(int) MIB]);
    assertThat(fixture.tier().figures().spilled()).isEqualTo(1);
  }

  @Test
  void spilledSegmentBecomesWholeInAnotherSlotOrGoesLogFile() throws Exception {
    fixture.append(fixture.segment("big-0", 0), new byte[(int) (usage().freeBytes() - MIB)]);
    Path spilled = fixture.segment("spill-0", 0);
    byte[] bytes = Batches.of(2_000_000, 7);
    fixture.append(spilled, bytes);
    assertThat(view(spilled).spilled()).isTrue();
    try (FileChannel newer = openInLogFile(fixture.segment("spill-0", 9000));
        FileChannel channel = fixture.tier().open(spilled, TierFixture.KAFKA).orElseThrow()) {
      assertThat(newer.size()).isZero();
      assertThat(promote(spilled, 0).outcome()).isEqualTo(Outcome.TARGET_FULL);
      assertThat(fixture.tier().delete(fixture.segment("big-0", 0))).isTrue();
      Awaitility.await().until(() -> usage().freeBytes() > 10 * MIB);
      assertDone(promote(spilled, 0));
      assertThat(view(spilled).spilled()).isFalse();
      assertThat(content(channel)).isEqualTo(bytes);
    }
    fixture.reopen();
    assertThat(fixture.read(spilled)).isEqualTo(bytes);
    try (FileChannel newer = openInLogFile(fixture.segment("spill-0", 9000))) {
      assertThat(newer.size()).isZero();
      assertDone(destage(spilled, LOG_DIRS));
      assertThat(Files.readAllBytes(spilled)).isEqualTo(bytes);
    }
  }

  /** As Kafka has the active segment open all the time; with a full pool it is in the log file. */
  private FileChannel openInLogFile(Path file) throws IOException {
    return fixture.tier().open(file, TierFixture.KAFKA).orElseThrow();
  }

  @Test
  void spilledSegmentIsDestaged() throws Exception {
    fixture.append(fixture.segment("big-0", 0), new byte[(int) (usage().freeBytes() - MIB)]);
    Path spilled = fixture.segment("spill-0", 0);
    byte[] bytes = Batches.of(2_000_000, 7);
    fixture.append(spilled, bytes);
    try (FileChannel channel = fixture.tier().open(spilled, TierFixture.KAFKA).orElseThrow();
        FileChannel newer = openInLogFile(fixture.segment("spill-0", 9000))) {
      assertThat(newer.size()).isZero();
      assertDone(destage(spilled, LOG_DIRS));
      assertThat(Files.readAllBytes(spilled)).isEqualTo(bytes);
      // Refused while its tag is noted; and what keeps a reserve in a full pool may be faster.
      Awaitility.await()
          .until(
              () -> {
                MoveResult unused = evict(spilled);
                return view(spilled).tier() == LOG_DIRS;
              });
      assertThat(content(channel)).isEqualTo(bytes);
      assertThat(fixture.read(spilled)).isEqualTo(bytes);
    }
  }

  /** It may have been moved between the plan of a move and the move. */
  @Test
  void nothingIsMovedToTheTierThatItIsIn() throws Exception {
    fixture.close();
    fixture.pool("two.pool", 16 * MIB).inTiers("fast", "slow").open();
    assertDone(destage(old, 1));
    assertThat(view(old).clean()).isFalse();
    long used = usages().get(1).usedBytes();
    assertThat(destage(old, 1).outcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(destage(old, 0).outcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(promote(old, 1).outcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(usages().get(1).usedBytes()).isEqualTo(used);
    assertDone(destage(old, 2));
  }

  @Test
  void relocatesThroughTwoTiersAndBack() throws Exception {
    fixture.close();
    fixture.pool("two.pool", 16 * MIB).inTiers("fast", "slow").open();
    try (FileChannel channel = fixture.tier().open(old, TierFixture.KAFKA).orElseThrow();
        FileChannel newer =
            fixture
                .tier()
                .open(fixture.segment("orders-0", 1000), TierFixture.KAFKA)
                .orElseThrow()) {
      assertThat(newer.isOpen()).isTrue();
      assertDone(destage(old, 1));
      assertThat(view(old).tier()).isEqualTo(1);
      assertThat(view(old).clean()).isFalse();
      assertThat(old).isEmptyFile();
      assertThat(usage().usedBytes()).isEqualTo(128 << 10);
      assertThat(content(channel)).isEqualTo(OLD);
      assertDone(promote(old, 0));
      assertThat(view(old).tier()).isZero();
      assertThat(view(old).clean()).isFalse();
      assertThat(usages().get(1).usedBytes()).isZero();
      assertThat(content(channel)).isEqualTo(OLD);
      assertDone(destage(old, 1));
      assertDone(destage(old, 2));
      assertThat(view(old).tier()).isEqualTo(1);
      assertThat(view(old).cleanTier()).isEqualTo(OptionalInt.of(2));
      assertThat(Files.readAllBytes(old)).isEqualTo(OLD);
      // What the log file has stays there.
      assertDone(promote(old, 0));
      assertThat(view(old).cleanTier()).isEqualTo(OptionalInt.of(2));
      assertThat(usages().get(1).usedBytes()).isZero();
      assertDone(evict(old));
      assertThat(view(old).tier()).isEqualTo(2);
      assertThat(SegmentTag.read(old)).isEmpty();
      assertDone(promote(old, 1));
      assertThat(view(old).cleanTier()).isEqualTo(OptionalInt.of(2));
      assertThat(content(channel)).isEqualTo(OLD);
    }
    fixture.reopen();
    assertThat(fixture.read(old)).isEqualTo(OLD);
    assertThat(view(old).cleanTier()).isEqualTo(OptionalInt.of(2));
    assertThat(fixture.tier().delete(old)).isTrue();
    Awaitility.await()
        .until(() -> usages().stream().mapToLong(TierUsage::usedBytes).sum() == 128 << 10);
  }

  /** By this the policies know what was on the disk before Strata. */
  @Test
  void aFileThatWasInLogFileBeforeIsFoundAndWhatLeavesThePoolIsNot() throws Exception {
    Path before = Files.write(fixture.segment("before-0", 0), OLD);
    fixture.append(fixture.segment("before-0", 1000), NEW);
    fixture.append(fixture.segment("big-0", 0), new byte[(int) (14 * MIB)]);
    Path begun = fixture.segment("begun-0", 0);
    try (FileChannel kept = fixture.tier().open(before, TierFixture.KAFKA).orElseThrow();
        FileChannel left = fixture.tier().open(old, TierFixture.KAFKA).orElseThrow();
        FileChannel logFile = fixture.tier().open(begun, TierFixture.KAFKA).orElseThrow()) {
      assertThat(kept.size()).isEqualTo(OLD.length);
      assertThat(view(before).tier()).isEqualTo(LOG_DIRS);
      assertThat(view(before).found()).isTrue();
      assertThat(view(old).found()).isFalse();
      assertDone(destage(old, LOG_DIRS));
      assertDone(evict(old));
      assertThat(left.size()).isEqualTo(OLD.length);
      assertThat(view(old).tier()).isEqualTo(LOG_DIRS);
      assertThat(view(old).found()).isFalse();
      assertThat(logFile.size()).isZero();
      assertThat(view(begun).found()).isFalse();
      assertDone(promote(before, 0));
      assertThat(view(before).found()).as("in the pool").isFalse();
    }
  }

  @Test
  void newSegmentsGoToTheFirstTierWithSpace() throws Exception {
    fixture.close();
    fixture.pool("two.pool", 16 * MIB).inTiers("fast", "slow").open();
    fixture.append(fixture.segment("big-0", 0), new byte[(int) (16 * MIB)]);
    Path next = fixture.segment("next-0", 0);
    fixture.append(next, NEW);
    assertThat(view(next).tier()).isEqualTo(1);
    fixture.append(fixture.segment("big-1", 0), new byte[(int) (16 * MIB)]);
    Path last = fixture.segment("last-0", 0);
    fixture.append(last, NEW);
    assertThat(Files.readAllBytes(last)).isEqualTo(NEW);
  }

  /** It has as many bytes in its log file as in the pool; its slot is for what comes. */
  @Test
  void segmentThatKafkaHasJustBegunIsNotEvicted() throws Exception {
    Path begun = fixture.segment("begun-0", 0);
    fixture.append(begun, new byte[0]);
    assertThat(view(begun).clean()).isFalse();
    assertThat(view(begun).evictable()).isFalse();
    assertDone(evict(begun));
    assertThat(view(begun).tier()).isZero();
  }
}
