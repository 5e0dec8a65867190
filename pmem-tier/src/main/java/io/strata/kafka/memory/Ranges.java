package io.strata.kafka.memory;

import java.util.Objects;

/** The argument checks that all memories share. Stateless. */
final class Ranges {
  private Ranges() {}

  /**
   * Checks that a range lies within a memory.
   *
   * @throws IndexOutOfBoundsException if not
   */
  static void check(long position, long count, long available) {
    Objects.checkFromIndexSize(position, count, available);
  }

  /**
   * Checks the position of an 8-byte word.
   *
   * @throws IndexOutOfBoundsException if the word is not wholly within the memory
   * @throws IllegalArgumentException if the position is not a multiple of 8
   */
  static void checkWord(long position, long available) {
    Objects.checkFromIndexSize(position, Long.BYTES, available);
    if ((position & (Long.BYTES - 1)) != 0) {
      throw new IllegalArgumentException(
          "The position of an 8-byte word must be a multiple of 8, found " + position);
    }
  }
}
