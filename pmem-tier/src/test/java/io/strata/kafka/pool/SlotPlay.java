package io.strata.kafka.pool;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.SparseMemory;
import io.strata.kafka.turns.Play;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Callable;

/**
 * Slots of a pool that is too small: some threads take one each, let it grow, write, truncate, and
 * give it back; another one forces whatever slots there are.
 */
public final class SlotPlay implements Play {

  private static final int SIZE = 4 << 20;
  private static final int BLOCK = 64 << 10;
  private static final int BLOCKS = 8;
  private static final int SLOTS = 3;
  private static final int HOLDERS = 3;
  private static final int ROUNDS = 3;
  private static final int FORCES = 12;
  private static final UUID DIRECTORY = new UUID(1, 2);
  private static final SparseMemory FORMATTED = formatted();

  private final SplittableRandom random;
  private final UnforcedMemory memory = new UnforcedMemory(new SparseMemory(FORMATTED));
  private final Pool pool;
  private final PoolUsage before;
  private final Set<Integer> held = new HashSet<>();

  /** What a holder knows of its slot. */
  private record Held(Slot slot, byte mark) {}

  /** Made by its name. */
  public SlotPlay(long seed) throws IOException {
    random = new SplittableRandom(seed);
    pool = SimPools.open(memory, PoolOwner.ANY, 1);
    before = pool.usage();
  }

  private static SparseMemory formatted() {
    try {
      SparseMemory memory = new SparseMemory(SIZE);
      PoolSpec spec =
          PoolSpec.of(Path.of("/strata-play"), MemoryType.MAPPED, SIZE).withSlotCount(SLOTS);
      SimPools.format(memory, spec, new UUID(3, 4), BLOCKS * BLOCK);
      return memory;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public List<Callable<?>> parts() {
    List<Callable<?>> parts = new ArrayList<>();
    for (int i = 0; i < HOLDERS; i++) {
      byte mark = (byte) (1 + i);
      parts.add(() -> hold(mark));
    }
    parts.add(this::force);
    return parts;
  }

  private boolean hold(byte mark) throws IOException {
    for (int i = 0; i < ROUNDS; i++) {
      var slot = pool.allocateSlot(DIRECTORY, "segment");
      if (slot.isPresent()) {
        use(new Held(slot.get(), mark));
      }
    }
    return true;
  }

  private void use(Held mine) throws IOException {
    Slot slot = mine.slot();
    if (!held.add(slot.index())) {
      throw new AssertionError(slot + " was given to two");
    }
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      growAndWrite(mine);
      check(mine);
      if (random.nextBoolean()) {
        long kept = random.nextLong(slot.committedLength() + 1);
        slot.setCleanLength(Math.min(slot.cleanLength(), kept));
        List<Extent> dropped = slot.truncate(kept);
        pool.release(dropped);
        check(mine);
      }
      if (random.nextBoolean()) {
        slot.setCleanLength(random.nextLong(slot.cleanLength(), slot.committedLength() + 1));
        pool.release(slot.evict(random.nextLong(slot.cleanLength() + 1)));
        check(mine);
      }
    }
    boolean unused = held.remove(slot.index());
    List<Extent> extents = slot.extents().toList();
    slot.free();
    pool.release(extents);
  }

  private void growAndWrite(Held mine) throws IOException {
    Slot slot = mine.slot();
    boolean unused = slot.grow();
    long from = slot.committedLength();
    long to = slot.extents().end();
    for (long at = from; at < to; ) {
      int extent = slot.extents().find(at);
      long within = at - slot.extents().start(extent);
      int length = (int) (slot.extents().length(extent) - within);
      byte[] bytes = new byte[length];
      Arrays.fill(bytes, mine.mark());
      memory.storeAndPersist(slot.extents().position(extent) + within, ByteBuffer.wrap(bytes));
      at += length;
    }
    slot.commit(to);
  }

  private void check(Held mine) throws IOException {
    Slot slot = mine.slot();
    if (!pool.slot(slot.index(), slot.generation()).equals(Optional.of(slot))) {
      throw new AssertionError(slot + " is not the pool's");
    }
    byte mark = mine.mark();
    boolean forced = slot.isForced();
    long left = slot.committedLength() - slot.extents().start();
    for (Extent extent : slot.extents().toList()) {
      int length = (int) Math.min(left, extent.length());
      ByteBuffer found = ByteBuffer.allocate(length);
      memory.load(extent.position(), found);
      for (byte each : found.array()) {
        if (each != mark) {
          throw new AssertionError(slot + ": found " + each + ", expected " + mark);
        }
      }
      if (forced && length > 0 && !memory.isForced(extent.position(), length)) {
        throw new AssertionError(slot + " takes for forced what is not: " + extent);
      }
      left -= length;
    }
  }

  private boolean force() throws IOException {
    for (int i = 0; i < FORCES; i++) {
      for (Slot slot : pool.slots()) {
        slot.force(random.nextBoolean() ? 0 : Long.MAX_VALUE, Long.MAX_VALUE);
      }
    }
    return true;
  }

  @Override
  public void end() throws IOException {
    PoolUsage after = pool.usage();
    if (!after.equals(before) || !pool.slots().isEmpty()) {
      throw new AssertionError("found " + after + ", expected " + before);
    }
    pool.close();
  }
}
