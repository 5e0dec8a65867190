package io.strata.kafka.pool;

import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.CheckFinding.Severity;
import java.io.IOException;
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
 * @param findings what is wrong
 * @param allocator the free map
 */
record PoolScan(
    List<SlotImage> used,
    int free,
    AtomicLongArray generations,
    List<CheckFinding> findings,
    BuddyAllocator allocator) {

  /**
   * Walks over the slots.
   *
   * @param unforced whether some of what was stored and not forced may be missing; see {@link
   *     SlotImage#decode}
   */
  static PoolScan of(PersistentMemory memory, Superblock superblock, boolean unforced)
      throws IOException {
    List<SlotImage> used = new ArrayList<>();
    List<CheckFinding> findings = new ArrayList<>();
    AtomicInteger free = new AtomicInteger();
    AtomicLongArray generations = new AtomicLongArray(superblock.slotCount());
    BuddyAllocator allocator = new BuddyAllocator(superblock.dataPosition(), superblock.dataSize());
    SlotTable.scan(
        memory,
        superblock,
        (index, bytes) -> {
          Optional<SlotImage> read =
              SlotImage.decode(superblock, bytes, index, unforced, findings::add);
          if (read.isPresent()) {
            SlotImage slot = read.get();
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

  private static void markUsed(
      SlotImage slot,
      List<SlotImage> before,
      BuddyAllocator allocator,
      List<CheckFinding> findings) {
    for (int i = 0; i < slot.extents().count(); i++) {
      Extent extent = slot.extents().get(i);
      if (!allocator.markUsed(extent.position(), BuddyAllocator.orderOf(extent.length()))) {
        findings.add(overlap(slot.index(), extent, "another segment's"));
        for (SlotImage other : before) {
          if (overlaps(other.extents(), extent)) {
            findings.add(overlap(other.index(), extent, "slot " + slot.index() + "'s, too,"));
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
