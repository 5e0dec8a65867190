package io.strata.kafka.layout;

/**
 * An 8-byte word that checks itself, so that it can be replaced by one atomic store and a flipped
 * bit in it is still noticed.
 *
 * <pre>
 *    63            48 47                                             0
 *   +----------------+-----------------------------------------------+
 *   |     check      |                     value                     |
 *   +----------------+-----------------------------------------------+
 * </pre>
 *
 * <p>The check is a CRC-16 (polynomial 0x3D65) over the word's place in the file and its value,
 * begun with a salt. On these 112 bits the polynomial has a Hamming distance of 6: up to five
 * flipped bits in one word are always noticed, and so is a word that was written to another place,
 * if the two places differ in at most five bits; all other damage is noticed in 65,535 of 65,536
 * cases. A word of another pool, or of another generation of the same slot, has another salt.
 *
 * <p>Thread safety: stateless; all methods may be called by any number of threads.
 */
public final class CheckedWord {
  /** Bits of a value. */
  public static final int VALUE_BITS = 48;

  /** The largest value: 2^48 - 1. The smallest is 0. */
  public static final long MAX_VALUE = (1L << VALUE_BITS) - 1;

  private static final int POLYNOMIAL = 0x3D65;
  private static final int VALUE_BYTES = VALUE_BITS / 8;

  /** For each of the 12 bytes, counted from the last, what it contributes to the CRC. */
  private static final char[] CONTRIBUTIONS = contributions();

  private CheckedWord() {}

  /**
   * Returns the word that holds {@code value} at {@code position}.
   *
   * @param value from 0 to {@link #MAX_VALUE}
   * @param position of the word in the file, in bytes; a multiple of 8
   * @param salt of which the low 16 bits count
   * @throws IllegalArgumentException if the value or the position is out of range
   */
  public static long encode(long value, long position, int salt) {
    if (value < 0 || value > MAX_VALUE) {
      throw new IllegalArgumentException(
          "value " + value + " does not fit a checked word: expected 0 to " + MAX_VALUE);
    }
    if (position < 0 || (position & 7) != 0) {
      throw new IllegalArgumentException(
          "position " + position + " of a checked word is not a multiple of 8");
    }
    return ((long) check(value, position, salt) << VALUE_BITS) | value;
  }

  /**
   * Returns the value that {@code word}, found at {@code position}, holds.
   *
   * @param salt the one that the word was encoded with
   * @throws CorruptWordException if the word's check does not fit
   */
  public static long decode(long word, long position, int salt) throws CorruptWordException {
    if (!isValid(word, position, salt)) {
      throw new CorruptWordException(position, word, check(word & MAX_VALUE, position, salt));
    }
    return word & MAX_VALUE;
  }

  /** Returns whether {@code word}, found at {@code position}, is as it was stored. */
  public static boolean isValid(long word, long position, int salt) {
    return (int) (word >>> VALUE_BITS) == check(word & MAX_VALUE, position, salt);
  }

  /** A word whose check does not fit its value and its place. */
  public static final class CorruptWordException extends Exception {
    private static final long serialVersionUID = 1L;

    private final long position;
    private final String found;

    private CorruptWordException(long position, long word, int expectedCheck) {
      this.position = position;
      this.found =
          "value %d with check 0x%04x, which would be 0x%04x"
              .formatted(word & MAX_VALUE, word >>> VALUE_BITS, expectedCheck);
    }

    @Override
    public String getMessage() {
      return "word at " + position + ": " + found;
    }

    /** Returns where the word lies, in bytes from the start of the file. */
    public long position() {
      return position;
    }

    /** Returns the name of the word, for a message. */
    public String found() {
      return found;
    }
  }

  private static int check(long value, long position, int salt) {
    // A salt that starts the CRC is the same as one added to the first two bytes it covers.
    long place = (position >>> 3) ^ ((long) (salt & 0xFFFF) << 32);
    int crc = 0;
    for (int i = 0; i < VALUE_BYTES; i++) {
      crc ^= CONTRIBUTIONS[(i << 8) | ((int) (value >>> (8 * i)) & 0xFF)];
      crc ^= CONTRIBUTIONS[((i + VALUE_BYTES) << 8) | ((int) (place >>> (8 * i)) & 0xFF)];
    }
    return crc;
  }

  private static char[] contributions() {
    char[] table = new char[(2 * VALUE_BYTES) << 8];
    for (int b = 0; b < 256; b++) {
      int crc = b << 8;
      for (int i = 0; i < 2 * VALUE_BYTES; i++) {
        for (int bit = 0; bit < 8; bit++) {
          crc = (crc & 0x8000) != 0 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
        }
        crc &= 0xFFFF;
        table[(i << 8) | b] = (char) crc;
      }
    }
    return table;
  }
}
