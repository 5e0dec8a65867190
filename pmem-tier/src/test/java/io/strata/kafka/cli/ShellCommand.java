package io.strata.kafka.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One command of a shell block in the documentation.
 *
 * @param where page and line
 * @param words the command and its arguments, without quotes
 */
record ShellCommand(String where, List<String> words) {
  private static final Set<String> SEPARATORS = Set.of("&&", "||", ";", "|", "do", "done");

  /** The commands of a block: comments are left out, lines that end in a backslash are joined. */
  static Stream<ShellCommand> of(MarkdownPage.Block block) {
    List<ShellCommand> commands = new ArrayList<>();
    StringBuilder joined = new StringBuilder();
    for (int i = 0; i < block.lines().size(); i++) {
      String line = block.lines().get(i);
      if (line.endsWith("\\")) {
        joined.append(line, 0, line.length() - 1).append(' ');
        continue;
      }
      String where = String.format(Locale.ROOT, "%s:%d", block.page(), block.line() + i);
      commands.addAll(split(where, joined.append(line).toString()));
      joined.setLength(0);
    }
    return commands.stream();
  }

  private static List<ShellCommand> split(String where, String line) {
    List<ShellCommand> commands = new ArrayList<>();
    List<String> words = new ArrayList<>();
    for (String word : words(line)) {
      boolean ends = word.endsWith(";") && word.length() > 1;
      if (!SEPARATORS.contains(word)) {
        words.add(ends ? word.substring(0, word.length() - 1) : word);
      }
      if ((ends || SEPARATORS.contains(word)) && !words.isEmpty()) {
        commands.add(new ShellCommand(where, withoutPrefix(words)));
        words = new ArrayList<>();
      }
    }
    if (!words.isEmpty()) {
      commands.add(new ShellCommand(where, withoutPrefix(words)));
    }
    return commands;
  }

  private static List<String> withoutPrefix(List<String> words) {
    List<String> rest = new ArrayList<>(words);
    while (rest.size() > 1 && (rest.get(0).equals("sudo") || rest.get(0).matches("[A-Z_]+=.*"))) {
      rest.remove(0);
      if (rest.get(0).equals("-u")) {
        rest.subList(0, 2).clear();
      }
    }
    return List.copyOf(rest);
  }

  private static List<String> words(String line) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    boolean inside = false;
    char quote = 0;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (quote == 0 && !inside && c == '#') {
        break;
      }
      if (quote != 0 ? c == quote : c == '\'' || c == '"') {
        quote = quote == 0 ? c : 0;
        inside = true;
      } else if (quote == 0 && Character.isWhitespace(c)) {
        if (inside) {
          words.add(word.toString());
          word.setLength(0);
          inside = false;
        }
      } else {
        word.append(c);
        inside = true;
      }
    }
    if (inside) {
      words.add(word.toString());
    }
    return words;
  }

  String name() {
    return words.get(0);
  }

  /** What {@code kubectl exec} runs. */
  private ShellCommand inPod() {
    return new ShellCommand(where, words.subList(words.indexOf("--") + 1, words.size()));
  }

  /** The arguments of Strata's command line, if it is one, by whichever name. */
  Optional<List<String>> strata() {
    if (name().equals("strata")) {
      return Optional.of(words.subList(1, words.size()));
    }
    if (name().equals("kubectl") && words.contains("--")) {
      return inPod().strata();
    }
    if (name().equals("java")) {
      for (int i = 1; i < words.size(); i++) {
        boolean jar =
            words.get(i - 1).equals("-jar") && words.get(i).matches(".*strata-kafka(-.*)?\\.jar");
        if (jar || words.get(i).equals(Main.class.getName())) {
          return Optional.of(words.subList(i + 1, words.size()));
        }
      }
    }
    return Optional.empty();
  }

  /** The value behind an option, or of {@code option=value}. */
  Optional<String> valueOf(String option) {
    for (int i = 1; i < words.size(); i++) {
      if (words.get(i).equals(option) && i + 1 < words.size()) {
        return Optional.of(words.get(i + 1));
      }
      if (words.get(i).startsWith(option + "=")) {
        return Optional.of(words.get(i).substring(option.length() + 1));
      }
    }
    return Optional.empty();
  }

  @Override
  public String toString() {
    return where + ": " + String.join(" ", words);
  }
}
