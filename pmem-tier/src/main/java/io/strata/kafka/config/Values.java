package io.strata.kafka.config;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.config.key.ByteAmount;
import io.strata.kafka.config.key.StrataKey.Kind;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;

/** The parsers of the keys' values. Each throws IllegalArgumentException for what is not one. */
final class Values {
  private static final Pattern DECIMAL = Pattern.compile("-?\\d{1,9}(\\.\\d{1,9})?");
  private static final Pattern TIER = Pattern.compile("[a-z][a-z0-9-]{0,31}");
  private static final Pattern POLICY = Pattern.compile("[a-z0-9][a-z0-9-]*");

  private static final Pattern CLASS = Pattern.compile("[A-Za-z_$][\\w$]*(\\.[A-Za-z_$][\\w$]*)*");

  /** Not by Boolean.parseBoolean, which takes every misspelt "true" for false. */
  static final Kind<Boolean> BOOLEAN =
      new Kind<>("boolean", "true or false", oneOf(List.of(true, false), String::valueOf).parser());

  static final Kind<Double> SHARE =
      new Kind<>("share", "-1, or a number from 0 to 1", Values::parseThreshold);
  static final Kind<Long> RATE =
      new Kind<>(
          "bytes per second",
          "0 for no limit, or bytes per second, for example 80MB or 500MiB",
          value -> ByteAmount.parseRate(value).bytes());
  static final Kind<List<String>> EXPRESSIONS =
      new Kind<>(
          "list of regular expressions",
          "a comma-separated list of regular expressions (java.util.regex)",
          Values::parseExpressions);

  private static final long LEAST_POOL = 4 << 20;

  private Values() {}

  static Kind<Long> number(String unit, long least, long most) {
    return new Kind<>(
        unit, "a number from %d to %d".formatted(least, most), longBetween(least, most));
  }

  private static Function<String, Long> longBetween(long least, long most) {
    return value -> {
      long number;
      try {
        number = Long.parseLong(value);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("", e);
      }
      if (number < least || number > most) {
        throw new IllegalArgumentException("");
      }
      return number;
    };
  }

  /** -1, or a share from 0 to 1. Double.parseDouble takes NaN, hexadecimal and 1d as well. */
  private static double parseThreshold(String value) {
    if (!DECIMAL.matcher(value).matches()) {
      throw new IllegalArgumentException("");
    }
    double number = Double.parseDouble(value);
    if (number != -1 && (number < 0 || number > 1)) {
      throw new IllegalArgumentException("");
    }
    return number;
  }

  /** The form alone: which policies there are is known on the broker's class path only. */
  static String parsePolicy(String value) {
    if (!POLICY.matcher(value).matches()) {
      throw new IllegalArgumentException("a name has lower-case letters, digits and hyphens");
    }
    return value;
  }

  static List<String> parseTiers(String value) {
    List<String> names = parseNames("tier", value);
    if (names.contains(SegmentView.LOG_DIRS)) {
      throw new IllegalArgumentException(
          "logdirs is always the last tier: leave it out, and call no other so");
    }
    return names;
  }

  static List<String> parseLevels(String value) {
    List<String> names = parseNames("level", value);
    if (names.contains(SegmentView.LOG_DIRS)) {
      throw new IllegalArgumentException(
          "logdirs is the tier of Kafka's log directories: call no level so");
    }
    if (names.contains(RemoteSettings.COLD)) {
      throw new IllegalArgumentException(
          """
          cold is the level of the manager that rsm.config.cold.class.name names: leave it out, \
          and call no other so\
          """);
    }
    return names;
  }

  private static List<String> parseNames(String what, String value) {
    return distinct(
        splitAtCommas(value),
        name -> {
          if (!TIER.matcher(name).matches()) {
            throw new IllegalArgumentException("'" + name + "' cannot be the name of a " + what);
          }
          return name;
        });
  }

  /** Files, which must be written as absolute ones: commands run in other directories. */
  static List<Path> parseFiles(String value) {
    return distinct(splitAtCommas(value), Values::absolute);
  }

