package io.strata.kafka.pool;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.space.BuddyAllocator;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.CheckFinding;
import io.strata.kafka.pool.words.CheckFinding.Severity;
import io.strata.kafka.pool.words.SlotDecoder;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.pool.words.Superblock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * One walk over a pool's slots: what they hold, what is wrong with them, and the free map that
 * follows from them. Handed over to the pool that is opened, which changes the free map and the
 * generations.
 *
 * @param used the slots with a segment, by index
 * @param free how many are free
 * @param generations by slot; 0 for those that cannot be read
 */
record PoolScan(
    List<SlotSnapshot> used,
    int free,
    AtomicLongArray generations,
    List<CheckFinding> findings,
    BuddyAllocator allocator) {
  private static final int SLOTS_AT_ONCE = 1024;

  /**
   * Walks over the slots.
   *
   * @param unforced whether some of what was stored and not forced may be missing; see {@link
   *     SlotDecoder#decode}
   */
  static PoolScan of(PersistentMemory memory, Superblock superblock, boolean unforced)
      throws IOException {
    List<SlotSnapshot> used = new ArrayList<>();
    List<CheckFinding> findings = new ArrayList<>();
    AtomicInteger free = new AtomicInteger();
    AtomicLongArray generations = new AtomicLongArray(superblock.slotCount());
    BuddyAllocator allocator = new BuddyAllocator(superblock.dataPosition(), superblock.dataSize());
    scan(
        memory,
        superblock,
        (index, bytes) -> {
          Optional<SlotSnapshot> read =
              SlotDecoder.decode(superblock, bytes, index, unforced, findings::add);
          if (read.isPresent()) {
            SlotSnapshot slot = read.get();
            generations.set(index, slot.generation());
            if (slot.state() == SlotState.FREE) {
              free.incrementAndGet();
            } else {
              markUsed(slot, used, allocator, findings);
              used.add(slot);
            }
          }
        });
    return new PoolScan(
        List.copyOf(used), free.get(), generations, List.copyOf(findings), allocator);
  }

  /** Is given each slot's bytes in turn. */
  interface Visitor {
    /**
     * One slot.
     *
     * @param slot its 1,024 bytes, from index 0; reused after the call
     */
    void visit(int index, ByteBuffer slot) throws IOException;
  }

  /** Reads the slot table in large pieces. */
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

  private static void markUsed(
      SlotSnapshot slot,
      List<SlotSnapshot> before,
      BuddyAllocator allocator,
      List<CheckFinding> findings) {
    for (int i = 0; i < slot.extents().count(); i++) {
      Extent extent = slot.extents().get(i);
      if (!allocator.markUsed(extent.position(), BuddyAllocator.orderOf(extent.length()))) {
        findings.add(overlap(slot.index(), extent, "another segment's"));
        for (SlotSnapshot other : before) {
          if (overlaps(other.extents(), extent)) {
            findings.add(overlap(other.index(), extent, "slot " + slot.index() + "'s too,"));
          }
        }
      }
    }
  }

  private static boolean overlaps(ExtentList extents, Extent with) {
    for (Extent extent : extents.toList()) {
      if (extent.position() < with.position() + with.length()
          && with.position() < extent.position() + extent.length()) {
        return true;
      }
    }
    return false;
  }

  private static CheckFinding overlap(int slot, Extent extent, String whose) {
    return new CheckFinding(
        Severity.ERROR,
        OptionalInt.of(slot),
        extent.position(),
        "an extent of " + extent.length() + " bytes that is " + whose + " in part or whole",
        "its own extent");
  }
}
