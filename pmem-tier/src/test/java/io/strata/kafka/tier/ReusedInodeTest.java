package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult.Outcome;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.MoveStage;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kafka's LogLoader deletes and renames log files by {@code java.io.File}, of which the tier learns
 * nothing. A later file may get the path and the inode of a segment that was deleted so; nothing of
 * that segment may reach it.
 */
final class ReusedInodeTest {

  private static final int LOG_DIRECTORY = 1;
  private static final byte[] DEAD = Batches.of(700_000, 1);
  private static final byte[] YOUNGER = Batches.of(200_000, 3);

  @TempDir private Path root;
  private TierFixture fixture;
  private Path old;
  private FileChannel active;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(root).pool("a.pool", 16 << 20);
    fixture.open();
    old = fixture.segment("orders-0", 0);
    fixture.append(old, DEAD);
    openActive();
    active.write(ByteBuffer.wrap(YOUNGER));
  }

  @AfterEach
  void close() throws IOException {
    active.close();
    fixture.close();
  }

  private void openActive() throws IOException {
    active =
        fixture.tier().open(fixture.segment("orders-0", 1000), TierFixture.KAFKA).orElseThrow();
  }

  /**
   * What the tier sees when a file was deleted past it and its inode has gone to a new one: a file
   * without bytes and attributes, with the same inode.
   */
  private static void reuse(Path file, Path name) throws IOException {
    SegmentTag.remove(file);
    FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING).close();
    assertThat(new File(file.toString()).renameTo(new File(name.toString()))).isTrue();
  }

  private static Path with(Path file, String suffix) {
    return file.resolveSibling(file.getFileName() + suffix);
  }

  private void rename(Path from, Path to) throws IOException {
    if (!fixture.tier().move(from, to, StandardCopyOption.ATOMIC_MOVE)) {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /** What the cleaner writes: it has the dead segment's inode, and takes its name. */
  private FileChannel compacted() throws IOException {
    Path cleaned = with(old, ".cleaned");
    reuse(old, cleaned);
    FileChannel channel = fixture.tier().open(cleaned, TierFixture.KAFKA).orElseThrow();
    assertThat(channel.size()).isZero();
    channel.write(ByteBuffer.wrap(YOUNGER));
    rename(cleaned, with(old, ".swap"));
    rename(with(old, ".swap"), old);
    return channel;
  }

  private void restart() throws IOException {
    active.close();
    fixture.reopen();
    openActive();
  }

  private void assertIsYounger(FileChannel open) throws IOException {
    assertThat(TierFixture.content(open)).isEqualTo(YOUNGER);
    open.close();
    assertThat(fixture.read(old)).isEqualTo(YOUNGER);
    restart();
    assertThat(fixture.read(old)).isEqualTo(YOUNGER);
    assertThat(Files.readAllBytes(old)).isEqualTo(YOUNGER);
  }

  @Test
  void copyOfADeadSegment() throws Exception {
    restart();
    SegmentView dead = fixture.view(old);
    FileChannel kafka = compacted();
    for (int attempt = 0; attempt < 2; attempt++) {
      MoveResult result =
          fixture.tier().tieredSegments().destage(dead.id(), LOG_DIRECTORY, MoveControl.UNLIMITED);
      assertThat(result.outcome()).isEqualTo(Outcome.CANCELLED);
    }
    assertIsYounger(kafka);
  }

  /**
   * The JDK closes the descriptor of a channel that nothing refers to any more, as those of a log
   * whose loading has failed: no other file's inode may be taken for that one's from then on.
   */
  @Test
  void channelThatIsDroppedWithoutBeingClosed() throws Exception {
    assertDone(fixture.destage(old, LOG_DIRECTORY));
    assertDone(fixture.evict(old));
    WeakReference<FileChannel> dropped =
        new WeakReference<>(fixture.tier().open(old, TierFixture.KAFKA).orElseThrow());
    TieredSegment dead = fixture.tier().registry().find(fixture.view(old).id()).orElseThrow();
    Awaitility.await()
        .until(
            () -> {
              System.gc();
              return dropped.refersTo(null);
            });
    assertThat(dead.segment().holdsFile()).isFalse();
    assertIsYounger(compacted());
  }

  @Test
  void evictionOfADeadSegment() throws Exception {
    assertDone(fixture.destage(old, LOG_DIRECTORY));
    restart();
    long dead = fixture.view(old).id();
    FileChannel kafka = compacted();
    fixture.tier().tieredSegments().evict(dead);
    fixture.awaitBackgroundWork();
    assertIsYounger(kafka);
  }

  @Test
  void promotionOfADeadSegment() throws Exception {
    putInALowerPool();
    long dead = fixture.view(old).id();
    FileChannel kafka = compacted();
    assertThat(fixture.tier().tieredSegments().promote(dead, 0, MoveControl.UNLIMITED).outcome())
        .isEqualTo(Outcome.CANCELLED);
    assertIsYounger(kafka);
  }

  @Test
  void promotionOfASegmentThatDiesMeanwhile() throws Exception {
    putInALowerPool();
    long dying = fixture.view(old).id();
    FileChannel[] kafka = new FileChannel[1];
    fixture.at(MoveStage.RELOCATE_COMMITTED, () -> kafka[0] = compacted());
    assertThat(fixture.tier().tieredSegments().promote(dying, 0, MoveControl.UNLIMITED).outcome())
        .isEqualTo(Outcome.CANCELLED);
    assertIsYounger(kafka[0]);
  }

  private void putInALowerPool() throws Exception {
    active.close();
    fixture.close();
    fixture = TierFixture.twoTiers(Files.createDirectory(root.resolve("two")), 16 << 20);
    fixture.open();
    old = fixture.segment("orders-0", 0);
    fixture.append(old, DEAD);
    openActive();
    active.write(ByteBuffer.wrap(YOUNGER));
    assertDone(fixture.destage(old, 1));
    restart();
  }

  /** The file goes while its segment is copied. */
  @Test
  void copyOfASegmentThatDiesMeanwhile() throws Exception {
    restart();
    SegmentView dying = fixture.view(old);
    FileChannel[] kafka = new FileChannel[1];
    fixture.at(MoveStage.DESTAGE_STARTED, () -> kafka[0] = compacted());
    assertThat(
            fixture
                .tier()
                .tieredSegments()
                .destage(dying.id(), LOG_DIRECTORY, MoveControl.UNLIMITED)
                .outcome())
        .isEqualTo(Outcome.CANCELLED);
    assertIsYounger(kafka[0]);
  }

  @Test
  void modificationTimeOfADeadSegment() throws Exception {
    active.close();
    fixture.close();
    fixture.openWithoutBackground();
    openActive();
    fixture.append(old, YOUNGER);
    FileChannel kafka = compacted();
    FileTime time = FileTime.fromMillis(1_000_000);
    Files.setLastModifiedTime(old, time);
    fixture.refreshModificationTimesHere();
    assertThat(Files.getLastModifiedTime(old)).isEqualTo(time);
    assertIsYounger(kafka);
  }

  /** Evicted under pressure: as long as its tag has not been removed the segment stays known. */
  @Test
  void newFileWithTheInodeOfAnEvictedSegment() throws Exception {
    assertDone(fixture.destage(old, LOG_DIRECTORY));
    CountDownLatch keeper = fixture.holdBackgroundWork();
    try {
      fillPool();
      FileChannel kafka = compacted();
      assertThat(Files.size(old)).isEqualTo(YOUNGER.length);
      keeper.countDown();
      fixture.awaitBackgroundWork();
      assertIsYounger(kafka);
    } finally {
      keeper.countDown();
    }
  }

  /** The other way round: the name has changed past the tier, and the segment lives. */
  @Test
  void evictedSegmentThatWasRenamedPastTheTier() throws Exception {
    assertDone(fixture.destage(old, LOG_DIRECTORY));
    Path swap = with(old, ".swap");
    assertThat(new File(old.toString()).renameTo(new File(swap.toString()))).isTrue();
    fillPool();
    fixture.awaitBackgroundWork();
    assertThat(fixture.read(swap)).isEqualTo(DEAD);
    rename(swap, old);
    assertThat(fixture.read(old)).isEqualTo(DEAD);
    restart();
    assertThat(fixture.read(old)).isEqualTo(DEAD);
  }

  private void fillPool() throws IOException {
    Path filling = fixture.segment("filling-0", 0);
    for (int i = 0;
        !fixture.tier().tieredSegments().state().segments().stream()
                .filter(view -> view.name().id().topic().equals("filling"))
                .allMatch(SegmentView::spilled)
            || i == 0;
        i++) {
      fixture.append(filling, Batches.of(1_000_000, 20 + i));
    }
  }

  /**
   * Killed right after a segment was made, and compaction was in its swap: LogLoader deletes the
   * original, and is killed too. What it deleted stays deleted.
   */
  @Test
  void segmentThatIsDeletedPastTheTierAtAStartIsNotRestored() throws Exception {
    CountDownLatch keeper = fixture.holdBackgroundWork();
    Path made = fixture.segment("late-0", 0);
    fixture.append(made, DEAD);
    TierFixture killed = fixture.copyTo(Files.createDirectory(root.resolve("killed")));
    keeper.countDown();
    Path copy = killed.root.resolve(fixture.root.relativize(made));
    killed.openWithoutBackground();
    // No later than now: Kafka loads its logs.
    assertThat(new File(copy.toString()).delete()).isTrue();
    TierFixture again = killed.copyTo(Files.createDirectory(root.resolve("again")));
    killed.close();
    try (again) {
      assertThat(again.open().recoveryReport().restored()).isEmpty();
      assertThat(again.root.resolve(fixture.root.relativize(made))).doesNotExist();
    }
  }
}
