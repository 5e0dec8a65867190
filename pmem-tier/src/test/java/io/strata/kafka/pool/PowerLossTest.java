package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.layout.SessionLayout;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.OpenReport.Shortened;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.Session;
import io.strata.kafka.pool.words.SlotFlag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A pool whose bytes must be forced to survive a power cut, across boots of the machine. */
class PowerLossTest {
  private static final int SIZE = 4 << 20;
  private static final int BLOCK = 64 << 10;
  private static final int CUTS = 40;
  private static final UUID DIRECTORY = new UUID(1, 1);

  private RecordingMemory memory = new RecordingMemory(SIZE, Durability.FORCE);

  private void format() throws IOException {
    Pool.format(memory, PoolSpec.of(Path.of("unused"), MemoryType.MAPPED, SIZE));
  }

  private Pool open(long boot) throws IOException {
    return PoolOpener.open(memory, PoolOwner.ANY, OptionalLong.of(boot), () -> {});
  }

  private static Slot allocate(Pool pool) throws IOException {
    return pool.allocateSlot(DIRECTORY, "t-0/0.log").orElseThrow();
  }

  /** A segment of 150,000 bytes, of which nothing has been forced. */
  private static Slot segment(Pool pool) throws IOException {
    Slot slot = allocate(pool);
    append(pool, slot, 150_000, 1);
    return slot;
  }

  /** Makes the segment {@code length} bytes long. */
  private static void append(Pool pool, Slot slot, int length, int append) throws IOException {
    while (slot.extents().end() < length) {
      assertThat(slot.grow()).isTrue();
    }
    byte[] content = expected(slot, length, append);
    ExtentList extents = slot.extents();
    for (int at = (int) slot.committedLength(); at < length; ) {
      int i = extents.find(at);
      int within = (int) (at - extents.start(i));
      int piece = (int) Math.min(length - at, extents.length(i) - within);
      pool.memory()
          .storeAndPersist(extents.position(i) + within, ByteBuffer.wrap(content, at, piece));
      at += piece;
    }
    slot.commit(length);
  }

  private static byte[] expected(Slot slot, int length, int append) {
    byte[] content = new byte[length];
    PoolWorkload.fill(
        content, 0, new PoolWorkload.Identity(slot.index(), slot.generation()), append);
    return content;
  }

  private static void assertContent(Pool pool, Slot slot, int append) throws IOException {
    byte[] expected = expected(slot, (int) slot.committedLength(), append);
    assertThat(PoolWorkload.content(pool, slot)).isEqualTo(expected);
  }

  /** The bytes from {@code from} on are those expected, or zeros. */
  private static void assertOwnOrZero(Pool pool, Slot slot, int from, int append)
      throws IOException {
    byte[] expected = expected(slot, (int) slot.committedLength(), append);
    byte[] found = PoolWorkload.content(pool, slot);
    for (int i = from; i < found.length; i++) {
      if (found[i] != expected[i] && found[i] != 0) {
        throw new AssertionError(slot + ": found " + found[i] + " at " + i);
      }
    }
  }

  private Slot only(Pool pool) {
    assertThat(pool.slots()).hasSize(1);
    return pool.slots().get(0);
  }

  @Test
  void nothingIsLostWhenEverythingReachedTheMediumBeforeTheReboot() throws IOException {
    format();
    Slot slot = segment(open(1));
    slot.force(0, 60_000);
    memory.force(0, SIZE); // the broker was killed, and then the file system unmounted
    memory = memory.crash(new Random(1));

    Pool pool = open(2);

    assertThat(pool.report().powerLost()).isTrue();
    assertThat(pool.report().shortened()).isEmpty();
    assertThat(only(pool).committedLength()).isEqualTo(150_000);
    assertContent(pool, only(pool), 1);
    memory = memory.crash(new Random(2));
    Pool again = open(3);
    assertContent(again, only(again), 1);
  }

