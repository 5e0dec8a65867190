package io.strata.kafka.config;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
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
  private static final long LEAST_POOL = 4 << 20;

  /** A few readers' pieces. */
  private static final long LEAST_CACHE = 16 << 20;

  private Values() {}

  static boolean parseBoolean(String value) {
    // Boolean.parseBoolean takes every misspelt "true" for false.
    if (value.equalsIgnoreCase("true")) {
      return true;
    }
    if (value.equalsIgnoreCase("false")) {
      return false;
    }
    throw new IllegalArgumentException("");
  }

  static StrataKey.Parser<Long> longBetween(long least, long most) {
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

  static StrataKey.Parser<Double> doubleBetween(double least, double most) {
    return value -> {
      double number = decimal(value);
      if (number < least || number > most) {
        throw new IllegalArgumentException("");
      }
      return number;
    };
  }

  /** -1, or a share from 0 to 1. */
  static double parseThreshold(String value) {
    double number = decimal(value);
    if (number != -1 && (number < 0 || number > 1)) {
      throw new IllegalArgumentException("");
    }
    return number;
  }

  /** Double.parseDouble takes NaN, hexadecimal and 1d as well. */
  private static double decimal(String value) {
    if (!DECIMAL.matcher(value).matches()) {
      throw new IllegalArgumentException("");
    }
    return Double.parseDouble(value);
  }

  static long parseRate(String value) {
    return ByteAmount.parseRate(value).bytes();
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

  /**
   * At least one name, none twice.
   *
   * @param what what is named, for messages
   */
  static List<String> parseNames(String what, String value) {
    Set<String> names = new LinkedHashSet<>();
    for (String name : splitAtCommas(value)) {
      if (!TIER.matcher(name).matches()) {
        throw new IllegalArgumentException("'" + name + "' cannot be the name of a " + what);
      }
      if (!names.add(name)) {
        throw new IllegalArgumentException("'" + name + "' is listed twice");
      }
    }
    if (names.isEmpty()) {
      throw new IllegalArgumentException("the list is empty");
    }
    return List.copyOf(names);
  }

  /** At least one file, no file twice. Relative ones are made absolute, as Kafka does. */
  static List<Path> parseFiles(String value) {
    return absolute(splitAtCommas(value));
  }

  /** Splits as Kafka does; at least one, none twice. */
  static List<Path> parseLogDirectories(String value) {
    return absolute(BrokerProperties.list(value));
  }

  private static List<Path> absolute(List<String> names) {
    Set<Path> paths = new LinkedHashSet<>();
    for (String name : names) {
      if (!paths.add(path(name).toAbsolutePath().normalize())) {
        throw new IllegalArgumentException("'" + name + "' is listed twice");
      }
    }
    if (paths.isEmpty()) {
      throw new IllegalArgumentException("the list is empty");
    }
    return List.copyOf(paths);
  }

  private static Path path(String name) {
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("'" + name + "' is not a path: " + e.getReason(), e);
    }
  }

  /** The expressions as written, each one compiled once to check it. */
  static List<String> parseExpressions(String value) {
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

  /** A parser for an enumeration's names, in lower or upper case. */
  static <E> StrataKey.Parser<E> oneOf(List<E> values, Function<E, String> name) {
    return value ->
        values.stream()
            .filter(each -> name.apply(each).equalsIgnoreCase(value))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException(""));
  }

  /** The names of an enumeration's values, for messages. */
  static <E> String names(List<E> values, Function<E, String> name) {
    return values.stream().map(name).collect(Collectors.joining(", "));
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

  /** At least one, absolute, none twice. */
  static List<Path> parseDirectories(String value) {
    Set<Path> directories = new LinkedHashSet<>();
    for (String name : BrokerProperties.list(value)) {
      Path directory = path(name);
      if (!directory.isAbsolute()) {
        throw new IllegalArgumentException("'" + name + "' is not absolute");
      }
      if (!directories.add(directory.normalize())) {
        throw new IllegalArgumentException("'" + name + "' is listed twice");
      }
    }
    if (directories.isEmpty()) {
      throw new IllegalArgumentException("the list is empty");
    }
    return List.copyOf(directories);
  }

  static List<Long> parseCapacities(String value) {
    List<Long> capacities = new ArrayList<>();
    for (String amount : BrokerProperties.list(value)) {
      long bytes = parseBytes(amount);
      if (bytes == 0) {
        throw new IllegalArgumentException("'" + amount + "' is nothing");
      }
      capacities.add(bytes);
    }
    if (capacities.isEmpty()) {
      throw new IllegalArgumentException("the list is empty");
    }
    return List.copyOf(capacities);
  }

  static long parseBytes(String value) {
    return ByteAmount.parse(value).bytes();
  }

  static long parsePoolSize(String value) {
    long bytes = parseBytes(value);
    if (bytes < LEAST_POOL) {
      throw new IllegalArgumentException(bytes + " bytes");
    }
    return bytes;
  }

  static long parseCacheSize(String value) {
    long bytes = parseBytes(value);
    if (bytes < LEAST_CACHE) {
      throw new IllegalArgumentException(bytes + " bytes");
    }
    return bytes;
  }

  static StrataKey.Parser<Long> zeroOrBetween(long least, long most) {
    StrataKey.Parser<Long> between = longBetween(least, most);
    return value -> value.equals("0") ? 0L : between.parse(value);
  }

  static String parseClassName(String value) {
    if (!CLASS.matcher(value).matches()) {
      throw new IllegalArgumentException("not the name of a class");
    }
    return value;
  }

  /** Any text. */
  static String parseText(String value) {
    return value;
  }
}
