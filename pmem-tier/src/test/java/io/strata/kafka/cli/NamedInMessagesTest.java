package io.strata.kafka.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The commands and keys that messages tell an operator to use are real ones. */
class NamedInMessagesTest {

  private static final Path TOP = Path.of("..").toAbsolutePath().normalize();

  private static final Pattern COMMAND = Pattern.compile("'strata ([a-z-]+)(?: ([a-z-]+))?");
  private static final Pattern KEY =
      Pattern.compile("(?<![\\w.])(?:strata|rsm)\\.[a-z]+(?:\\.[a-z]+)*(?=[^\\w.]|\\.?$|\\. )");
  private static final Pattern DOCUMENTED = Pattern.compile("`((?:strata|rsm)\\.[^`=]+)`");

  /** System properties, extended attributes of files, and a jar. */
  private static final Set<String> OTHERS =
      Set.of(
          "strata.jar",
          "strata.role",
          "strata.config",
          "strata.segment",
          "strata.below",
          "strata.directory",
          "strata.sequences");

  /** The sources' texts, with literals that are continued on the next line in one piece. */
  private static List<String> sources() throws IOException {
    List<String> sources = new ArrayList<>();
    for (String module : List.of("plugin-api", "migration", "pmem-tier")) {
      try (Stream<Path> files = Files.walk(TOP.resolve(module).resolve("src/main/java"))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
          sources.add(
              Files.readString(file)
                  .replaceAll("\\\\\\n\\s*", "")
                  .replaceAll("\"\\s*\\n\\s*\\+ \"", ""));
        }
      }
    }
    return sources;
  }

  @Test
  void commandsAreReal() throws IOException {
    List<MatchResult> named = new ArrayList<>();
    for (String source : sources()) {
      COMMAND.matcher(source).results().forEach(named::add);
    }
    assertThat(named).isNotEmpty();
    for (MatchResult each : named) {
      Map<String, CommandLine> commands = Main.commandLine().getSubcommands();
      assertThat(commands).as(each.group()).containsKey(each.group(1));
      Map<String, CommandLine> below = requireNonNull(commands.get(each.group(1))).getSubcommands();
      if (!below.isEmpty() && each.group(2) != null) {
        assertThat(below).as(each.group()).containsKey(each.group(2));
      }
    }
  }

  @Test
  void keysAreReal() throws IOException {
    String page = Files.readString(TOP.resolve("docs/reference/configuration.md"));
    Set<String> known =
        DOCUMENTED.matcher(page).results().map(key -> key.group(1)).collect(Collectors.toSet());
    Set<String> unknown = new TreeSet<>();
    for (String source : sources()) {
      for (String literal : literals(source)) {
        Matcher keys = KEY.matcher(literal);
        while (keys.find()) {
          String key = keys.group();
          // A key of a family, and the beginning of one, are parts of the page's.
          if (!OTHERS.contains(key) && known.stream().noneMatch(each -> fits(key, each))) {
            unknown.add(key);
          }
        }
      }
    }
    assertThat(unknown).as("keys in messages that are in no row of the reference").isEmpty();
  }

  private static boolean fits(String key, String documented) {
    int family = documented.indexOf('<');
    return documented.equals(key)
        || documented.startsWith(key + ".")
        || (family > 0 && key.startsWith(documented.substring(0, family)));
  }

  private static List<String> literals(String source) {
    return Pattern.compile("\"\"\"(?s:.*?)\"\"\"|\"(?:[^\"\\\\\\n]|\\\\.)*\"")
        .matcher(source.replaceAll("(?s)/\\*.*?\\*/|(?m)^\\s*//.*$", ""))
        .results()
        .map(MatchResult::group)
        .toList();
  }
}