  /** Splits as Kafka does. */
  static List<Path> parseLogDirectories(String value) {
    return distinct(BrokerProperties.list(value), name -> path(name).toAbsolutePath().normalize());
  }

  /** Directories of the store, which must be written as absolute ones. */
  static List<Path> parseDirectories(String value) {
    return distinct(BrokerProperties.list(value), Values::absolute);
  }

  private static Path absolute(String name) {
    Path path = path(name);
    if (!path.isAbsolute()) {
      throw new IllegalArgumentException("'" + name + "' is not absolute");
    }
    return path.normalize();
  }

  /** At least one, none twice. */
  private static <E> List<E> distinct(List<String> texts, Function<String, E> parser) {
    Set<E> elements = new LinkedHashSet<>();
    for (String text : texts) {
      if (!elements.add(parser.apply(text))) {
        throw new IllegalArgumentException("'" + text + "' is listed twice");
      }
    }
    return atLeastOne(elements);
  }

  private static <E> List<E> atLeastOne(Collection<E> elements) {
    if (elements.isEmpty()) {
      throw new IllegalArgumentException("the list is empty");
    }
    return List.copyOf(elements);
  }

  private static Path path(String name) {
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("'" + name + "' is not a path: " + e.getReason(), e);
    }
  }

  /** The expressions as written, each one compiled once to check it. */
  private static List<String> parseExpressions(String value) {
    List<String> expressions = splitAtCommas(value);
    for (String expression : expressions) {
      try {
        Pattern.compile(expression);
      } catch (PatternSyntaxException e) {
        throw new IllegalArgumentException(
            "'%s' is not a regular expression: %s near index %s"
                .formatted(expression, e.getDescription(), e.getIndex()),
            e);
      }
    }
    return expressions;
  }

  /**
   * Splits at commas that are outside of braces, brackets and parentheses, and not after a
   * backslash, so that {@code a{1,3},b} is two expressions. Elements are stripped.
   */
  static List<String> splitAtCommas(String value) {
    List<String> elements = new ArrayList<>();
    if (value.isBlank()) {
      return List.of();
    }
    boolean escaped = false;
    int depth = 0;
    int start = 0;
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (escaped) {
        escaped = false;
      } else if (c == '\\') {
        escaped = true;
      } else if (c == '{' || c == '[' || c == '(') {
        depth++;
      } else if (c == '}' || c == ']' || c == ')') {
        depth--;
      } else if (c == ',' && depth <= 0) {
        elements.add(element(value.substring(start, i), value));
        start = i + 1;
      }
    }
    elements.add(element(value.substring(start), value));
    return List.copyOf(elements);
  }

  private static String element(String text, String whole) {
    String element = text.strip();
    if (element.isEmpty()) {
      throw new IllegalArgumentException("an element of '" + whole + "' is empty");
    }
    return element;
  }

  /** One of the values, by its name in lower or upper case. */
  static <E> Kind<E> oneOf(List<E> values, Function<E, String> name) {
    return new Kind<>(
        "name",
        "one of " + values.stream().map(name).collect(Collectors.joining(", ")),
        value ->
            values.stream()
                .filter(each -> name.apply(each).equalsIgnoreCase(value))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("")));
  }

  static List<Long> parseCapacities(String value) {
    List<Long> capacities = new ArrayList<>();
    for (String amount : BrokerProperties.list(value)) {
      long bytes = ByteAmount.parse(amount).bytes();
      if (bytes == 0) {
        throw new IllegalArgumentException("'" + amount + "' is nothing");
      }
      capacities.add(bytes);
    }
    return atLeastOne(capacities);
  }

  static long parsePoolSize(String value) {
    long bytes = ByteAmount.parse(value).bytes();
    if (bytes < LEAST_POOL) {
      throw new IllegalArgumentException(bytes + " bytes");
    }
    return bytes;
  }

  static Function<String, Long> zeroOrBetween(long least, long most) {
    Function<String, Long> between = longBetween(least, most);
    return value -> value.equals("0") ? 0L : between.apply(value);
  }

  static String parseClassName(String value) {
    if (!CLASS.matcher(value).matches()) {
      throw new IllegalArgumentException("not the name of a class");
    }
    return value;
  }
}
