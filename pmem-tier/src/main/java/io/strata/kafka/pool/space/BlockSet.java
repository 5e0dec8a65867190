package io.strata.kafka.pool.space;

import java.util.OptionalInt;

/**
 * A set of small integers whose smallest members are found in logarithmic time, whatever the size:
 * a bit for each number, a bit for each word of those, and so on up to one word.
 *
 * <p>Thread safety: not thread-safe.
 */
public final class BlockSet {
  private final int capacity;
  private final long[][] levels;
  private int size;

  /** An empty set of numbers from 0 to {@code capacity - 1}. */
  public BlockSet(int capacity) {
    this.capacity = capacity;
    int depth = 1;
    for (long reach = 64; reach < capacity; reach *= 64) {
      depth++;
    }
    levels = new long[depth][];
    long words = capacity;
    for (int level = 0; level < depth; level++) {
      words = Math.max(1, (words + 63) / 64);
      levels[level] = new long[(int) words];
    }
  }

  public int size() {
    return size;
  }

  boolean contains(int number) {
    return number < capacity && (levels[0][number >> 6] & (1L << number)) != 0;
  }

  /** Adds a number that is not a member. */
  public void add(int number) {
    size++;
    int bit = number;
    for (long[] level : levels) {
      level[bit >> 6] |= 1L << bit;
      bit >>= 6;
    }
  }

  /** Removes a number that is a member. */
  public void remove(int number) {
    size--;
    int bit = number;
    for (long[] level : levels) {
      level[bit >> 6] &= ~(1L << bit);
      if (level[bit >> 6] != 0) {
        return;
      }
      bit >>= 6;
    }
  }

  /** The smallest member. */
  public OptionalInt first() {
    if (size == 0) {
      return OptionalInt.empty();
    }
    return OptionalInt.of(firstBelow(levels.length, 0));
  }

  /** The smallest member that is at least {@code from}. */
  public OptionalInt firstFrom(int from) {
    int number = from;
    for (int level = 0; level < levels.length; level++) {
      int word = number >> 6;
      if (word >= levels[level].length) {
        return OptionalInt.empty();
      }
      long members = levels[level][word] & (-1L << number);
      if (members != 0) {
        return OptionalInt.of(firstBelow(level, (word << 6) | Long.numberOfTrailingZeros(members)));
      }
      number = word + 1;
    }
    return OptionalInt.empty();
  }

  /** The smallest member below a bit of a level that is set. */
  private int firstBelow(int level, int bit) {
    int found = bit;
    for (int below = level - 1; below >= 0; below--) {
      found = (found << 6) | Long.numberOfTrailingZeros(levels[below][found]);
    }
    return found;
  }
}
