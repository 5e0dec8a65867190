package io.strata.kafka.config.key;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number of bytes, or of bytes per second, in keys and on the command line: {@code 80MB} are
 * 80,000,000 and {@code 80MiB} 83,886,080. A bare {@code 80M} could be either, and is refused.
 *
 * @param bytes how many, from 0
 */
public record ByteAmount(long bytes) {

  private static final Pattern TEXT =
      Pattern.compile("(\\d{1,19}(?:\\.\\d{1,9})?)\\s*([A-Za-z]*)(/s)?");
  private static final List<String> DECIMAL_UNITS = List.of("B", "kB", "MB", "GB", "TB", "PB");
  private static final String POWERS = "kmgtp";
  private static final Pattern UNIT = Pattern.compile("(?:(?:([%s])(i?))?b)?".formatted(POWERS));

  /** Reads an amount, in whole bytes; an IllegalArgumentException says what is wrong. */
  public static ByteAmount parse(String text) {
    return parse(text, false);
  }

  /** Reads a rate, which is an amount that may end in {@code /s}; throws as {@link #parse}. */
  public static ByteAmount parseRate(String text) {
    return parse(text, true);
  }

  private static ByteAmount parse(String text, boolean rate) {
    Matcher matcher = TEXT.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a number with a unit");
    }
    if (matcher.group(3) != null && !rate) {
      throw new IllegalArgumentException("an amount, not a rate");
    }
    Matcher unit = UNIT.matcher(matcher.group(2).toLowerCase(Locale.ROOT));
    if (!unit.matches()) {
      throw new IllegalArgumentException(unknownUnit(matcher.group(2)));
    }
    int power = unit.group(1) == null ? 0 : POWERS.indexOf(unit.group(1)) + 1;
    BigDecimal base = BigDecimal.valueOf("i".equals(unit.group(2)) ? 1024 : 1000);
    BigDecimal bytes = new BigDecimal(matcher.group(1)).multiply(base.pow(power));
    if (bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
      throw new IllegalArgumentException("more bytes than a 64-bit number can hold");
    }
    return new ByteAmount(bytes.longValue());
  }

  private static String unknownUnit(String unit) {
    return unit.length() == 1 && POWERS.contains(unit.toLowerCase(Locale.ROOT))
        ? "unknown unit '%1$s', which may be a power of 1000 or of 1024: write %2$sB or %2$siB"
            .formatted(unit, unit.toUpperCase(Locale.ROOT))
        : """
        unknown unit '%s': B, kB, MB, GB, TB, PB (powers of 1000) or KiB, MiB, GiB, TiB, PiB (of \
        1024)\
        """
            .formatted(unit);
  }

  /** In decimal units, with one decimal at most: {@code 80 MB}. */
  public static String format(double bytes) {
    double value = bytes;
    int unit = 0;
    while (Math.abs(value) >= 999.95 && unit < DECIMAL_UNITS.size() - 1) {
      value /= 1000;
      unit++;
    }
    String number = String.format(Locale.ROOT, unit == 0 ? "%.0f" : "%.1f", value);
    String shortest = number.endsWith(".0") ? number.substring(0, number.length() - 2) : number;
    return "%s %s".formatted(shortest, DECIMAL_UNITS.get(unit));
  }

  @Override
  public String toString() {
    return format((double) bytes);
  }
}
