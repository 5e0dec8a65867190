package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
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
  private boolean full;
  private final PersistentMemory recording = new RecordingMemory(SIZE, Durability.FORCE);
  private final PersistentMemory memory =
      (PersistentMemory)
          Proxy.newProxyInstance(
              PersistentMemory.class.getClassLoader(),
              new Class<?>[] {PersistentMemory.class},
              (proxy, method, args) -> {
                if (method.getName().equals("type")) {
                  return MemoryType.FILE;
                }
                if (method.getName().equals("zeroRange") && full) {
                  throw new IOException("No space left on device");
                }
                if (method.getName().equals("force")) {
                  int unused = forces.incrementAndGet();
                  recording.force(0, SIZE);
                  return null;
                }
                try {
                  return method.invoke(recording, args);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });

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
      forces.set(0);
      pool.release(extents);
      assertThat(forces).hasValue(1);
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