  @Test
  void aKilledProcessLosesNothing() throws IOException {
    format();
    assertThat(segment(open(1)).committedLength()).isEqualTo(150_000);
    memory = memory.kill();
    Pool pool = open(1);
    assertThat(pool.report().powerLost()).isFalse();
    assertContent(pool, only(pool), 1);
    assertThat(only(pool).committedLength()).isEqualTo(150_000);
    PoolWorkload.assertZerosOutside(pool);
  }

  @Test
  void aClosedPoolLosesNothing() throws IOException {
    format();
    Pool pool = open(1);
    assertThat(segment(pool).committedLength()).isEqualTo(150_000);
    pool.close();
    memory = memory.crash(new Random(1));
    Pool again = open(2);
    assertThat(again.report().powerLost()).isFalse();
    assertContent(again, only(again), 1);
    // Durable since it was closed: the next power cut does not take it.
    memory = memory.crash(new Random(2));
    Pool third = open(3);
    assertThat(third.report().powerLost()).isTrue();
    assertThat(only(third).committedLength()).isEqualTo(150_000);
  }

  @Test
  void whatWasFlushedIsThereAndTheRestIsItsOwnOrZeros() throws IOException {
    for (int cut = 0; cut < CUTS; cut++) {
      memory = new RecordingMemory(SIZE, Durability.FORCE);
      format();
      Pool pool = open(1);
      dirty(pool);
      Slot slot = allocate(pool);
      append(pool, slot, 100_000, 1);
      slot.force(0, 100_000);
      append(pool, slot, 700_000, 1);
      memory = memory.crash(new Random(cut));

      Pool found = open(2);

      Slot left = only(found);
      assertThat(left.committedLength()).as("cut %d", cut).isBetween(100_000L, 700_000L);
      assertThat(Arrays.copyOf(PoolWorkload.content(found, left), 100_000))
          .isEqualTo(expected(left, 100_000, 1));
      assertOwnOrZero(found, left, 100_000, 1);
      PoolWorkload.assertZerosOutside(found);
      for (Shortened shortened : found.report().shortened()) {
        assertThat(shortened.to()).isEqualTo(left.committedLength()).isLessThan(shortened.from());
      }
      append(found, left, 800_000, 1);
      left.force(100_000, 800_000);
      memory = memory.crash(new Random(cut));
      assertThat(PoolChecker.check(memory).clean()).isTrue();
      assertThat(only(open(3)).committedLength()).isEqualTo(800_000);
    }
  }

  /** Fills the pool with a segment's bytes, and deletes it. */
  private static void dirty(Pool pool) throws IOException {
    Slot slot = allocate(pool);
    while (slot.grow()) {
      append(pool, slot, (int) slot.extents().end(), 77);
    }
    slot.force(0, slot.committedLength());
    List<Extent> extents = slot.extents().toList();
    slot.free();
    pool.release(extents);
  }

  @Test
  void whatWasTruncatedDoesNotReappear() throws IOException {
    for (int cut = 0; cut < CUTS; cut++) {
      memory = new RecordingMemory(SIZE, Durability.FORCE);
      format();
      Pool pool = open(1);
      Slot slot = allocate(pool);
      append(pool, slot, 300_000, 1);
      slot.force(0, 300_000);
      List<Extent> dropped = slot.truncate(10_000);
      if (cut % 2 == 0) {
        pool.release(dropped);
      }
      append(pool, slot, 300_000, 2);
      memory = memory.crash(new Random(cut));

      Pool found = open(2);

      Slot left = only(found);
      assertThat(Arrays.copyOf(PoolWorkload.content(found, left), 10_000))
          .isEqualTo(expected(left, 10_000, 1));
      assertOwnOrZero(found, left, 10_000, 2);
    }
  }

  @Test
  void whatWasTruncatedDoesNotReappearAfterAKillEither() throws IOException {
    format();
    Pool pool = open(1);
    Slot slot = allocate(pool);
    append(pool, slot, 60_000, 1);
    slot.force(0, 60_000);
    // The process dies when the new length is durable, and the bytes behind it are not zeros yet.
    long tail = slot.extents().position(0) + 10_000;
    memory.fail(tail, 1);
    assertThatThrownBy(() -> slot.truncate(10_000)).isInstanceOf(IOException.class);
    memory = memory.kill();
    Pool again = open(1);
    PoolWorkload.assertZerosOutside(again);
    assertThat(only(again).committedLength()).isEqualTo(10_000);
  }

