package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult.Outcome;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.spec.MoveStage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A segment moves from pool to pool, and is in one of them whatever happens on the way. */
final class RelocationTest {

  private static final long MIB = 1 << 20;
  private static final int SLOW = 1;
  private static final int LOG_DIRS = 2;
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

  private TierFixture killedAt(MoveStage stage, Move move) throws Exception {
    TierFixture[] killed = new TierFixture[1];
    fixture.at(stage, () -> killed[0] = copy());
    assertDone(move.run());
    return killed[0];
  }

  /** A move of a segment. */
  private interface Move {
    MoveResult run() throws Exception;
  }

  private void assertOnlyIn(int tier) throws IOException {
    assertThat(fixture.view(old).tier()).isEqualTo(tier);
    assertThat(fixture.read(old)).isEqualTo(OLD);
    for (int other = 0; other < LOG_DIRS; other++) {
      long newer = fixture.view(fixture.segment("orders-0", 1000)).tier() == other ? 128 << 10 : 0;
      long least = newer + (other == tier ? OLD.length : 0);
      // Appends have doubled the space; a copy takes what it needs.
      assertThat(fixture.tier().pools().get(other).usage().usedBytes())
          .as("tier " + other)
          .isBetween(least, other == tier ? newer + MIB : newer);
    }
  }

  @Test
  void relocatedSegmentIsInOnePool() throws Exception {
    assertDone(fixture.destage(old, SLOW));
    assertOnlyIn(SLOW);
    fixture.reopen();
    assertOnlyIn(SLOW);
    promoteOld();
    assertOnlyIn(0);
    fixture.reopen();
    assertOnlyIn(0);
  }

  /** Kafka has the active segment open, so that the one before it is known to be sealed. */
  private void promoteOld() throws Exception {
    try (FileChannel newer =
        fixture.tier().open(fixture.segment("orders-0", 1000), TierFixture.KAFKA).orElseThrow()) {
      assertThat(newer.isOpen()).isTrue();
      assertDone(fixture.promote(old, 0));
    }
  }

  @Test
  void killBeforeTheTagLeavesItWhereItWas() throws Exception {
    goOnWith(killedAt(MoveStage.RELOCATE_COMMITTED, () -> fixture.destage(old, SLOW)));
    assertThat(fixture.open().recoveryReport().copiesDropped()).isEqualTo(1);
    assertOnlyIn(0);
  }

  @Test
  void killAfterTheTagLeavesItWhereItGoes() throws Exception {
    goOnWith(killedAt(MoveStage.RELOCATE_TAGGED, () -> fixture.destage(old, SLOW)));
    assertThat(fixture.open().recoveryReport().copiesDropped()).isEqualTo(1);
    assertOnlyIn(SLOW);
  }

  @Test
  void startWithoutALogDirectoryKeepsBothSlots() throws Exception {
    goOnWith(killedAt(MoveStage.RELOCATE_TAGGED, () -> fixture.destage(old, SLOW)));
    startWithoutLogDirectory();
    fixture.open();
    assertOnlyIn(SLOW);
  }

  @Test
  void failureAfterTheTagLeavesItWhereItWas() throws Exception {
    fixture.at(
        MoveStage.RELOCATE_TAGGED,
        () -> {
          throw new IllegalStateException("after the tag");
        });
    assertThatThrownBy(() -> fixture.destage(old, SLOW)).hasRootCauseMessage("after the tag");
    assertOnlyIn(0);
    fixture.reopen();
    assertOnlyIn(0);
  }

  @Test
  void whatTheLogFileHasItKeepsOnTheWay() throws Exception {
    assertDone(fixture.destage(old, LOG_DIRS));
    assertDone(fixture.destage(old, SLOW));
    assertThat(fixture.view(old).cleanTier()).hasValue(LOG_DIRS);
    assertThat(Files.readAllBytes(old)).isEqualTo(OLD);
    fixture.reopen();
    assertThat(fixture.view(old).cleanTier()).hasValue(LOG_DIRS);
    assertOnlyIn(SLOW);
  }

