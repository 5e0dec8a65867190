package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.migration.MoveResult.Outcome;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A segment's copy in a lower pool is kept, and found, for as long as home has not got it. */
final class CopiesBelowTest {

  private static final long MIB = 1 << 20;
  private static final int SLOW = 1;
  private static final int HOME = 2;
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

  /** All files as they are now; the fixture is theirs from here on. */
  private TierFixture copy() throws IOException {
    return fixture.copyTo(Files.createDirectory(directory.resolve("killed")));
  }

  /** Goes on with what a kill has left. */
  private void goOnWith(TierFixture killed) throws IOException {
    fixture.close();
    old = killed.root.resolve(fixture.root.relativize(old));
    fixture = killed;
  }

  private void startWithoutLogDirectory() throws IOException {
    Path unmounted = fixture.logs().resolveSibling("unmounted");
    Files.move(fixture.logs(), unmounted);
    fixture.open();
    fixture.close();
    Files.move(unmounted, fixture.logs());
  }

  /** Kafka has the active segment open, so that the one before it is known to be sealed. */
  private void evictOld() throws IOException {
    try (FileChannel newer =
        fixture.tier().open(fixture.segment("orders-0", 1000), TierFixture.KAFKA).orElseThrow()) {
      assertThat(newer.isOpen()).isTrue();
      assertDone(fixture.evict(old));
    }
  }

