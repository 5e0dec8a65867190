package io.strata.kafka.turns;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The guards against races, as {@code guards.txt} lists them.
 *
 * @param name what it guards
 * @param file its source, below the package {@code io.strata.kafka}
 * @param play who finds out that it is missing, and under which seed; empty for those that need not
 *     or cannot be tested
 * @param reason why not
 * @param changes what is changed to take it away
 */
record Guards(
    String name, String file, Optional<Noticed> play, String reason, List<Change> changes) {

  private static final String LIST = "/io/strata/kafka/turns/guards.txt";
  private static final String GAP = "(?:\\s|//[^\n]*\n)+";
  private static final Path SOURCES = Path.of("src/main/java/io/strata/kafka");

  /**
   * A text of the source, and what stands in its place without the guard.
   *
   * @param with the guard's text
   * @param without the other one
   */
  record Change(String with, String without) {}

  /** A play and its seed; -1 if none has been found yet. */
  record Noticed(String play, long seed) {}

  /** All of them. */
  static List<Guards> all() throws IOException {
    List<Guards> all = new ArrayList<>();
    try (InputStream in = requireNonNull(Guards.class.getResourceAsStream(LIST))) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      for (String block : text.split("\n## ", -1)) {
        if (!block.startsWith("#")) {
          all.add(parse(block.lines().toList()));
        }
      }
    }
    return all;
  }

  private static Guards parse(List<String> lines) {
    String file = "";
    String reason = "";
    Optional<Noticed> play = Optional.empty();
    List<Change> changes = new ArrayList<>();
    StringBuilder with = new StringBuilder();
    StringBuilder without = new StringBuilder();
    for (String line : lines.subList(1, lines.size())) {
      if (line.startsWith("file: ")) {
        file = line.substring(6);
      } else if (line.startsWith("reason: ")) {
        reason = line.substring(8);
      } else if (line.startsWith("play: ")) {
        String[] words = line.substring(6).split(" ", -1);
        play = Optional.of(new Noticed(words[0], Long.parseLong(words[1])));
      } else if (line.startsWith("- ")) {
        if (!without.isEmpty()) {
          changes.add(new Change(plain(with), plain(without)));
          with.setLength(0);
          without.setLength(0);
        }
        with.append(line.substring(2)).append('\n');
      } else if (line.startsWith("+")) {
        without.append(line.substring(1)).append('\n');
      } else if (!line.isBlank()) {
        throw new IllegalArgumentException("guards.txt: " + line);
      }
    }
    changes.add(new Change(plain(with), plain(without)));
    return new Guards(lines.get(0), file, play, reason, List.copyOf(changes));
  }

  /** Without a meaning of line breaks. */
  private static String plain(CharSequence text) {
    return text.toString().replaceAll("\\s+", " ").strip();
  }

  private String source() throws IOException {
    return Files.readString(SOURCES.resolve(file + ".java"));
  }

  /** A guard's text as it may be in its source: broken into lines, and with comments between. */
  private static Pattern inSource(String text) {
    return Pattern.compile(
        Arrays.stream(text.split(" ", -1)).map(Pattern::quote).collect(Collectors.joining(GAP)));
  }

  /** Its texts that are not in its source exactly once: none, if the list is up to date. */
  List<String> notFound() throws IOException {
    String source = source();
    return changes.stream()
        .map(Change::with)
        .filter(with -> with.isEmpty() || inSource(with).matcher(source).results().count() != 1)
        .toList();
  }

  /** The source in which it has been taken away. */
  String sourceWithout() throws IOException {
    String source = source();
    for (Change change : changes) {
      source =
          inSource(change.with())
              .matcher(source)
              .replaceFirst(Matcher.quoteReplacement(change.without()));
    }
    return source;
  }

  /** The class's name. */
  String className() {
    return "io.strata.kafka." + file.replace('/', '.');
  }

  @Override
  public String toString() {
    return name;
  }
}
