package io.strata.kafka.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The commands that messages tell an operator to use are real ones. */
class NamedInMessagesTest {

  private static final Path TOP = Path.of("..").toAbsolutePath().normalize();

  private static final Pattern COMMAND = Pattern.compile("'strata ([a-z-]+)(?: ([a-z-]+))?");

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
}
