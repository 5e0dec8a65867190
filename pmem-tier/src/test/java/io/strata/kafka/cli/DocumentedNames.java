package io.strata.kafka.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The names that pages may use: keys, metrics, classes, and the texts of the product's messages.
 */
final class DocumentedNames {
  private static final Path REFERENCE = MarkdownPage.root().resolve("docs/reference");
  private static final Keys KEYS = readKeys();
  private static final Set<String> METRICS = readMetrics();
  private static final Set<String> CLASSES = readClasses();

  private DocumentedNames() {}

  /**
   * The keys of the reference page, which is generated.
   *
   * @param sections the text of each key's section
   */
  record Keys(Map<String, String> sections) {

    boolean has(String name) {
      return sections.keySet().stream().anyMatch(key -> pattern(key).matcher(name).matches());
    }

    boolean hasOneThatBegins(String prefix) {
      return sections.keySet().stream().anyMatch(key -> prefixOf(prefix, key));
    }

    boolean hasOneThatEnds(String suffix) {
      return sections.keySet().stream().anyMatch(key -> key.endsWith(suffix));
    }

    boolean isDynamic(String name) {
      return sections.entrySet().stream()
          .filter(key -> pattern(key.getKey()).matcher(name).matches())
          .anyMatch(key -> key.getValue().contains("changeable on a live broker: yes"));
    }

    private static boolean prefixOf(String prefix, String key) {
      return Pattern.compile(placeholders(key) + ".*").matcher(prefix).matches()
          || key.startsWith(prefix)
          || (prefix.matches(placeholders(key.replaceFirst("[^>]*$", "")) + ".*")
              && key.contains(">"));
    }

    private static Pattern pattern(String key) {
      return Pattern.compile(placeholders(key));
    }

    private static String placeholders(String key) {
      return key.replace(".", "\\.").replaceAll("<[a-z]+>", "[A-Za-z0-9_.<>-]+");
    }
  }

  static Keys keys() {
    return KEYS;
  }

  /** {@code type,name} of each metric, and the bare names. */
  static Set<String> metrics() {
    return METRICS;
  }

  /** The simple names of all classes of the tree, tests included. */
  static Set<String> classNames() {
    return CLASSES;
  }

  /** The text that stays in each quotation of a cell: an ellipsis stands for what varies. */
  static Stream<List<String>> quotations(String cell) {
    return find("`([^`]+)`", cell)
        .map(
            quoted ->
                Stream.of(quoted.group(1).split("…|<[a-z]+>|: found ", -1))
                    .map(String::strip)
                    .filter(part -> part.length() > 7)
                    .toList());
  }

  /** All sources of the product or of its tests, in which joined literals are one text. */
  static String messages(String folder) {
    return sources()
        .filter(file -> file.toString().contains(folder))
        .map(DocumentedNames::text)
        .map(text -> text.replaceAll("\"\\s*\\+\\s*\"", "").replaceAll("\\\\\\n\\s*", ""))
        .collect(Collectors.joining("\n"));
  }

  private static Keys readKeys() {
    Map<String, String> sections = new LinkedHashMap<>();
    for (String section : text(REFERENCE.resolve("configuration.md")).split("\n## ", -1)) {
      String name = section.lines().findFirst().orElseThrow();
      if (name.matches("[a-z]+\\.\\S+")) {
        sections.put(name, section);
      }
    }
    return new Keys(sections);
  }

  private static Set<String> readMetrics() {
    Set<String> names = new TreeSet<>();
    Pattern.compile("type=([A-Za-z]+),name=([A-Za-z0-9]+)")
        .matcher(text(REFERENCE.resolve("metrics.md")))
        .results()
        .forEach(
            match -> {
              names.add(match.group(1) + "," + match.group(2));
              names.add(match.group(2));
            });
    return names;
  }

  private static Set<String> readClasses() {
    return sources()
        .map(file -> file.getFileName().toString().replaceFirst("\\.java$", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** All Java sources of the tree. */
  static Stream<Path> sources() {
    return Stream.of("plugin-api", "migration", "pmem-tier", "integration-tests", "examples")
        .flatMap(module -> files(MarkdownPage.root().resolve(module)))
        .filter(file -> file.toString().endsWith(".java"));
  }

  /** The files of a module, without what a build makes. */
  private static Stream<Path> files(Path module) {
    try (Stream<Path> folders = Files.list(module)) {
      return folders
          .filter(folder -> !folder.endsWith("target"))
          .flatMap(DocumentedNames::walk)
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<Path> walk(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> !file.toString().contains("/target/")).toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All that {@code pattern} finds in a text. */
  static Stream<MatchResult> find(String pattern, String text) {
    return Pattern.compile(pattern).matcher(text).results();
  }
}
