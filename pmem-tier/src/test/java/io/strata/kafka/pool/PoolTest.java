package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.CrashError;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.space.BuddyAllocator;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PoolTest {
  private static final int SIZE = 8 << 20;
  private static final UUID DIRECTORY = UUID.fromString("00000001-0002-0003-0004-000000000005");
  private static final long KIB = 1024;
  private static final long MIB = 1024 * KIB;

  /** What a crash at one point may leave: so many of them. */
  private static final int LOSSES = 10 * Integer.getInteger("strata.pool.crash.seeds", 1);

  private RecordingMemory memory = new RecordingMemory(SIZE);

  private Pool open() throws IOException {
    return Pool.open(memory, PoolOwner.ANY);
  }

  private static PoolSpec spec() {
    return PoolSpec.of(Path.of("unused"), MemoryType.MAPPED, SIZE);
  }

  private Pool create() throws IOException {
    Pool.format(memory, spec());
    return open();
  }

  private Pool reopen() throws IOException {
    return Pool.open(memory.kill(), PoolOwner.ANY);
  }

  @ParameterizedTest
  @EnumSource(Durability.class)
  void aSegmentIsThereAfterReopening(Durability durability) throws IOException {
    RecordingMemory bytes = new RecordingMemory(SIZE, durability);
    Pool.format(bytes, spec());
    Pool pool = Pool.open(bytes, PoolOwner.ANY);
    Slot slot = pool.allocateSlot(DIRECTORY, "topic-0/00000000000000000000.log").orElseThrow();
    assertThat(slot.grow()).isTrue();
    assertThat(slot.grow()).isTrue();
    slot.commit(100 * KIB);
    slot.set(SlotFlag.NAME_DURABLE);

    Pool again = Pool.open(bytes.kill(), PoolOwner.ANY);

    Slot found = again.slot(slot.index(), slot.generation()).orElseThrow();
    assertThat(found.directoryId()).isEqualTo(DIRECTORY);
    assertThat(found.relativePath()).isEqualTo("topic-0/00000000000000000000.log");
    assertThat(found.createdAtMillis()).isEqualTo(slot.createdAtMillis());
    assertThat(found.committedLength()).isEqualTo(100 * KIB);
    assertThat(found.extents()).isEqualTo(slot.extents());
    assertThat(found.state()).isEqualTo(SlotState.LIVE);
    assertThat(found.has(SlotFlag.NAME_DURABLE)).isTrue();
    assertThat(found.has(SlotFlag.SPILLED)).isFalse();
    assertThat(again.usage()).isEqualTo(pool.usage());
    assertThat(again.slots()).containsExactly(found);
    assertThat(again.report().powerLost()).isFalse();
  }

  @Test
  void theSpaceDoublesAndFallsBackToShorterExtents() throws IOException {
    Slot slot = create().allocateSlot(DIRECTORY, "a").orElseThrow();
    List<Long> lengths = new ArrayList<>();
    while (slot.grow()) {
      lengths.add(slot.extents().length(slot.extents().count() - 1) / KIB);
    }
    // 6 MiB of data, of which an eighth is 768 KiB.
    assertThat(lengths).startsWith(64L, 64L, 128L, 256L, 512L, 512L);
    assertThat(slot.extents().end()).isEqualTo(6 << 20);
    assertThat(lengths.stream().mapToLong(Long::longValue).sum()).isEqualTo(6 * KIB);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 17, 33, 35})
  void aCopyTakesNoMoreThanItNeeds(int blocks) throws IOException {
    Slot slot = create().allocateSlot(DIRECTORY, "a").orElseThrow();
    long size = blocks * 64L * KIB - 1;
    while (slot.extents().end() < size) {
      assertThat(slot.growFor(size - slot.extents().end())).isTrue();
    }
    assertThat(slot.extents().end()).isBetween(blocks * 64L * KIB, (blocks + 1) * 64L * KIB);
  }

  /** The entries suffice for Kafka's longest segment, however small a share is. */
  @ParameterizedTest
  @ValueSource(ints = {0, 2, 4, 10})
  void theLongestExtentIsAShareOfThePool(int order) {
    ExtentList extents = ExtentList.EMPTY;
    while (extents.count() < SlotLayout.MAX_EXTENTS) {
      long length = BuddyAllocator.lengthOf(Slot.nextOrder(extents, order));
      assertThat(length)
          .isLessThanOrEqualTo(Math.max(BuddyAllocator.lengthOf(order), extents.length() / 3));
      extents = extents.with(new Extent(0, length));
    }
    assertThat(extents.length()).isGreaterThan(2L << 30);
  }

  /** An eighth of 16 MiB is less than 64 KiB for each of them. */
  @Test
  void theLastExtentsOfManySegmentsTakeASmallPartOfASmallPool() throws IOException {
    memory = new RecordingMemory(16 << 20);
    Pool.format(
        memory, PoolSpec.of(Path.of("unused"), MemoryType.MAPPED, 16 << 20).withSlotCount(40));
    Pool pool = open();
    List<Slot> slots = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      slots.add(pool.allocateSlot(DIRECTORY, "segment" + i).orElseThrow());
    }
    for (Slot slot : slots) {
      for (int i = 0; i < 5; i++) {
        assertThat(slot.grow()).isTrue();
        assertThat(slot.extents().length(i)).isEqualTo(64 * KIB);
      }
    }
  }

  @Test
  void aPartIsEvictedAndTheRingGoesOn() throws IOException {
    Pool pool = create();
    Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    long end = 0;
    for (int i = 0; i < 200; i++) {
      assertThat(slot.grow()).isTrue();
      end = slot.extents().end();
      slot.commit(end - 1);
      slot.setCleanLength(end - 1);
      List<Extent> dropped = slot.evict(slot.cleanLength());
      pool.release(dropped);
      assertThat(slot.extents().count()).isEqualTo(1);
    }
    assertThat(slot.extents().start()).isGreaterThan(100 * 64 * KIB);
    assertThat(pool.usage().usedBytes()).isEqualTo(slot.extents().length());
    Pool again = reopen();
    Slot found = again.slot(slot.index(), slot.generation()).orElseThrow();
    assertThat(found.extents()).isEqualTo(slot.extents());
    assertThat(found.committedLength()).isEqualTo(end - 1);
    assertThat(found.cleanLength()).isEqualTo(end - 1);
    assertThatThrownBy(() -> found.evict(found.committedLength() + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** A reader in another process that comes in the middle of it. */
  @Test
  void aSnapshotInAnEvictionIsNotValidWithTheExtentsOfBefore() throws IOException {
    for (int offset : new int[] {SlotLayout.EXTENTS_IN_USE_OFFSET, SlotLayout.TRUNCATIONS_OFFSET}) {
      Pool pool = create();
      Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
      assertThat(slot.grow()).isTrue();
      assertThat(slot.grow()).isTrue();
      slot.commit(100 * KIB);
      slot.setCleanLength(100 * KIB);
      PoolReader reader = new PoolReader(memory);
      List<SlotSnapshot> seen = new ArrayList<>();
      memory.afterStoreLong(
          SlotLayout.slotPosition(slot.index()) + offset,
          () -> seen.add(reader.read(slot.index()).orElseThrow()));
      assertThat(slot.evict(100 * KIB)).hasSize(1);
      assertThat(seen).hasSize(1);
      assertThat(seen.get(0).extents().equals(slot.extents()) || !reader.valid(seen.get(0)))
          .as("in the middle, after the store at %s", offset)
          .isTrue();
    }
  }

  /** An opening finds the slot as before, or as after it, and goes on from there. */
  @ParameterizedTest
  @EnumSource(
      value = Durability.class,
      names = {"POWER", "FORCE"})
  void extentsBeginAgainAtOnceWhereverACrashComes(Durability durability) throws IOException {
    long end = 200 * KIB;
    int after = 0;
    for (int point = 1; after < 8; point++) {
      memory = new RecordingMemory(SIZE, durability);
      Pool pool = create();
      Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
      while (slot.extents().end() < 100 * KIB) {
        assertThat(slot.grow()).isTrue();
      }
      slot.commit(100 * KIB);
      slot.set(SlotFlag.SPILLED);
      slot.setCleanLength(100 * KIB);
      memory.crashBefore(memory.persistPoints() + point);
      try {
        assertThat(slot.beginAt(end)).isNotEmpty();
      } catch (CrashError e) {
        assertThat(e).as("the crash before persist point %s", point).isNotNull();
      }
      boolean done = false;
      for (int loss = 0; loss < LOSSES; loss++) {
        RecordingMemory left = memory.crash(new Random(loss));
        Slot found = OtherBoot.open(left, 4711).slot(slot.index(), 1).orElseThrow();
        done |= found.committedLength() == end;
        long start = found.extents().start();
        assertThat(List.of(start, found.cleanLength(), found.committedLength()))
            .as("cut before persist point %s, loss %s", point, loss)
            .isIn(List.of(0L, 100 * KIB, 100 * KIB), List.of(end, end, end));
        assertThat(found.has(SlotFlag.SPILLED)).isTrue();
        assertThat(found.grow()).isTrue();
        assertThat(found.extents().start()).isEqualTo(start);
      }
      after += done ? 1 : 0;
    }
  }

  /** And again in the opening after that. */
  @ParameterizedTest
  @EnumSource(
      value = Durability.class,
      names = {"POWER", "FORCE"})
  void theOpeningThatHasExtentsBeginAgainMayCrashToo(Durability durability) throws IOException {
    long end = 200 * KIB;
    memory = new RecordingMemory(SIZE, durability);
    Pool pool = create();
    Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    assertThat(slot.grow()).isTrue();
    slot.commit(50 * KIB);
    slot.set(SlotFlag.SPILLED);
    slot.setCleanLength(50 * KIB);
    // The first word is durable, and the others are not.
    memory.crashBefore(memory.persistPoints() + (durability.needsForce() ? 3 : 2));
    assertThatThrownBy(() -> slot.beginAt(end)).isInstanceOf(CrashError.class);
    boolean crashed = true;
    for (int point = 1; crashed; point++) {
      crashed = false;
      for (int loss = 0; loss < LOSSES; loss++) {
        RecordingMemory left = memory.crash(new Random(loss));
        left.crashBefore(left.persistPoints() + point);
        try {
          Pool unused = OtherBoot.open(left, 4711);
        } catch (CrashError e) {
          crashed = true;
        }
        RecordingMemory again = left.crash(new Random(loss));
        Slot found = OtherBoot.open(again, 4712).slot(slot.index(), 1).orElseThrow();
        assertThat(List.of(found.extents().start(), found.committedLength()))
            .as("cut before persist point %s of the opening, loss %s", point, loss)
            .isEqualTo(List.of(end, end));
      }
    }
  }

  /** The clean length goes down first: whatever comes next, the slot has so many bytes. */
  @Test
  void aTruncationBelowTheExtentsLeavesNone() throws IOException {
    Pool pool = create();
    Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    while (slot.extents().end() < MIB) {
      assertThat(slot.grow()).isTrue();
    }
    slot.commit(MIB);
    slot.setCleanLength(MIB / 2);
    slot.set(SlotFlag.SPILLED);
    pool.release(slot.evict(MIB / 2));
    assertThat(slot.extents().start()).isPositive();
    slot.setCleanLength(1000);
    RecordingMemory left = memory.kill();
    Pool again = Pool.open(left, PoolOwner.ANY);
    Slot found = again.slot(slot.index(), slot.generation()).orElseThrow();
    assertThat(found.committedLength()).isEqualTo(1000);
    assertThat(found.has(SlotFlag.SPILLED)).isFalse();
    assertThat(found.extents().start()).isEqualTo(1000);
    assertThat(found.extents().count()).isZero();
    assertThat(found.grow()).isTrue();
    found.commit(2000);
    Pool last = Pool.open(left.kill(), PoolOwner.ANY);
    Slot kept = last.slot(slot.index(), slot.generation()).orElseThrow();
    assertThat(kept.committedLength()).isEqualTo(2000);
    assertThat(kept.cleanLength()).isEqualTo(1000);
    assertThat(kept.extents()).isEqualTo(found.extents());
  }

  @Test
  void droppedExtentsAreFreeOnlyWhenReleased() throws IOException {
    Pool pool = create();
    Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    for (int i = 0; i < 4; i++) {
      assertThat(slot.grow()).isTrue();
    }
    slot.commit(500 * KIB);
    List<Extent> dropped = slot.truncate(70 * KIB);
    assertThat(dropped).extracting(Extent::length).containsExactly(128 * KIB, 256 * KIB);
    assertThat(slot.committedLength()).isEqualTo(70 * KIB);
    assertThat(slot.extents().end()).isEqualTo(128 * KIB);
    assertThat(pool.usage().usedBytes()).isEqualTo(512 * KIB);
    pool.release(dropped);
    assertThat(pool.usage().usedBytes()).isEqualTo(128 * KIB);
    assertThat(reopen().usage()).isEqualTo(pool.usage());

    assertThatThrownBy(() -> pool.release(dropped)).isInstanceOf(IllegalStateException.class);
  }

  /** Free slots take turns. */
  static Slot allocateAgain(Pool pool, int index) throws IOException {
    Slot slot = pool.allocateSlot(DIRECTORY, "b").orElseThrow();
    while (slot.index() != index) {
      slot.free();
      slot = pool.allocateSlot(DIRECTORY, "b").orElseThrow();
    }
    return slot;
  }

  @Test
  void aFreedSlotWaitsForItsTurn() throws IOException {
    Pool pool = create();
    Slot first = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    first.free();
    assertThat(pool.allocateSlot(DIRECTORY, "b").orElseThrow().index())
        .isEqualTo(first.index() + 1);
  }

  @Test
  void aFreedSlotComesBackWithAnotherGeneration() throws IOException {
    Pool pool = create();
    Slot first = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    first.markDeleting();
    assertThat(reopen().slots()).extracting(Slot::state).containsExactly(SlotState.DELETING);
    first.free();
    assertThat(pool.slots()).isEmpty();
    assertThat(first.state()).isEqualTo(SlotState.FREE);
    Slot second = allocateAgain(pool, first.index());
    assertThat(second.generation()).isEqualTo(first.generation() + 1);
    assertThat(pool.slot(first.index(), first.generation())).isEmpty();
    assertThat(pool.slot(second.index(), second.generation())).containsSame(second);
    assertThat(pool.generation(second.index())).isEqualTo(second.generation());
    assertThatThrownBy(() -> first.commit(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(first::grow).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(first::free).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aSlotThatIsBeingDeletedHasNoBytesAtTheNextOpening() throws IOException {
    Pool pool = create();
    Slot deleted = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    assertThat(deleted.grow()).isTrue();
    deleted.commit(100);
    List<Extent> extents = deleted.extents().toList();
    deleted.markDeleting();
    pool.release(extents);
    Slot next = pool.allocateSlot(DIRECTORY, "b").orElseThrow();
    assertThat(next.grow()).isTrue();
    assertThat(next.extents().toList()).as("of the same block").isEqualTo(extents);

    Pool reopened = reopen();
    assertThat(reopened.slots()).extracting(Slot::state).containsOnlyOnce(SlotState.DELETING);
    assertThat(reopened.report().shortened()).isEmpty();
    Slot found = reopened.slot(deleted.index(), deleted.generation()).orElseThrow();
    assertThat(found.extents().count()).isZero();
    assertThat(found.committedLength()).isZero();
    assertThat(reopened.usage()).isEqualTo(pool.usage());
  }

  @Test
  void slotsRunOut() throws IOException {
    Pool.format(memory, spec().withSlotCount(3));
    Pool pool = open();
    Set<Integer> indices = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      indices.add(pool.allocateSlot(DIRECTORY, "s" + i).orElseThrow().index());
    }
    assertThat(indices).hasSize(3);
    assertThat(pool.allocateSlot(DIRECTORY, "more")).isEmpty();
    assertThat(pool.usage().freeSlots()).isZero();
    assertThat(pool.slots()).hasSize(3);
    pool.slots().get(1).free();
    assertThat(pool.allocateSlot(DIRECTORY, "more")).isPresent();
  }

  @Test
  void rangesAreChecked() throws IOException {
    Pool pool = create();
    Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    assertThat(slot.grow()).isTrue();
    slot.commit(10);
    assertThatThrownBy(() -> slot.commit(9)).hasMessageContaining("found length 9");
    assertThatThrownBy(() -> slot.commit(64 * KIB + 1))
        .hasMessageContaining("expected 10 to 65536");
    assertThatThrownBy(() -> slot.truncate(11)).hasMessageContaining("expected 0 to 10");
    assertThatThrownBy(() -> slot.truncate(-1)).hasMessageContaining("found length -1");
    assertThatThrownBy(() -> pool.allocateSlot(DIRECTORY, ""))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> pool.allocateSlot(DIRECTORY, "x".repeat(321)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("found 321 bytes");
    assertThat(pool.allocateSlot(DIRECTORY, "x".repeat(320))).isPresent();
    assertThat(pool.slot(-1, 1)).isEmpty();
    assertThat(pool.slot(1 << 30, 1)).isEmpty();
  }

  @Test
  void aFaultLeavesTheHandleAsItWas() throws IOException {
    Pool pool = create();
    Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    assertThat(slot.grow()).isTrue();
    slot.commit(5);
    PoolUsage before = pool.usage();
    memory.fail(io.strata.kafka.layout.SlotLayout.slotPosition(slot.index()), 1024);
    assertThatThrownBy(() -> slot.commit(6)).isInstanceOf(IOException.class);
    assertThatThrownBy(slot::grow).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> slot.truncate(0)).isInstanceOf(IOException.class);
    assertThatThrownBy(slot::free).isInstanceOf(IOException.class);
    memory.heal();
    assertThat(slot.committedLength()).isEqualTo(5);
    assertThat(slot.state()).isEqualTo(SlotState.LIVE);
    assertThat(pool.usage()).isEqualTo(before);
    slot.commit(6);
    assertThat(slot.grow()).isTrue();
    assertThat(reopen().slots().get(0).committedLength()).isEqualTo(6);
  }

  @Test
  void closedIsClosed() throws IOException {
    Pool pool = create();
    Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    pool.close();
    assertThatThrownBy(slot::grow).isInstanceOf(ClosedChannelException.class);
  }
}
