package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.DelegatingMemory;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.SlotFlag;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Forces of a pool on a device, where one of any range is one of all. */
class PoolForceTest {
  private static final int SIZE = 32 << 20;
  private static final int SEGMENTS = 20;

  private final AtomicInteger forces = new AtomicInteger();
  private final AtomicInteger forcesAlone = new AtomicInteger();
  private boolean full;
  private final PersistentMemory recording = new RecordingMemory(SIZE, Durability.FORCE);
  private final PersistentMemory memory =
      new DelegatingMemory(recording) {
        @Override
        public MemoryType type() {
          return MemoryType.FILE;
        }

        @Override
        public void zeroRange(long position, long length) throws IOException {
          if (full) {
            throw new IOException("No space left on device");
          }
          super.zeroRange(position, length);
        }

        @Override
        public void zero(long position, long length) throws IOException {
          zeroed.add(length);
          super.zero(position, length);
        }

        @Override
        public void force(long position, long length) throws IOException {
          int unused = forces.incrementAndGet();
          super.force(0, SIZE);
        }

        @Override
        public void forceAlone(long position, long length) throws IOException {
          int unused = forcesAlone.incrementAndGet();
          super.forceAlone(position, length);
        }
      };

  private final List<Long> zeroed = new ArrayList<>();
  private final List<Slot> slots = new ArrayList<>();

  @BeforeEach
  void makeSegments() throws IOException {
    Pool.format(memory, PoolSpec.of(memory.path(), MemoryType.FILE, SIZE));
  }

  @Test
  void manySegmentsAreForcedByOne() throws IOException {
    try (Pool pool = opened()) {
      forces.set(0);
      pool.force(slots);
      assertThat(forces).hasValue(1);
      assertThat(slots).allMatch(Slot::isForced);
      slots.get(3).commit(2000);
      assertThat(slots.get(3).isForced()).isFalse();
    }
  }

  /** What is truncated while the force is under way may have passed it by. */
  @Test
  void aSegmentThatIsTruncatedMeanwhileIsForcedAgain() throws IOException {
    try (Pool pool = opened()) {
      Slot slot = slots.get(0);
      Runnable forced = slot.beforeAllIsForced();
      pool.release(slot.truncate(10));
      slot.commit(900);
      forced.run();
      assertThat(slot.isForced()).isFalse();
    }
  }

  @Test
  void manyExtentsAreReleasedByOneForce() throws IOException {
    try (Pool pool = opened()) {
      Slot slot = slots.get(0);
      assertThat(slot.grow()).isTrue();
      assertThat(slot.grow()).isTrue();
      List<Extent> extents = slot.truncate(0);
      assertThat(extents).hasSize(3);
      forcesAlone.set(0);
      pool.release(extents);
      assertThat(forcesAlone).hasValue(1);
    }
  }

  /** No append waits for the bytes of others when words change. */
  @Test
  void aChangeOfWordsForcesNoOtherBytes() throws IOException {
    try (Pool pool = opened()) {
      Slot slot = slots.get(0);
      slot.force(0, 1000);
      forces.set(0);
      slot.setCleanLength(1000);
      slot.set(SlotFlag.NAME_DURABLE);
      pool.release(slot.evict(1000));
      pool.forceSlots(slots);
      assertThat(forces).hasValue(0);
      assertThat(slots.get(1).isForced()).isFalse();
    }
  }

  /** XFS allocates anew what it makes zeros, and finds nothing on a full file system. */
  @Test
  void whatCannotBeReleasedIsReleasedLater() throws IOException {
    try (Pool pool = opened()) {
      Slot slot = slots.get(0);
      assertThat(slot.grow()).isTrue();
      long free = pool.usage().freeBytes();
      List<Extent> extents = slot.truncate(0);
      long dropped = extents.stream().mapToLong(Extent::length).sum();
      full = true;
      assertThatThrownBy(() -> pool.release(extents)).isInstanceOf(IOException.class);
      assertThatThrownBy(pool::releaseAgain).isInstanceOf(IOException.class);
      assertThat(pool.usage().freeBytes()).isEqualTo(free);
      full = false;
      pool.releaseAgain();
      assertThat(pool.usage().freeBytes()).isEqualTo(free + dropped);
      pool.releaseAgain();
      assertThat(pool.usage().freeBytes()).isEqualTo(free + dropped);
    }
  }

  /** One force in many meets blocks that were never written. */
  @Test
  void zerosAreStoredAheadOfManyShortAppends() throws IOException {
    try (Pool pool = opened()) {
      Slot slot = slots.get(0);
      while (slot.extents().length() < 4 << 20) {
        assertThat(slot.grow()).isTrue();
      }
      zeroed.clear();
      for (long end = 1000; end < 3 << 20; end += 1000) {
        slot.zeroAhead(end, 1000);
        slot.commit(end);
      }
      assertThat(zeroed.stream().mapToLong(each -> each).sum()).isBetween(3L << 20, 4L << 20);
      assertThat(zeroed).hasSizeLessThan(40);
      // Zeros are made by the file system there, which marks the blocks as not written.
      pool.release(slot.truncate((1 << 20) + 5000));
      zeroed.clear();
      slot.zeroAhead((1 << 20) + 6000, 1000);
      assertThat(zeroed).isNotEmpty();
    }
  }

  @Test
  void noZerosAreStoredAheadOfALongAppend() throws IOException {
    try (Pool pool = opened()) {
      Slot slot = slots.get(0);
      while (slot.extents().length() < 4 << 20) {
        assertThat(slot.grow()).isTrue();
      }
      zeroed.clear();
      slot.zeroAhead(1 << 20, 1 << 20);
      assertThat(zeroed).isEmpty();
      assertThat(pool.usage().liveSlots()).isEqualTo(SEGMENTS);
    }
  }

  /** They would be written for nothing. */
  @Test
  void noZerosAreStoredAheadWhereNoForceIsNeeded() throws IOException {
    RecordingMemory persistent = new RecordingMemory(SIZE, Durability.POWER);
    Pool.format(persistent, PoolSpec.of(persistent.path(), MemoryType.PMEM, SIZE));
    List<Long> stored = new ArrayList<>();
    PersistentMemory counted =
        new DelegatingMemory(persistent) {
          @Override
          public void zero(long position, long length) throws IOException {
            stored.add(length);
            super.zero(position, length);
          }
        };
    try (Pool pool = Pool.open(counted, PoolOwner.ANY)) {
      Slot slot = pool.allocateSlot(new UUID(1, 2), "t-0/0.log").orElseThrow();
      assertThat(slot.grow()).isTrue();
      stored.clear();
      slot.zeroAhead(1000, 1000);
      assertThat(stored).isEmpty();
    }
  }

  private Pool opened() throws IOException {
    Pool pool = Pool.open(memory, PoolOwner.ANY);
    for (int i = 0; i < SEGMENTS; i++) {
      Slot slot = pool.allocateSlot(new UUID(1, 2), "t-" + i + "/0.log").orElseThrow();
      assertThat(slot.grow()).isTrue();
      slot.commit(1000);
      assertThat(slot.isForced()).isFalse();
      slots.add(slot);
    }
    return pool;
  }
}
