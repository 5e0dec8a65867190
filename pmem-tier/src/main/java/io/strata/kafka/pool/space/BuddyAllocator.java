package io.strata.kafka.pool.space;

import static io.strata.kafka.layout.SuperblockLayout.LARGEST_ORDER;
import static io.strata.kafka.layout.SuperblockLayout.SMALLEST_EXTENT;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The free map of a pool's data: blocks of 2^order times 64 KiB, order 0 to 10, each aligned to its
 * own length from the start of the data, so that none crosses a boundary of 64 MiB.
 *
 * <p>A block is split in halves when only a larger one is free, and joined with its other half (its
 * buddy) when both are free. The block with the lowest position is taken first. The map is
 * volatile: it is rebuilt from the slots when a pool is opened.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class BuddyAllocator {
  private final long dataPosition;
  private final int blocks;
  private final Object lock = new Object();

  /** The free blocks by order, numbered from the data's start in units of their own length. */
  @GuardedBy("lock")
  private final BlockSet[] free = new BlockSet[LARGEST_ORDER + 1];

  @GuardedBy("lock")
  private long freeBlocks;

  /**
   * A map in which everything is free.
   *
   * @param dataPosition position of the first block, in bytes
   * @param dataSize bytes there are; what is behind the last whole 64 KiB is not used
   */
  public BuddyAllocator(long dataPosition, long dataSize) {
    this.dataPosition = dataPosition;
    this.blocks = Math.toIntExact(dataSize / SMALLEST_EXTENT);
    synchronized (lock) {
      for (int order = 0; order <= LARGEST_ORDER; order++) {
        free[order] = new BlockSet(blocks >> order);
      }
      // The largest blocks that fit, and then the tail in ever smaller ones.
      int block = 0;
      for (int order = LARGEST_ORDER; order >= 0; order--) {
        for (; block + (1 << order) <= blocks; block += 1 << order) {
          free[order].add(block >> order);
        }
      }
      freeBlocks = blocks;
    }
  }

  /** Bytes of a block of {@code order}. */
  public static long lengthOf(int order) {
    return (long) SMALLEST_EXTENT << order;
  }

  /** The order of a block of {@code length} bytes, a power of two from 64 KiB to 64 MiB. */
  public static int orderOf(long length) {
    int order = Long.numberOfTrailingZeros(length) - Long.numberOfTrailingZeros(SMALLEST_EXTENT);
    if (order < 0 || order > LARGEST_ORDER || lengthOf(order) != length) {
      throw new IllegalArgumentException(
          "length %s is not that of a block: expected a power of two from %s to %s"
              .formatted(length, SMALLEST_EXTENT, lengthOf(LARGEST_ORDER)));
    }
    return order;
  }

  /**
   * Takes a block of {@code order}, splitting a larger one if need be.
   *
   * @return its position in bytes; empty when no block of that order or larger is free
   */
  public OptionalLong allocate(int order) {
    synchronized (lock) {
      for (int larger = order; larger <= LARGEST_ORDER; larger++) {
        OptionalInt found = free[larger].first();
        if (found.isPresent()) {
          int number = found.getAsInt();
          free[larger].remove(number);
          for (int o = larger; o > order; o--) {
            number <<= 1;
            free[o - 1].add(number + 1);
          }
          freeBlocks -= 1L << order;
          return OptionalLong.of(dataPosition + number * lengthOf(order));
        }
      }
      return OptionalLong.empty();
    }
  }

  /**
   * Takes a block of {@code order}, or the largest that there is below that, in one step: a block
   * that is given back meanwhile is not taken in pieces.
   *
   * @return empty when nothing is free
   */
  public Optional<Extent> allocateAtMost(int order) {
    synchronized (lock) {
      for (int o = order; o >= 0; o--) {
        OptionalLong position = allocate(o);
        if (position.isPresent()) {
          return Optional.of(new Extent(position.getAsLong(), lengthOf(o)));
        }
      }
      return Optional.empty();
    }
  }

  /**
   * Returns a block.
   *
   * @throws IllegalStateException if some of it is free already
   */
  public void free(long position, int order) {
    int number = numberOf(position, order);
    synchronized (lock) {
      if (someFreeWithoutLocking(number, order)) {
        throw new IllegalStateException(
            "block of " + lengthOf(order) + " bytes at " + position + " is free already");
      }
      freeBlocks += 1L << order;
      int o = order;
      while (o < LARGEST_ORDER && free[o].contains(number ^ 1)) {
        free[o].remove(number ^ 1);
        number >>= 1;
        o++;
      }
      free[o].add(number);
    }
  }

  /**
   * Takes exactly this block, when a pool is opened.
   *
   * @return false, with nothing changed, if some of it is in use already
   */
  public boolean markUsed(long position, int order) {
    int number = numberOf(position, order);
    synchronized (lock) {
      for (int larger = order; larger <= LARGEST_ORDER; larger++) {
        if (free[larger].contains(number >> (larger - order))) {
          free[larger].remove(number >> (larger - order));
          for (int o = larger - 1; o >= order; o--) {
            free[o].add((number >> (o - order)) ^ 1);
          }
          freeBlocks -= 1L << order;
          return true;
        }
      }
      return false;
    }
  }

  /** The free block of {@code order} with the lowest position from {@code from} on. */
  Optional<Extent> firstFree(int order, long from) {
    long length = lengthOf(order);
    int number = Math.toIntExact((Math.max(0, from - dataPosition) + length - 1) / length);
    synchronized (lock) {
      OptionalInt found = free[order].firstFrom(number);
      return found.isPresent()
          ? Optional.of(new Extent(dataPosition + found.getAsInt() * length, length))
          : Optional.empty();
    }
  }

  /** Bytes in free blocks. */
  public long freeBytes() {
    synchronized (lock) {
      return freeBlocks * SMALLEST_EXTENT;
    }
  }

  /** Bytes of the largest free block, or 0. */
  public long largestFree() {
    synchronized (lock) {
      for (int order = LARGEST_ORDER; order >= 0; order--) {
        if (free[order].size() > 0) {
          return lengthOf(order);
        }
      }
      return 0;
    }
  }

  @GuardedBy("lock")
  private boolean someFreeWithoutLocking(int number, int order) {
    for (int larger = order; larger <= LARGEST_ORDER; larger++) {
      if (free[larger].contains(number >> (larger - order))) {
        return true;
      }
    }
    for (int smaller = 0; smaller < order; smaller++) {
      int shift = order - smaller;
      OptionalInt first = free[smaller].firstFrom(number << shift);
      if (first.isPresent() && first.getAsInt() < (number + 1) << shift) {
        return true;
      }
    }
    return false;
  }

  private int numberOf(long position, int order) {
    long offset = position - dataPosition;
    long length = lengthOf(order);
    if (offset < 0 || offset % length != 0 || offset + length > (long) blocks * SMALLEST_EXTENT) {
      throw new IllegalArgumentException(
          "no block of " + length + " bytes begins at " + position + ": not aligned or outside");
    }
    return (int) (offset / length);
  }
}
