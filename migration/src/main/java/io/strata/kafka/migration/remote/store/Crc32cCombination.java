package io.strata.kafka.migration.remote.store;

/**
 * The CRC-32C of two pieces one behind the other, from those of the pieces. A checksum is a
 * polynomial over GF(2), its highest power in the lowest bit; what follows a piece multiplies the
 * piece's by a power of x.
 */
final class Crc32cCombination {

  private static final int POLYNOMIAL = 0x82f63b78;

  /** The polynomial 1. */
  private static final int ONE = 1 << 31;

  private Crc32cCombination() {}

  /**
   * What {@link #combine} needs to know of the second piece.
   *
   * @param bytes its length
   */
  static int after(long bytes) {
    int power = ONE;
    int square = ONE >>> 8; // Of a byte: x to the eighth.
    for (long left = bytes; left != 0; left >>>= 1) {
      if ((left & 1) != 0) {
        power = multiply(power, square);
      }
      square = multiply(square, square);
    }
    return power;
  }

  /** The checksum of both. */
  static int combine(int first, int second, int afterSecond) {
    return multiply(first, afterSecond) ^ second;
  }

  private static int multiply(int a, int b) {
    int product = 0;
    int shifted = b;
    for (int left = a; left != 0; left <<= 1) {
      if (left < 0) {
        product ^= shifted;
      }
      shifted = (shifted >>> 1) ^ ((shifted & 1) != 0 ? POLYNOMIAL : 0);
    }
    return product;
  }
}
