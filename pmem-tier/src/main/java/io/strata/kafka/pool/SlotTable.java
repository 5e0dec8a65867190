package io.strata.kafka.pool;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads a pool's slot table in large pieces. Stateless. */
final class SlotTable {
  private static final int SLOTS_AT_ONCE = 1024;

  /** Is given each slot's bytes in turn. */
  interface Visitor {
    /**
     * One slot.
     *
     * @param slot its 1,024 bytes, from index 0; reused after the call
     */
    void visit(int index, ByteBuffer slot) throws IOException;
  }

  private SlotTable() {}

  static void scan(PersistentMemory memory, Superblock superblock, Visitor visitor)
      throws IOException {
    int slots = superblock.slotCount();
    ByteBuffer piece =
        ByteBuffer.allocate(Math.min(SLOTS_AT_ONCE, slots) * SlotLayout.SLOT_LENGTH)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int first = 0; first < slots; first += SLOTS_AT_ONCE) {
      int count = Math.min(SLOTS_AT_ONCE, slots - first);
      piece.clear().limit(count * SlotLayout.SLOT_LENGTH);
      memory.load(SlotLayout.slotPosition(first), piece);
      for (int i = 0; i < count; i++) {
        visitor.visit(first + i, piece.slice(i * SlotLayout.SLOT_LENGTH, SlotLayout.SLOT_LENGTH));
      }
    }
  }
}
