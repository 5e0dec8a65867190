package io.strata.kafka.pool;

import static io.strata.kafka.layout.SlotLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.Session;
import io.strata.kafka.pool.words.Superblock;
import io.strata.kafka.pool.words.Superblocks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/** Writes the metadata of new pools, and of slots that are discarded. Stateless. */
final class PoolFormatter {
  private static final int SLOTS_AT_ONCE = 1024;

  private PoolFormatter() {}

  /**
   * Formats a memory; the superblock comes last, so that what is not whole is no pool.
   *
   * @param session {@link Session#CLEARED} if the memory is known to hold zeros, otherwise {@link
   *     Session#CLOSED}
   */
  static void format(PersistentMemory memory, PoolSpec spec, Session session, UUID poolId)
      throws IOException {
    spec.validate();
    if (memory.size() < spec.size()) {
      throw new PoolException(
          PoolException.Kind.INVALID_SPEC,
          memory.path(),
          "found a memory of %s bytes, expected %s: choose a smaller size"
              .formatted(memory.size(), spec.size()));
    }
    Superblock superblock =
        Superblock.create(
            poolId, spec.size(), spec.slotCount(), System.currentTimeMillis(), spec.owner());
    memory.zero(0, TABLE);
    memory.persist(0, TABLE);
    memory.force(0, TABLE);
    formatSlots(memory, superblock);
    session.write(memory, superblock.salt());
    Superblocks.writeBoth(memory, superblock);
  }

  private static void formatSlots(PersistentMemory memory, Superblock superblock)
      throws IOException {
    int slots = superblock.slotCount();
    for (int first = 0; first < slots; first += SLOTS_AT_ONCE) {
      int count = Math.min(SLOTS_AT_ONCE, slots - first);
      ByteBuffer piece = ByteBuffer.allocate(count * SLOT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < count; i++) {
        encodeFree(piece, i * SLOT_LENGTH, superblock, first + i, 0);
      }
      memory.store(slotPosition(first), piece);
    }
    memory.persist(TABLE, (long) slots * SLOT_LENGTH);
    memory.force(TABLE, (long) slots * SLOT_LENGTH);
  }

  /** Overwrites a slot, whatever it holds, with a free one of the given generation. */
  static void freeSlot(PersistentMemory memory, Superblock superblock, int index, long generation)
      throws IOException {
    ByteBuffer slot = ByteBuffer.allocate(SLOT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    encodeFree(slot, 0, superblock, index, generation);
    memory.store(slotPosition(index), slot);
    memory.persist(slotPosition(index), SLOT_LENGTH);
    memory.force(slotPosition(index), SLOT_LENGTH);
  }

  private static void encodeFree(
      ByteBuffer target, int at, Superblock superblock, int index, long generation) {
    for (int offset = 0; offset < LINE_LENGTH; offset += 8) {
      long value =
          offset == STATE_OFFSET ? STATE_FREE : offset == GENERATION_OFFSET ? generation : 0;
      target.putLong(
          at + offset, CheckedWord.encode(value, slotPosition(index) + offset, superblock.salt()));
    }
  }
}
