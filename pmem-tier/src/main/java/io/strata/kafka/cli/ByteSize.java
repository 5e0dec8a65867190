package io.strata.kafka.cli;

/** Prints numbers of bytes in powers of 1024, as pools are sized. */
final class ByteSize {
  private static final String UNITS = "KMGTP";

  private ByteSize() {}

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
}