  @Test
  void aTruncationThatFailedMustSucceedBeforeAnythingIsAppended() throws IOException {
    format();
    Pool pool = open(1);
    Slot slot = allocate(pool);
    append(pool, slot, 200_000, 1);
    memory.fail(slot.extents().position(0) + 10_000, 1);
    assertThatThrownBy(() -> slot.truncate(10_000)).isInstanceOf(IOException.class);
    assertThat(slot.committedLength()).isEqualTo(10_000);
    assertThat(slot.extents().count()).isEqualTo(1);
    assertThatThrownBy(() -> slot.commit(10_001))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("expected zeros");
    assertThatThrownBy(slot::grow).isInstanceOf(IOException.class);
    memory.heal();
    assertThat(slot.truncate(10_000)).isEmpty();
    append(pool, slot, 20_000, 2);
    // The extents that were dropped then have not come back, and are not zeros.
    pool.close();
    assertThat(Session.read(memory.kill(), pool.salt()).session().cleared()).isFalse();
    memory = memory.kill();
    Pool again = open(1);
    PoolWorkload.assertZerosOutside(again);
    assertThat(again.usage().usedBytes()).isEqualTo(BLOCK);
  }

  @Test
  void aReleaseThatFailsReleasesNothing() throws IOException {
    format();
    Pool pool = open(1);
    Slot slot = segment(pool);
    long free = pool.usage().freeBytes();
    List<Extent> extents = slot.extents().toList();
    memory.fail(extents.get(1).position(), 1);
    slot.free();
    assertThatThrownBy(() -> pool.release(extents)).isInstanceOf(IOException.class);
    assertThat(pool.usage().freeBytes()).isEqualTo(free);
    memory.heal();
    pool.close();
    memory = memory.kill();
    Pool again = open(1);
    PoolWorkload.assertZerosOutside(again);
    assertThat(again.usage().usedBytes()).isZero();
  }

  @Test
  void onlyAPoolThatWasClosedInOrderIsNotMadeZeros() throws IOException {
    format();
    Pool pool = open(1);
    dirty(pool);
    assertThat(segment(pool).committedLength()).isEqualTo(150_000);
    pool.close();
    memory = memory.kill();
    assertThat(Session.read(memory, pool.salt()).session().cleared()).isTrue();
    // Nothing else is written here; a mark shows whether the next opening does.
    long mark = pool.info().dataPosition() + pool.info().dataSize() - 8;
    memory.storeLong(mark, 1);
    assertThat(open(1).slots()).hasSize(1);
    assertThat(memory.loadLong(mark)).isEqualTo(1);
    memory = memory.kill();
    assertThat(open(1).slots()).hasSize(1);
    assertThat(memory.loadLong(mark)).isZero();
  }

  @Test
  void repairLeavesBytesWhereThereMustBeZeros() throws IOException {
    format();
    Pool pool = open(1);
    assertThat(segment(pool).index()).isZero();
    pool.close();
    memory = memory.kill();
    memory.storeLong(SlotLayout.slotPosition(0) + SlotLayout.COMMITTED_LENGTH_OFFSET, 1);
    assertThat(PoolFile.repair(memory).freedSlots()).containsExactly(0);
    PoolWorkload.assertZerosOutside(open(1));
  }

