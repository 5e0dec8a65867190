package io.strata.kafka.bench.scenario;

import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers with units, as a scenario has them. */
final class Units {
  private static final Pattern AMOUNT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)\\s*([A-Za-z]*)");
  private static final Map<String, Long> COUNTS =
      Map.of("", 1L, "k", 1_000L, "K", 1_000L, "M", 1_000_000L, "G", 1_000_000_000L);
  private static final Map<String, Long> BYTES =
      Map.of(
          "",
          1L,
          "B",
          1L,
          "kB",
          1_000L,
          "MB",
          1_000_000L,
          "GB",
          1_000_000_000L,
          "KiB",
          1L << 10,
          "MiB",
          1L << 20,
          "GiB",
          1L << 30,
          "TiB",
          1L << 40);
  private static final Map<String, Double> SECONDS =
      Map.of("us", 1e-6, "ms", 1e-3, "s", 1.0, "m", 60.0, "h", 3600.0);

  private Units() {}

  static long count(String where, String text) {
    return whole(where, text, COUNTS, "a count such as 500, 10k or 1M");
  }

  static long bytes(String where, String text) {
    return whole(where, text, BYTES, "bytes such as 100, 64KiB, 1GiB or 10MB");
  }

  static double seconds(String where, String text) {
    String expected = "a time such as 500ms, 10s, 5m or 1h";
    Matcher amount = matched(where, text, expected);
    Double unit = SECONDS.get(amount.group(2));
    if (unit == null) {
      throw wrong(where, text, expected);
    }
    return Double.parseDouble(amount.group(1)) * unit;
  }

  private static long whole(String where, String text, Map<String, Long> units, String expected) {
    Matcher amount = matched(where, text, expected);
    Long unit = units.get(amount.group(2));
    if (unit == null) {
      throw wrong(where, text, expected);
    }
    try {
      return new BigDecimal(amount.group(1))
          .multiply(BigDecimal.valueOf(unit))
          .toBigInteger()
          .longValueExact();
    } catch (ArithmeticException e) {
      throw wrong(where, text, expected + ", below 2^63");
    }
  }

  private static Matcher matched(String where, String text, String expected) {
    Matcher amount = AMOUNT.matcher(text.strip());
    if (!amount.matches()) {
      throw wrong(where, text, expected);
    }
    return amount;
  }

  static ScenarioException wrong(String where, String found, String expected) {
    return new ScenarioException("%s: found '%s', expected %s".formatted(where, found, expected));
  }
}
