package io.strata.kafka.bench.paired;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A broker that takes part in a paired run, as its file says.
 *
 * @param label of its results
 * @param classPath jars before Kafka's own, absolute; a file's are relative to where the tool runs
 * @param jvm options of the broker's JVM, and of the tool that formats its directories
 * @param properties of the broker, beside those that any single node needs
 * @param prefix a command that runs the broker's, such as one that limits its memory
 * @param before commands of a shell before the broker's first start, its folder being there and
 *     empty
 * @param after commands of a shell after its last stop, before the folder is deleted
 */
public record Contender(
    String label,
    List<String> classPath,
    List<String> jvm,
    Map<String, String> properties,
    List<String> prefix,
    List<String> before,
    List<String> after) {
  private static final ObjectMapper YAML = YAMLMapper.builder().build();
  private static final Pattern NAME = Pattern.compile("\\{([a-zA-Z0-9-]+)}");

  private static final List<String> LISTS =
      List.of("class-path", "jvm", "prefix", "before", "after");

  /**
   * Reads a contender's file. If it is {@code like} another, its lists follow the other's, and its
   * properties override single ones.
   *
   * @param with files of keys that every contender gets after its own
   * @param values of the names in braces, such as {@code {pool}}
   * @throws ScenarioException if a key or a name is unknown
   */
  public static Contender read(Path file, List<Path> with, Map<String, String> values) {
    ObjectNode all = keys(file, values);
    for (Path more : with) {
      ObjectNode keys = keys(more, values);
      if (keys.has("label")) {
        throw new ScenarioException(
            "%s: found the key 'label', expected none where every contender gets the keys"
                .formatted(more));
      }
      merge(all, keys);
    }
    if (!all.path("label").asText().matches("[a-zA-Z0-9][a-zA-Z0-9._-]*")) {
      throw new ScenarioException(
          "%s: found the label '%s', expected letters, digits, dots and hyphens"
              .formatted(file, all.path("label").asText()));
    }
    try {
      return new Contender(
          all.path("label").asText(),
          // The broker has a working directory of its own.
          texts(all, "class-path").stream()
              .map(entry -> Path.of(entry).toAbsolutePath().toString())
              .toList(),
          texts(all, "jvm"),
          YAML.convertValue(
              all.withObject("/properties"), new TypeReference<Map<String, String>>() {}),
          texts(all, "prefix"),
          texts(all, "before"),
          texts(all, "after"));
    } catch (IllegalArgumentException e) {
      throw new ScenarioException("%s: %s".formatted(file, e.getMessage()));
    }
  }

  /** The keys of a file, and of the one that it is like. */
  private static ObjectNode keys(Path file, Map<String, String> values) {
    ObjectNode own = parse(file, values);
    JsonNode like = own.remove("like");
    if (like == null) {
      return own;
    }
    Path other = file.resolveSibling(like.asText());
    ObjectNode all = parse(other, values);
    if (all.has("like")) {
      throw new ScenarioException(
          "%s: found the key 'like' in %s, expected a file without it".formatted(file, other));
    }
    merge(all, own);
    return all;
  }

  private static ObjectNode parse(Path file, Map<String, String> values) {
    try {
      if (!(YAML.readTree(fill(file, Files.readString(file), values)) instanceof ObjectNode own)) {
        throw new ScenarioException("%s: expected keys with values, in YAML".formatted(file));
      }
      own.properties().forEach(key -> check(file, key.getKey(), key.getValue()));
      return own;
    } catch (JsonProcessingException e) {
      throw new ScenarioException("%s: %s".formatted(file, e.getOriginalMessage()));
    } catch (IOException e) {
      throw new ScenarioException("%s: found no readable file (%s)".formatted(file, e));
    }
  }

  private static void check(Path file, String key, JsonNode value) {
    boolean isList = LISTS.contains(key);
    boolean isObject = key.equals("properties");
    if (!isList && !isObject && !key.equals("label") && !key.equals("like")) {
      throw new ScenarioException(
          "%s: found the key '%s', expected one of label, like, properties, %s"
              .formatted(file, key, String.join(", ", LISTS)));
    }
    if (isList != value.isArray() || isObject != value.isObject()) {
      throw new ScenarioException(
          "%s: found %s for '%s', expected %s"
              .formatted(
                  file, value, key, isList ? "a list" : isObject ? "keys with values" : "a text"));
    }
  }

  /** Adds {@code more} to {@code all}: appends lists, and overrides single properties and texts. */
  private static void merge(ObjectNode all, ObjectNode more) {
    more.properties()
        .forEach(
            key -> {
              if (key.getValue() instanceof ArrayNode list) {
                all.withArray("/" + key.getKey()).addAll(list);
              } else if (key.getValue() instanceof ObjectNode properties) {
                all.withObject("/" + key.getKey()).setAll(properties);
              } else {
                all.set(key.getKey(), key.getValue());
              }
            });
  }

  /** Returns how its broker is started, as the cluster of a result is described. */
  Map<String, String> facts() {
    Map<String, String> facts = new TreeMap<>();
    facts.put("contender class path", String.join(" ", classPath));
    facts.put("contender JVM options", String.join(" ", jvm));
    facts.put("contender prefix", String.join(" ", prefix));
    facts.values().removeIf(String::isEmpty);
    properties.forEach((key, value) -> facts.put("contender " + key, value));
    return facts;
  }

  private static List<String> texts(ObjectNode all, String key) {
    return YAML.convertValue(all.withArray("/" + key), new TypeReference<List<String>>() {});
  }

  private static String fill(Path file, String text, Map<String, String> values) {
    return NAME.matcher(text)
        .replaceAll(
            found -> {
              String value = values.get(found.group(1));
              if (value == null) {
                throw new ScenarioException(
                    "%s: found {%s}, expected a value: --define %s=..."
                        .formatted(file, found.group(1), found.group(1)));
              }
              return Matcher.quoteReplacement(value);
            });
  }
}