  /** A reboot takes what is in memory: the log file has it first. */
  @Test
  void dirtySegmentIsCopiedToItsLogFileBeforeItMovesIntoMemory() throws Exception {
    Path memory = Path.of("/dev/shm");
    assumeTrue(Files.isDirectory(memory), "no /dev/shm");
    Path pools = Files.createTempDirectory(memory, "strata-relocation-");
    fixture.close();
    try {
      fixture = new TierFixture(Files.createDirectory(directory.resolve("mixed")));
      fixture.pool("disk.pool", 16 * MIB).pool(pools.resolve("memory.pool").toString(), 16 * MIB);
      fixture.inTiers("disk", "memory").open();
      old = fixture.segment("orders-0", 0);
      fixture.append(old, OLD);
      fixture.append(fixture.segment("orders-0", 1000), NEW);
      assertDone(fixture.destage(old, SLOW));
      assertThat(fixture.view(old).tier()).isEqualTo(SLOW);
      assertThat(fixture.view(old).cleanTier()).hasValue(LOG_DIRS);
      assertThat(Files.readAllBytes(old)).isEqualTo(OLD);
    } finally {
      fixture.close();
      Files.deleteIfExists(pools.resolve("memory.pool"));
      Files.delete(pools);
    }
  }

  @Test
  void changeWhileItIsRelocatedWins() throws Exception {
    fixture.at(MoveStage.RELOCATE_COMMITTED, () -> fixture.append(old, NEW));
    assertThat(fixture.destage(old, SLOW).outcome()).isEqualTo(Outcome.CANCELLED);
    byte[] expected = Arrays.copyOf(OLD, OLD.length + NEW.length);
    System.arraycopy(NEW, 0, expected, OLD.length, NEW.length);
    assertThat(fixture.view(old).tier()).isZero();
    assertThat(fixture.tier().pools().get(SLOW).usage().usedBytes()).isZero();
    fixture.reopen();
    assertThat(fixture.read(old)).isEqualTo(expected);
  }

  @Test
  void deletionWhileItIsRelocatedFreesBothSlots() throws Exception {
    fixture.at(MoveStage.RELOCATE_COMMITTED, () -> assertThat(fixture.tier().delete(old)).isTrue());
    assertThat(fixture.destage(old, SLOW).outcome()).isEqualTo(Outcome.CANCELLED);
    fixture.reopen();
    assertThat(old).doesNotExist();
    assertThat(fixture.tier().pools().get(0).usage().usedBytes()).isEqualTo(128 << 10);
    assertThat(fixture.tier().pools().get(SLOW).usage().usedBytes()).isZero();
  }

  @Test
  void relocatedSegmentWhoseSlotWasRepairedIsRefused() throws Exception {
    assertDone(fixture.destage(old, SLOW));
    fixture.close();
    SegmentTag tag = SegmentTag.read(old).orElseThrow();
    damage(fixture.pools.get(SLOW), tag.slot());
    assertThat(Pool.repair(fixture.pools.get(SLOW)).freedSlots()).containsExactly(tag.slot());
    assertThatThrownBy(fixture::open)
        .hasMessageContaining(old.toString())
        .hasMessageContaining("strata accept-loss");
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
      slot.setCleanLength(slot.committedLength());
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

  /** Where it has spilled is no place for a destage to begin at: that may be within a batch. */
  @Test
  void spilledSegmentThatIsCleanIsWhollyCleanInItsNewPool() throws Exception {
    Path filler = fixture.segment("filler-0", 0);
    fixture.append(filler, Batches.of((int) (10 * MIB), 5));
    Path spilled = fixture.segment("spilled-0", 0);
    byte[] bytes = Batches.of((int) (6 * MIB), 6);
    fixture.append(spilled, bytes);
    assertThat(fixture.view(spilled).spilled()).isTrue();
    // Otherwise the reserve of a pool that needs forces would be made of what is clean.
    assertThat(fixture.tier().delete(filler)).isTrue();
    fixture.append(fixture.segment("spilled-0", 1000), NEW);
    assertDone(fixture.destage(spilled, LOG_DIRS));
    assertThat(fixture.view(spilled).clean()).isTrue();
    assertDone(fixture.destage(spilled, SLOW));
    assertThat(fixture.view(spilled).clean()).isTrue();
    fixture.append(spilled, NEW);
    assertThat(fixture.view(spilled).clean()).isFalse();
    assertDone(fixture.destage(spilled, LOG_DIRS));
    assertDone(fixture.evict(spilled));
    assertThat(fixture.read(spilled)).startsWith(bytes).endsWith(NEW);
  }
}