  @Test
  void startWithoutALogDirectoryKeepsItsCopiesBelow() throws Exception {
    assertDone(fixture.destage(old, SLOW));
    fixture.close();
    startWithoutLogDirectory();
    fixture.open();
    assertThat(fixture.view(old).cleanTier()).hasValue(SLOW);
    evictOld();
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  @Test
  void startWithoutALogDirectoryKeepsWhatWasJustEvicted() throws Exception {
    assertDone(fixture.destage(old, SLOW));
    TierFixture[] killed = new TierFixture[1];
    fixture.at(MoveStage.EVICT_FREED, () -> killed[0] = copy());
    assertDone(fixture.evict(old));
    goOnWith(killed[0]);
    startWithoutLogDirectory();
    fixture.open();
    assertThat(fixture.view(old).tier()).isEqualTo(SLOW);
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  @Test
  void cleanSegmentWhoseCopyBelowIsGoneIsNotClean() throws Exception {
    assertDone(fixture.destage(old, SLOW));
    SegmentTag below = SegmentTag.readBelow(old).orElseThrow();
    fixture.close();
    try (Pool slow = openPool(SLOW)) {
      Copies.free(new Residence(slow.slot(below.slot(), below.generation()).orElseThrow(), slow));
    }
    fixture.open();
    assertThat(fixture.view(old).clean()).isFalse();
    assertThat(fixture.evict(old).outcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  /** Of a segment that was changed just before a kill, and whose slot was damaged and given up. */
  @Test
  void outdatedCopyBelowDoesNotTakeThePlaceOfAGivenUpSlot() throws Exception {
    assertDone(fixture.destage(old, SLOW));
    CountDownLatch keeper = fixture.holdKeeper();
    fixture.append(old, NEW);
    TierFixture killed = copy();
    keeper.countDown();
    goOnWith(killed);
    SegmentTag tag = SegmentTag.read(old).orElseThrow();
    assertThat(SegmentTag.readBelow(old)).isPresent();
    damage(fixture.pools.get(0), tag.slot());
    assertThat(Pool.repair(fixture.pools.get(0)).freedSlots()).containsExactly(tag.slot());
    assertThatThrownBy(fixture::open)
        .hasMessageContaining(old.toString())
        .hasMessageContaining("strata set-aside");
  }

  private static void damage(Path pool, int slot) throws IOException {
    try (FileChannel file = FileChannel.open(pool, StandardOpenOption.WRITE)) {
      file.write(
          ByteBuffer.wrap(new byte[] {7, 7, 7}),
          SlotLayout.slotPosition(slot) + SlotLayout.GENERATION_OFFSET);
    }
  }

  @Test
  void cleanSegmentWithoutAnyCopyIsNotClean() throws Exception {
    SegmentTag tag = SegmentTag.read(old).orElseThrow();
    fixture.close();
    try (Pool fast = openPool(0)) {
      // As a flag does that was stored, and could not be forced.
      Slot slot = fast.slot(tag.slot(), tag.generation()).orElseThrow();
      slot.set(SlotFlag.CLEAN);
    }
    fixture.open();
    assertThat(fixture.view(old).clean()).isFalse();
    assertThat(fixture.evict(old).outcome()).isEqualTo(Outcome.CANCELLED);
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  private Pool openPool(int tier) throws IOException {
    return Pool.open(fixture.pools.get(tier), MemoryType.MAPPED, TierFixture.OWNER);
  }

  @Test
  void copyBelowOutlivesAFailureAfterTheSegmentBecameClean() throws Exception {
    fixture.at(
        MoveStage.DESTAGE_CLEAN,
        () -> {
          throw new IllegalStateException("after it became clean");
        });
    assertThatThrownBy(() -> fixture.destage(old, SLOW))
        .hasRootCauseMessage("after it became clean");
    assertThat(fixture.view(old).cleanTier()).hasValue(SLOW);
    fixture.reopen();
    assertThat(fixture.view(old).cleanTier()).hasValue(SLOW);
    evictOld();
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  @Test
  void oldCopyThatIsDroppedLateLeavesTheTieToTheNewOne() throws Exception {
    assertDone(fixture.destage(old, SLOW));
    CountDownLatch keeper = fixture.holdKeeper();
    fixture.append(old, NEW);
    assertDone(fixture.destage(old, SLOW));
    SegmentTag below = SegmentTag.readBelow(old).orElseThrow();
    keeper.countDown();
    fixture.awaitKeeper();
    assertThat(SegmentTag.readBelow(old)).hasValue(below);
    fixture.reopen();
    evictOld();
    byte[] expected = Arrays.copyOf(OLD, OLD.length + NEW.length);
    System.arraycopy(NEW, 0, expected, OLD.length, NEW.length);
    assertThat(fixture.read(old)).isEqualTo(expected);
  }

  @Test
  void evictedSegmentIsTiedToItsCopyWhileItIsDestagedFurther() throws Exception {
    assertDone(fixture.destage(old, SLOW));
    TierFixture[] killed = new TierFixture[1];
    fixture.at(
        MoveStage.EVICT_FREED,
        () -> {
          // Home's tag has not followed yet.
          fixture.at(MoveStage.DESTAGE_COPIED, () -> killed[0] = copy());
          assertDone(fixture.destage(old, HOME));
        });
    assertDone(fixture.evict(old));
    assertThat(fixture.read(old)).isEqualTo(OLD);
    goOnWith(killed[0]);
    fixture.open();
    assertThat(fixture.view(old).tier()).isEqualTo(SLOW);
    assertThat(fixture.read(old)).isEqualTo(OLD);
  }

  @Test
  void emptySegmentKeepsWhatIsAppendedAfterItsEviction() throws Exception {
    Path empty = fixture.segment("empty-0", 0);
    try (FileChannel channel = fixture.tier().open(empty, TierFixture.KAFKA).orElseThrow()) {
      fixture.append(fixture.segment("empty-0", 1000), NEW);
      assertDone(fixture.destage(empty, SLOW));
      assertDone(fixture.evict(empty));
      assertThat(channel.write(ByteBuffer.wrap(NEW), 0)).isEqualTo(NEW.length);
    }
    assertThat(fixture.read(empty)).isEqualTo(NEW);
    fixture.reopen();
    assertThat(fixture.read(empty)).isEqualTo(NEW);
  }

  @Test
  void deletionOfASegmentThatWasJustEvictedIsFinished() throws Exception {
    assertDone(fixture.destage(old, SLOW));
    TierFixture[] killed = new TierFixture[1];
    fixture.at(
        MoveStage.EVICT_FREED,
        () -> {
          TieredSegment segment =
              fixture.tier().registry().find(fixture.view(old).id()).orElseThrow();
          segment.segment().markDeleting();
          killed[0] = copy();
        });
    assertThat(fixture.evict(old)).isNotNull();
    goOnWith(killed[0]);
    assertThat(fixture.open().recoveryReport().deletionsFinished()).isEqualTo(1);
    assertThat(old).doesNotExist();
    assertThat(fixture.tier().pools().get(SLOW).usage().usedBytes()).isZero();
  }
}
