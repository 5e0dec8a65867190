package io.strata.kafka.segment;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.OtherBoot;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;

/**
 * A pool of 32 blocks of 64 KiB, most of which belong to ballast, so that a segment finds as little
 * space as a test wants it to.
 */
public final class TinyPool implements AutoCloseable {

  static final int BLOCK = 64 << 10;
  static final UUID DIRECTORY = new UUID(1, 2);

  private static final int BLOCKS = 32;
  private static final int SLOTS = 80;
  private static final int SIZE = 4 << 20;
  private static final String BALLAST = "ballast";

  private Pool pool;
  private final Deque<Slot> ballast = new ArrayDeque<>();

  private TinyPool(Pool pool) {
    this.pool = pool;
    takeBallast();
  }

  /** A new pool in a file. */
  public static TinyPool create(Path file) throws IOException {
    return create(file, MemoryType.MAPPED);
  }

  /** A new pool of a type in a file. */
  static TinyPool create(Path file, MemoryType type) throws IOException {
    Pool.create(PoolSpec.of(file, type, SIZE).withSlotCount(SLOTS), ProgressListener.NONE);
    return new TinyPool(Pool.open(file, type, PoolOwner.ANY));
  }

  /** An existing one. */
  static TinyPool open(Path file) throws IOException {
    return new TinyPool(Pool.open(file, MemoryType.MAPPED, PoolOwner.ANY));
  }

  /** A new pool in a memory of at least 4 MiB. */
  static TinyPool format(PersistentMemory memory) throws IOException {
    Pool.format(
        memory, PoolSpec.of(memory.path(), memory.type(), memory.size()).withSlotCount(SLOTS));
    return open(memory);
  }

  /** The pool that a memory holds. */
  static TinyPool open(PersistentMemory memory) throws IOException {
    return new TinyPool(Pool.open(memory, PoolOwner.ANY));
  }

  /** The pool that a power cut has left in a memory. */
  static TinyPool openAfterPowerCut(PersistentMemory memory) throws IOException {
    return new TinyPool(OtherBoot.open(memory, 4711));
  }

  private void takeBallast() {
    for (Slot slot : pool.slots()) {
      if (slot.relativePath().equals(BALLAST)) {
        ballast.add(slot);
      }
    }
  }

  public Pool pool() {
    return pool;
  }

  /** Closes the pool and opens it again, as a restart does; all slots are new objects. */
  void reopen() throws IOException {
    Path file = pool.info().path();
    MemoryType type = pool.info().type();
    pool.close();
    ballast.clear();
    pool = Pool.open(file, type, PoolOwner.ANY);
    takeBallast();
  }

  /** Takes or gives back ballast until {@code blocks} are free, or all ballast is gone. */
  void leaveFree(int blocks) throws IOException {
    long wanted = (long) Math.min(blocks, BLOCKS) * BLOCK;
    while (pool.usage().freeBytes() > wanted) {
      Slot slot = pool.allocateSlot(DIRECTORY, BALLAST).orElseThrow();
      slot.grow();
      ballast.add(slot);
    }
    while (pool.usage().freeBytes() < wanted && !ballast.isEmpty()) {
      Slot slot = ballast.remove();
      var extents = slot.extents().toList();
      slot.free();
      pool.release(extents);
    }
  }

  public Slot allocate(String name) throws IOException {
    return pool.allocateSlot(DIRECTORY, name).orElseThrow();
  }

  @Override
  public void close() throws IOException {
    pool.close();
  }
}
