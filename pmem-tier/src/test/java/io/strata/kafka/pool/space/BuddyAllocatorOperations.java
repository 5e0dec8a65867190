package io.strata.kafka.pool.space;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/** The free map, to be used by many threads: each operation is as if it were alone. */
@Param(name = "order", gen = IntGen.class, conf = "0:3")
@Param(name = "block", gen = IntGen.class, conf = "0:15")
public final class BuddyAllocatorOperations {

  private static final long FROM = 2 << 20;

  private final BuddyAllocator allocator = new BuddyAllocator(FROM, 16 * (64 << 10));

  /** Takes a block. */
  @Operation
  public long allocate(@Param(name = "order") int order) {
    return allocator.allocate(order).orElse(-1);
  }

  /** Takes a block, or the largest below. */
  @Operation
  public String allocateAtMost(@Param(name = "order") int order) {
    return allocator.allocateAtMost(order).toString();
  }

  /** Gives one back, if none of it is free. */
  @Operation
  public boolean free(@Param(name = "block") int block, @Param(name = "order") int order) {
    try {
      allocator.free(FROM + (long) (block >> order << order) * (64 << 10), order);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  /** Takes a certain one. */
  @Operation
  public boolean markUsed(@Param(name = "block") int block, @Param(name = "order") int order) {
    return allocator.markUsed(FROM + (long) (block >> order << order) * (64 << 10), order);
  }

  /** Returns what is free. */
  @Operation
  public long freeBytes() {
    return allocator.freeBytes();
  }

  /** Returns how much of it lies together. */
  @Operation
  public long largestFree() {
    return allocator.largestFree();
  }
}
