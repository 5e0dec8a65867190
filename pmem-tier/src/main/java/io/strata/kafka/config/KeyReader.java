package io.strata.kafka.config;

import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.StrataKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Reads keys one by one and collects what is wrong.
 *
 * <p>Not thread-safe.
 */
final class KeyReader {
  /** Follows where no key of Strata's is there: the flag may have been left behind. */
  private static final String WITHOUT_KEYS =
      """
      ; if 'strata drain' has taken Strata out, remove \
      -Djava.nio.file.spi.DefaultFileSystemProvider from KAFKA_OPTS\
      """;

  private final Map<String, String> properties;
  private final Predicate<String> resolved;
  private final List<ConfigProblem> problems = new ArrayList<>();

  /**
   * For these keys.
   *
   * @param resolved whether Kafka has resolved configuration providers in the key's value: what
   *     looks like one is then none
   */
  KeyReader(Map<String, String> properties, Predicate<String> resolved) {
    this.properties = properties;
    this.resolved = resolved;
  }

  List<ConfigProblem> problems() {
    return problems;
  }

  void refuse(String key, String found, String expected, String action) {
    problems.add(ConfigProblem.error(key, found, expected, action));
  }

  boolean isSet(StrataKey<?> key) {
    return properties.containsKey(key.name());
  }

  /** The names of all keys that are set and begin with {@code prefix}, in order. */
  Set<String> names(String prefix) {
    return properties.keySet().stream()
        .filter(name -> name.startsWith(prefix))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The value or the key's default; or empty, and one more problem. */
  <T> Optional<T> read(StrataKey<T> key) {
    Optional<String> value = Optional.ofNullable(properties.get(key.name()));
    if (value.isEmpty() && key.defaultValue().isEmpty()) {
      String action = "set it in server.properties (see docs/reference/configuration.md)";
      refuse(
          key.name(),
          "nothing",
          key.expected(),
          key.equals(StrataKeys.POOLS) && names(StrataKeys.PREFIX).isEmpty()
              ? action + WITHOUT_KEYS
              : action);
      return Optional.empty();
    }
    return value.or(key::defaultValue).flatMap(text -> parse(key, text));
  }

  /** The value of a key that has a default; the default with one more problem. */
  <T> T readOrDefault(StrataKey<T> key) {
    return read(key).or(key::parsedDefault).orElseThrow();
  }

  /** The value; empty if the key is not set, or with one more problem. */
  <T> Optional<T> readIfSet(StrataKey<T> key) {
    return Optional.ofNullable(properties.get(key.name())).flatMap(text -> parse(key, text));
  }

  private <T> Optional<T> parse(StrataKey<T> key, String text) {
    if (text.contains("${") && !resolved.test(key.name())) {
      refuse(
          key.name(),
          "'" + text + "'",
          key.expected(),
          """
          write the value itself: configuration providers are not resolved for strata.* keys, \
          which are read before Kafka starts\
          """);
      return Optional.empty();
    }
    try {
      return Optional.of(key.parse(text));
    } catch (IllegalArgumentException e) {
      String detail = Optional.ofNullable(e.getMessage()).orElse("");
      refuse(
          key.name(),
          "'" + text + "'" + (detail.isEmpty() ? "" : " (" + detail + ")"),
          key.expected(),
          key.defaultValue()
              .map(
                  d ->
                      "correct it, or remove the key for the default %s"
                          .formatted(d.isEmpty() ? "(empty)" : "'" + d + "'"))
              .orElse("correct it"));
      return Optional.empty();
    }
  }

  static String whatToDo(String unknown) {
    return StrataKeys.nearest(unknown)
        .map("did you mean %s? Otherwise remove it"::formatted)
        .orElse("remove it");
  }

  void refuseUnknown() {
    for (String name : names(StrataKeys.PREFIX)) {
      if (StrataKeys.find(name).isEmpty()) {
        refuse(
            name,
            "an unknown key",
            "one that docs/reference/configuration.md lists",
            whatToDo(name));
      }
    }
  }
}