  /** The same place of the medium, say. Its own generation cannot be read, and no other is near. */
  @Test
  void aSlotThatIsRepairedAgainHasDiscardedWhatItHad() throws IOException {
    format();
    long repaired = Instant.parse("2026-12-01T00:00:00Z").toEpochMilli();
    long before = 0;
    for (int time = 0; time < 4; time++) {
      Pool pool = open(1);
      Slot damaged = segment(pool);
      while (damaged.index() != 0) {
        List<Extent> extents = damaged.extents().toList();
        damaged.free();
        pool.release(extents);
        damaged = segment(pool);
      }
      long tagged = damaged.generation();
      assertThat(tagged).isGreaterThan(before);
      pool.close();
      memory = memory.kill();
      memory.zero(SlotLayout.slotPosition(0), SlotLayout.SLOT_LENGTH);
      long millis = repaired;
      assertThat(PoolFile.repair(memory, () -> Instant.ofEpochMilli(millis)).freedSlots())
          .containsExactly(0);
      Pool now = open(1);
      assertThat(SlotLayout.isDiscarded(tagged, now.generation(0))).as("time %s", time).isTrue();
      now.close();
      memory = memory.kill();
      before = tagged;
      repaired += Duration.ofDays(1).toMillis();
    }
  }

  /** Its extents were not released: its log file could not be unlinked. */
  @Test
  void theBytesOfADeletedSegmentAreMadeZeros() throws IOException {
    format();
    Pool pool = open(1);
    segment(pool).markDeleting();
    pool.close();
    memory = memory.kill();
    assertThat(Session.read(memory, pool.salt()).session().cleared()).isFalse();
    PoolWorkload.assertZerosOutside(open(1));
  }

  @Test
  void whatLiesInLogFilePinsTheSeam() throws IOException {
    for (int cut = 0; cut < CUTS; cut++) {
      memory = new RecordingMemory(SIZE, Durability.FORCE);
      format();
      Pool pool = open(1);
      segment(pool).set(SlotFlag.SPILLED);
      memory = memory.crash(new Random(cut));
      Pool found = open(2);
      assertThat(only(found).has(SlotFlag.SPILLED)).as("a flag is forced when set").isTrue();
      assertThat(only(found).committedLength()).isEqualTo(150_000);
      assertThat(found.report().shortened()).isEmpty();
      assertOwnOrZero(found, only(found), 0, 1);
    }
  }

  @Test
  void theBytesOfACleanSegmentAreForced() throws IOException {
    format();
    Pool pool = open(1);
    Slot slot = segment(pool);
    slot.setCleanLength(slot.committedLength());
    memory = memory.crash(new Random(1));
    Pool found = open(2);
    assertThat(only(found).cleanLength()).isEqualTo(150_000);
    assertThat(only(found).committedLength()).isEqualTo(150_000);
    assertContent(found, only(found), 1);
  }

  @Test
  void aSegmentThatIsShortenedIsNotSpilled() throws IOException {
    format();
    Slot slot = segment(open(1));
    slot.set(SlotFlag.SPILLED);
    slot.set(SlotFlag.NAME_DURABLE);
    memory = memory.kill();
    // As if the power had gone while the flag was being forced.
    memory.zero(SlotLayout.slotPosition(slot.index()) + SlotLayout.EXTENTS_OFFSET + 8, 8);
    Pool found = open(2);
    assertThat(found.report().shortened())
        .containsExactly(new Shortened(slot.index(), "t-0/0.log", 150_000, BLOCK));
    assertThat(only(found).has(SlotFlag.SPILLED))
        .as("the log file would begin behind a hole")
        .isFalse();
    assertThat(only(found).has(SlotFlag.NAME_DURABLE)).isTrue();
    assertThat(only(found).committedLength()).isEqualTo(BLOCK);
  }

  @Test
  void aBrokenSessionLineIsAsAPowerCut() throws IOException {
    format();
    segment(open(1)).force(0, 150_000);
    memory = memory.kill();
    memory.storeLong(SessionLayout.POSITION, 0);
    Pool pool = open(1);
    assertThat(pool.report().repaired()).hasSize(1);
    assertThat(pool.report().powerLost()).isTrue();
    assertContent(pool, only(pool), 1);
    assertThat(PoolChecker.check(memory).clean()).isTrue();
  }

  @Test
  void aPoolOnMemoryThatSurvivesPowerCutsKnowsNone() throws IOException {
    memory = new RecordingMemory(SIZE, Durability.POWER);
    format();
    assertThat(segment(open(1)).committedLength()).isEqualTo(150_000);
    memory = memory.crash(new Random(1));
    Pool pool = open(2);
    assertThat(pool.report().powerLost()).isFalse();
    assertThat(pool.slots().get(0).committedLength()).isEqualTo(150_000);
  }

