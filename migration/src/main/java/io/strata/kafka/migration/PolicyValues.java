package io.strata.kafka.migration;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the values of the built-in policies' parameters. Thread safety: stateless. */
final class PolicyValues {

  private static final Pattern DURATION = Pattern.compile("(\\d{1,12})\\s*(ms|s|m|h|d)?");

  private static final Map<String, ChronoUnit> UNITS =
      Map.of(
          "ms", ChronoUnit.MILLIS,
          "s", ChronoUnit.SECONDS,
          "m", ChronoUnit.MINUTES,
          "h", ChronoUnit.HOURS,
          "d", ChronoUnit.DAYS);

  private PolicyValues() {}

  /** Durations above zero, parted by commas: {@code 90s}, {@code 10m,6h}; milliseconds if bare. */
  static List<Duration> durations(String name, String text) {
    List<Duration> durations = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      Matcher matcher = DURATION.matcher(part.strip());
      if (!matcher.matches() || Long.parseLong(matcher.group(1)) == 0) {
        throw new IllegalArgumentException(
            """
            strata.migration.policy.%s: '%s', expected durations above 0 such as 30m, or 10m,6h \
            for one in each tier (ms, s, m, h, d; without a unit milliseconds)\
            """
                .formatted(name, text));
      }
      String unit = matcher.group(2);
      durations.add(
          Duration.of(
              Long.parseLong(matcher.group(1)),
              unit == null ? ChronoUnit.MILLIS : UNITS.getOrDefault(unit, ChronoUnit.MILLIS)));
    }
    return List.copyOf(durations);
  }

  /** A number in a range. */
  static double number(String name, String text, double from, double to) {
    double value;
    try {
      value = Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      value = Double.NaN;
    }
    if (!(value >= from && value <= to)) {
      throw new IllegalArgumentException(
          "strata.migration.policy.%s: '%s', expected a number from %s to %s"
              .formatted(name, text, from, to));
    }
    return value;
  }
}
