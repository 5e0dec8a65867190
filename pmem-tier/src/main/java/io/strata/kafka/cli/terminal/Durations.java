package io.strata.kafka.cli.terminal;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as people write and read them: {@code 90s}, {@code 10m}, {@code 1.5h}. */
public final class Durations {
  private static final Pattern TEXT = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?)\\s*([a-z]*)");
  private static final Map<String, Double> UNITS =
      Map.of("", 1.0, "ms", 0.001, "s", 1.0, "m", 60.0, "min", 60.0, "h", 3600.0, "d", 86400.0);

  private Durations() {}

  /** Reads the value of an option, in seconds. */
  public static double parse(String option, String text) throws CommandException {
    Matcher matcher = TEXT.matcher(text.strip().toLowerCase(Locale.ROOT));
    Double unit = matcher.matches() ? UNITS.get(matcher.group(2)) : null;
    if (unit == null) {
      throw CommandException.usage(
          "%s: found '%s', expected a time, for example 90s, 10m or 2h".formatted(option, text));
    }
    return Double.parseDouble(matcher.group(1)) * unit;
  }

  /** In the largest unit that leaves a number from 1 up, with the next one below it. */
  public static String format(double seconds) {
    if (Double.isInfinite(seconds)) {
      return "for ever";
    }
    if (seconds < 60) {
      return String.format(Locale.ROOT, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    }
    long whole = Math.round(seconds);
    if (whole < 3600) {
      return whole / 60 + " min" + rest(whole % 60, "s");
    }
    if (whole < 2 * 86_400) {
      return whole / 3600 + " h" + rest(whole % 3600 / 60, "min");
    }
    return whole / 86_400 + " d" + rest(whole % 86_400 / 3600, "h");
  }

  private static String rest(long value, String unit) {
    return value == 0 ? "" : " " + value + " " + unit;
  }
}