  @Test
  void aFlushThatRacedWithATruncationVoidsNoLaterOne() throws IOException {
    for (int cut = 0; cut < CUTS; cut++) {
      memory = new RecordingMemory(SIZE, Durability.FORCE);
      format();
      Pool pool = open(1);
      Slot slot = allocate(pool);
      append(pool, slot, 150_000, 1);
      memory.beforeForce(slot.extents().position(0), () -> slot.truncate(20_000));
      slot.force(0, 150_000);
      append(pool, slot, 60_000, 1);
      slot.force(20_000, 60_000);
      append(pool, slot, 70_000, 1);
      memory = memory.crash(new Random(cut));

      Pool found = open(2);

      assertThat(only(found).committedLength()).isBetween(60_000L, 70_000L);
      assertThat(Arrays.copyOf(PoolWorkload.content(found, only(found)), 60_000))
          .isEqualTo(expected(only(found), 60_000, 1));
    }
  }

  @Test
  void aFlushThatRacedWithATruncationForcesWhatIsLeft() throws IOException {
    for (int cut = 0; cut < CUTS; cut++) {
      memory = new RecordingMemory(SIZE, Durability.FORCE);
      format();
      Pool pool = open(1);
      Slot slot = allocate(pool);
      append(pool, slot, 150_000, 1);
      memory.beforeForce(
          slot.extents().position(0),
          () -> {
            pool.release(slot.truncate(20_000));
            append(pool, slot, 90_000, 2);
          });
      slot.force(0, 150_000);
      memory = memory.crash(new Random(cut));

      Pool found = open(2);

      assertThat(only(found).committedLength()).isBetween(20_000L, 90_000L);
      assertThat(Arrays.copyOf(PoolWorkload.content(found, only(found)), 20_000))
          .isEqualTo(expected(only(found), 20_000, 1));
      assertOwnOrZero(found, only(found), 20_000, 2);
    }
  }

  @Test
  void aSlotIsFreeOnTheMediumBeforeItsExtentsAreAnothers() throws IOException {
    for (int cut = 0; cut < CUTS; cut++) {
      memory = new RecordingMemory(SIZE, Durability.FORCE);
      format();
      Pool pool = open(1);
      Slot other = segment(pool);
      Slot freed = segment(pool);
      Slot third = segment(pool);
      Slot reused = allocate(pool); // its slot is not the one that is freed
      for (Slot slot : List.of(other, freed, third)) {
        slot.force(0, 150_000);
      }
      List<Extent> freedExtents = freed.extents().toList();
      // In the middle of freeing one segment, another's extents are released.
      memory.afterStoreLong(
          SlotLayout.slotPosition(freed.index()) + SlotLayout.STATE_OFFSET,
          () -> pool.release(other.truncate(0)));
      freed.free();
      memory.afterStoreLong(
          SlotLayout.slotPosition(third.index()) + SlotLayout.EXTENTS_IN_USE_OFFSET,
          () -> pool.release(List.of()));
      pool.release(third.truncate(0));
      pool.release(freedExtents);
      append(pool, reused, 900_000, 1);
      reused.force(0, 900_000);
      memory = memory.crash(new Random(cut));

      assertThat(PoolChecker.check(memory).findings()).as("cut %d", cut).isEmpty();
      Pool found = open(2);
      assertThat(found.slots()).hasSize(3);
      Slot left = found.slot(reused.index(), reused.generation()).orElseThrow();
      assertThat(left.committedLength()).isEqualTo(900_000);
      assertContent(found, left, 1);
    }
  }

  @Test
  void aForceFromFarAwayCoversTheRest() throws IOException {
    format();
    Slot slot = segment(open(1));
    slot.force(Long.MAX_VALUE, Long.MAX_VALUE);
    assertThat(slot.isForced()).isTrue();
    memory = memory.crash(new Random(1));
    assertThat(open(2).slots().get(0).committedLength()).isEqualTo(150_000);
  }
}
