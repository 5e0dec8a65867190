package io.strata.kafka.bench.scenario;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads a scenario's file: fills in the defaults of {@code defaults.yaml}, which has every key, and
 * applies overrides.
 */
public final class ScenarioFile {
  private static final ObjectMapper YAML =
      YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  /** Sections of the defaults that are templates of what a scenario names itself. */
  private static final List<String> TEMPLATES = List.of("topic", "phase", "producers", "consumers");

  private final ObjectNode tree;
  private final Path folder;

  private ScenarioFile(ObjectNode tree, Path folder) {
    this.tree = tree;
    this.folder = folder;
  }

  /** Returns the text that lists every key, with its default and a comment. */
  public static String keys() {
    try (InputStream in =
        Objects.requireNonNull(ScenarioFile.class.getResourceAsStream("defaults.yaml"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads a file.
   *
   * @param file in YAML
   * @param overrides {@code KEY=VALUE}, the key with dots, {@code *} for each name; {@code
   *     producers.acks=1} is {@code phases.*.producers.*.acks=1}
   * @throws ScenarioException if a key is unknown or a value wrong
   */
  public static Scenario read(Path file, List<String> overrides) {
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException e) {
      throw new ScenarioException(
          "%s: found no readable file (%s), expected a scenario".formatted(file, e));
    }
    try {
      Path folder = Objects.requireNonNullElse(file.toAbsolutePath().getParent(), Path.of("/"));
      return parse(text, folder, overrides);
    } catch (ScenarioException e) {
      ScenarioException named = new ScenarioException("%s: %s".formatted(file, e.getMessage()));
      named.addSuppressed(e);
      throw named;
    }
  }

  /** Reads a text; files that it names are below the folder. */
  static Scenario parse(String text, Path folder, List<String> overrides) {
    ScenarioFile file = new ScenarioFile(object("the file", text), folder);
    file.fillInTop();
    Set<String> used = file.override(overrides);
    // Again, for a key that there is not.
    file.fillInGroups(file.fillInTop());
    // Again, for places that only the defaults have.
    used.addAll(file.override(overrides));
    for (String override : overrides) {
      if (!used.contains(override)) {
        throw Units.wrong("an override", override, "a place in the scenario or its defaults");
      }
    }
    file.resolveFiles(file.tree);
    file.resolveContender();
    return Scenario.of(file.tree);
  }

  private static ObjectNode object(String what, String text) {
    try {
      JsonNode node = YAML.readTree(text);
      if (node instanceof ObjectNode found) {
        return found;
      }
      throw Units.wrong(what, node.toString(), "keys with values, in YAML");
    } catch (JsonProcessingException e) {
      throw Units.wrong(what, e.getOriginalMessage(), "YAML");
    }
  }

  // ---------------------------------------------------------------------------------------------
  // defaults
  // ---------------------------------------------------------------------------------------------

  private Map<String, ObjectNode> fillInTop() {
    ObjectNode all = object("defaults.yaml", keys());
    Map<String, ObjectNode> templates = new HashMap<>();
    TEMPLATES.forEach(
        name -> templates.put(name, (ObjectNode) Objects.requireNonNull(all.remove(name))));
    fill("", tree, all);
    fill("defaults", child("", tree, "defaults"), (ObjectNode) all.get("defaults"));
    return templates;
  }

  private void fillInGroups(Map<String, ObjectNode> templates) {
    ObjectNode own = child("", tree, "defaults");
    tree.remove("defaults");
    fillEach("topics", tree, template(templates, "topic"));
    for (String phase : names("phases", tree)) {
      ObjectNode node = child("phases", child("", tree, "phases"), phase);
      String path = "phases." + phase;
      fill(path, node, template(templates, "phase"));
      for (String role : List.of("producers", "consumers")) {
        ObjectNode defaults = template(templates, role);
        ObjectNode merged = child("defaults", own, role).deepCopy();
        fill("defaults." + role, merged, defaults);
        for (String group : names(path + "." + role, node)) {
          ObjectNode found = child(path + "." + role, child(path, node, role), group);
          fill("%s.%s.%s".formatted(path, role, group), found, merged);
        }
      }
    }
  }

  private static ObjectNode template(Map<String, ObjectNode> templates, String name) {
    return Objects.requireNonNull(templates.get(name), name).deepCopy();
  }

  private static void fillEach(String key, ObjectNode parent, ObjectNode template) {
    for (String name : names(key, parent)) {
      fill("%s.%s".formatted(key, name), child(key, child("", parent, key), name), template);
    }
  }

  /** The names below the last part of the path. */
  private static List<String> names(String path, ObjectNode parent) {
    List<String> names = new ArrayList<>();
    String key = path.substring(path.lastIndexOf('.') + 1);
    child(path, parent, key).fieldNames().forEachRemaining(names::add);
    return names;
  }

  private static ObjectNode child(String path, ObjectNode parent, String key) {
    JsonNode node = parent.path(key);
    if (node.isNull()) {
      return parent.putObject(key);
    }
    if (node instanceof ObjectNode found) {
      return found;
    }
    throw Units.wrong(path.isEmpty() ? key : path, node.toString(), "keys with values");
  }

  /** Adds what is missing; complains of what the template does not have. */
  private static void fill(String path, ObjectNode node, ObjectNode template) {
    TreeSet<String> known = new TreeSet<>();
    template.fieldNames().forEachRemaining(known::add);
    node.fieldNames()
        .forEachRemaining(
            key -> {
              if (!known.contains(key)) {
                throw new ScenarioException(
                    "%s: found the key '%s', expected one of %s"
                        .formatted(
                            path.isEmpty() ? "the scenario" : path, key, String.join(", ", known)));
              }
            });
    for (String key : known) {
      JsonNode value = Objects.requireNonNull(template.get(key));
      if (!node.has(key)) {
        node.set(key, value.deepCopy());
      } else if (key.equals("until")) {
        fill(path + "." + key, child(path + "." + key, node, key), (ObjectNode) value);
      } else if (value.isObject()
          && !value.isEmpty()
          && List.of("properties", "config").contains(key)) {
        // Kafka's own keys: what the group says goes before what its defaults say.
        ObjectNode merged = ((ObjectNode) value).deepCopy();
        merged.setAll(child(path, node, key));
        node.set(key, merged);
      }
    }
  }

  // ---------------------------------------------------------------------------------------------
  // overrides
  // ---------------------------------------------------------------------------------------------

  /** Applies each; returns those that have changed something. */
  private Set<String> override(List<String> overrides) {
    Set<String> used = new HashSet<>();
    for (String override : overrides) {
      if (override(override) > 0) {
        used.add(override);
      }
    }
    return used;
  }

  private int override(String text) {
    int equals = text.indexOf('=');
    if (equals <= 0) {
      throw Units.wrong("an override", text, "KEY=VALUE");
    }
    String key = text.substring(0, equals);
    JsonNode value;
    try {
      value = YAML.readTree(text.substring(equals + 1));
    } catch (JsonProcessingException e) {
      throw Units.wrong(key, text.substring(equals + 1), "a value in YAML");
    }
    String path =
        key.matches("(producers|consumers)\\..*")
            ? "phases.*." + key.replaceFirst("\\.", ".*.")
            : key;
    return set(tree, path, value);
  }

  /** Sets the value wherever the path leads; returns how many places that is. */
  private static int set(ObjectNode node, String path, JsonNode value) {
    int dot = path.indexOf('.');
    if (dot < 0 && !path.equals("*")) {
      node.set(path, value.deepCopy());
      return 1;
    }
    String first = dot < 0 ? path : path.substring(0, dot);
    String rest = dot < 0 ? "" : path.substring(dot + 1);
    List<String> names = new ArrayList<>();
    node.fieldNames().forEachRemaining(names::add);
    int changed = 0;
    for (String name : names) {
      if (!(first.equals("*") || first.equals(name))
          || !(node.get(name) instanceof ObjectNode child)) {
        continue;
      }
      if (List.of("kafka", "config", "properties").contains(name)) {
        // Below are Kafka's keys, which have dots.
        child.set(rest, value.deepCopy());
        changed++;
      } else {
        changed += set(child, rest, value);
      }
    }
    return changed;
  }

  /** The contender's file is beside the scenario's too. */
  private void resolveContender() {
    JsonNode beginAs = tree.path("begin-as");
    if (beginAs.isTextual() && !beginAs.asText().equals("none")) {
      tree.put("begin-as", folder.resolve(beginAs.asText()).toString());
    }
  }

  /** Files are beside the scenario's. */
  private void resolveFiles(JsonNode node) {
    if (node instanceof ObjectNode object) {
      object
          .fieldNames()
          .forEachRemaining(
              name -> {
                JsonNode value = Objects.requireNonNull(object.get(name));
                if (name.equals("rate") && value.path("file").isTextual()) {
                  ((ObjectNode) value)
                      .put("file", folder.resolve(value.get("file").asText()).toString());
                } else {
                  resolveFiles(value);
                }
              });
    } else if (node instanceof ArrayNode array) {
      array.forEach(this::resolveFiles);
    }
  }
}
