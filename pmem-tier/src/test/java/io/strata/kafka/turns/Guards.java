package io.strata.kafka.turns;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The guards against races, as {@code guards.txt} lists them.
 *
 * @param name what it guards
 * @param file its source, below the package {@code io.strata.kafka}
 * @param play who finds out that it is missing, and under which seed; empty for those that need not
 *     or cannot be tested
 * @param reason why not
 * @param with the guard's text
 * @param without what stands there when it is taken away
 */
record Guards(
    String name, String file, Optional<Noticed> play, String reason, String with, String without) {

  private static final String LIST = "/io/strata/kafka/turns/guards.txt";
  private static final Path SOURCES = Path.of("src/main/java/io/strata/kafka");

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
        with.append(line.substring(2)).append('\n');
      } else if (line.startsWith("+")) {
        without.append(line.substring(1)).append('\n');
      } else if (!line.isBlank()) {
        throw new IllegalArgumentException("guards.txt: " + line);
      }
    }
    return new Guards(lines.get(0), file, play, reason, plain(with), plain(without));
  }

  /** Without comments, and without a meaning of line breaks. */
  private static String plain(CharSequence source) {
    StringBuilder plain = new StringBuilder();
    source.toString().lines().forEach(line -> plain.append(withoutComment(line)).append(' '));
    return plain.toString().replaceAll("\\s+", " ").strip();
  }

  private static String withoutComment(String line) {
    int comment = line.indexOf("//");
    return comment < 0 ? line : line.substring(0, comment);
  }

  private String source() throws IOException {
    return plain(Files.readString(SOURCES.resolve(file + ".java")));
  }

  /** How often its text is in its source: once, if the list is up to date. */
  int found() throws IOException {
    String source = source();
    int count = 0;
    for (int at = source.indexOf(with); at >= 0; at = source.indexOf(with, at + 1)) {
      count++;
    }
    return count;
  }

  /** The source in which it has been taken away. */
  String sourceWithout() throws IOException {
    return source().replace(with, without);
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
