package io.strata.kafka.bench.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * A place in a scenario whose defaults are filled in: reads its values, and names itself in every
 * complaint.
 *
 * @param path its name, with dots; empty for the scenario
 * @param node the value
 */
record Place(String path, JsonNode node) {

  /** Returns where the key is. */
  Place at(String key) {
    return new Place(path.isEmpty() ? key : path + "." + key, node.path(key));
  }

  String text(String key) {
    return at(key).text();
  }

  String text() {
    if (!node.isValueNode() || node.isNull()) {
      throw Units.wrong(path, found(), "one value");
    }
    return node.asText();
  }

  /** One of several words. */
  String oneOf(String key, List<String> words) {
    String text = text(key);
    if (!words.contains(text)) {
      throw Units.wrong(at(key).path, text, "one of " + String.join(", ", words));
    }
    return text;
  }

  boolean flag(String key) {
    return oneOf(key, List.of("true", "false")).equals("true");
  }

  long count(String key, long least) {
    return atLeast(key, Units.count(at(key).path, text(key)), least);
  }

  long bytes(String key, long least) {
    return atLeast(key, Units.bytes(at(key).path, text(key)), least);
  }

  /** A number that fits an {@code int}. */
  int small(String key, long value) {
    if (value > Integer.MAX_VALUE) {
      throw Units.wrong(at(key).path, text(key), "%d at most".formatted(Integer.MAX_VALUE));
    }
    return (int) value;
  }

  double seconds(String key) {
    return Units.seconds(at(key).path, text(key));
  }

  double fraction(String key) {
    double value;
    try {
      value = Double.parseDouble(text(key));
    } catch (NumberFormatException e) {
      value = Double.NaN;
    }
    if (!(value >= 0 && value <= 1)) {
      throw Units.wrong(at(key).path, text(key), "a number from 0 to 1");
    }
    return value;
  }

  OptionalLong limit(String key, double scale, boolean bytes) {
    if (text(key).equals("none")) {
      return OptionalLong.empty();
    }
    long value = bytes ? bytes(key, 1) : count(key, 1);
    return OptionalLong.of(Math.max(1, Math.round(value * scale)));
  }

  OptionalDouble timeLimit(String key, double scale) {
    return text(key).equals("none")
        ? OptionalDouble.empty()
        : OptionalDouble.of(seconds(key) * scale);
  }

  /** Keys and values as text: properties of Kafka's. */
  Map<String, String> properties(String key) {
    Map<String, String> values = new LinkedHashMap<>();
    at(key).children().forEach((name, place) -> values.put(name, place.text()));
    return values;
  }

  List<String> texts(String key) {
    Place place = at(key);
    if (!place.node.isArray()) {
      throw Units.wrong(place.path, place.found(), "a list, such as [a, b]");
    }
    List<String> values = new ArrayList<>();
    for (int i = 0; i < place.node.size(); i++) {
      values.add(new Place(place.path + "[" + i + "]", place.node.get(i)).text());
    }
    return values;
  }

  /** Returns what is below, by name, in the file's order. */
  Map<String, Place> children() {
    if (!node.isObject()) {
      throw Units.wrong(path, found(), "keys with values");
    }
    Map<String, Place> children = new LinkedHashMap<>();
    node.fieldNames().forEachRemaining(name -> children.put(name, at(name)));
    return children;
  }

  String found() {
    return node.isMissingNode() ? "nothing" : node.isTextual() ? node.asText() : node.toString();
  }

  private long atLeast(String key, long value, long least) {
    if (value < least) {
      throw Units.wrong(at(key).path, text(key), "%d at least".formatted(least));
    }
    return value;
  }
}
