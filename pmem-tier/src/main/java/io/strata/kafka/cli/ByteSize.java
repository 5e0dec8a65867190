package io.strata.kafka.cli;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number of bytes, as people write it: {@code 4GiB}, {@code 512m}, {@code 1.5G}, {@code 65536}.
 * All units are powers of 1024, as in the JVM's own options.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param bytes how many, from 0
 */
record ByteSize(long bytes) {
  private static final String UNITS = "KMGTP";
  private static final Pattern TEXT =
      Pattern.compile("(\\d{1,19}(?:\\.\\d{1,9})?)\\s*(?:([KMGTP])(?:I?B)?|B)?");

  /**
   * Reads a size.
   *
   * @throws IllegalArgumentException if it is none, or no whole number of bytes
   */
  static ByteSize parse(String text) {
    Matcher matcher = TEXT.matcher(text.strip().toUpperCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw malformed(text);
    }
    int shift = matcher.group(2) == null ? 0 : 10 * (UNITS.indexOf(matcher.group(2)) + 1);
    try {
      return new ByteSize(
          new BigDecimal(matcher.group(1))
              .multiply(BigDecimal.valueOf(1L << shift))
              .longValueExact());
    } catch (ArithmeticException e) {
      throw malformed(text);
    }
  }

  private static IllegalArgumentException malformed(String text) {
    return new IllegalArgumentException(
        "found '" + text + "', expected a size, for example 4GiB, 512m or 1073741824");
  }

  /** With one decimal at most and the largest unit that leaves a number from 1 up. */
  static String format(long bytes) {
    if (bytes < 1024) {
      return bytes + " B";
    }
    int unit = Math.min((63 - Long.numberOfLeadingZeros(bytes)) / 10, UNITS.length());
    long tenths = Math.round(bytes / (double) (1L << (10 * unit)) * 10);
    if (tenths >= 10240 && unit < UNITS.length()) {
      unit++;
      tenths = 10;
    }
    String number = tenths % 10 == 0 ? Long.toString(tenths / 10) : tenths / 10 + "." + tenths % 10;
    return number + " " + UNITS.charAt(unit - 1) + "iB";
  }

  @Override
  public String toString() {
    return format(bytes);
  }
}
