package io.strata.kafka.config;

import io.strata.kafka.memory.MemoryType;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** The parsers of the keys' values. Each throws IllegalArgumentException for what is not one. */
final class Values {
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

  static MemoryType parseMemoryType(String value) {
    for (MemoryType type : MemoryType.values()) {
      if (type.configName().equals(value.toLowerCase(Locale.ROOT))) {
        return type;
      }
    }
    throw new IllegalArgumentException("");
  }

  static SpillForce parseSpillForce(String value) {
    for (SpillForce force : SpillForce.values()) {
      if (force.configName().equals(value.toLowerCase(Locale.ROOT))) {
        return force;
      }
    }
    throw new IllegalArgumentException("");
  }

  /** At least one file, no file twice. Relative ones are made absolute, as Kafka does. */
  static List<Path> parseFiles(String value) {
    Set<Path> files = new LinkedHashSet<>();
    for (String name : splitAtCommas(value)) {
      Path file;
      try {
        file = Path.of(name).toAbsolutePath().normalize();
      } catch (InvalidPathException e) {
        throw new IllegalArgumentException("'" + name + "' is not a path: " + e.getReason(), e);
      }
      if (!files.add(file)) {
        throw new IllegalArgumentException("'" + name + "' is listed twice");
      }
    }
    if (files.isEmpty()) {
      throw new IllegalArgumentException("the list is empty");
    }
    return List.copyOf(files);
  }

  /** The expressions as written, each one compiled once to check it. */
  static List<String> parseExpressions(String value) {
    List<String> expressions = splitAtCommas(value);
    for (String expression : expressions) {
      try {
        Pattern.compile(expression);
      } catch (PatternSyntaxException e) {
        throw new IllegalArgumentException(
            "'"
                + expression
                + "' is not a regular expression: "
                + e.getDescription()
                + " near index "
                + e.getIndex(),
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
}
