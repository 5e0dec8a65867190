package io.strata.kafka.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The form of the scripts in {@code findings/}. Their outcome is other software's: no test runs
 * them.
 */
class FindingsFormTest {

  private static final Path TOP = Path.of("..").toAbsolutePath().normalize();
  private static final Path FINDINGS = TOP.resolve("findings");
  private static final List<String> FIELDS = List.of("Versions", "Guess", "Seen", "Matters");
  private static final int LONGEST = 100;

  static List<Path> scripts() throws IOException {
    try (Stream<Path> files = Files.list(FINDINGS)) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void theHeaderHasItsFieldsInOrder(Path script) throws IOException {
    List<String> lines = Files.readAllLines(script);
    assertThat(lines.get(0)).isEqualTo("#!/usr/bin/env bash");
    assertThat(lines.get(1)).as("title").matches("# \\S.*[^.]\\.");
    int end = lines.indexOf("set -euo pipefail");
    assertThat(end).as("line of set -euo pipefail").isPositive();
    List<String> header = lines.subList(2, end);
    assertThat(header).allMatch(line -> line.startsWith("# ") || line.startsWith("#   "));
    List<String> found = new ArrayList<>();
    for (String line : header) {
      if (!line.startsWith("#   ")) {
        Matcher field = Pattern.compile("# (\\w+): \\S.*").matcher(line);
        assertThat(field.matches()).as(line).isTrue();
        found.add(field.group(1));
      }
    }
    assertThat(found).isEqualTo(FIELDS);
    assertThat(header.get(0)).as("a pinned version").matches(".*\\d+\\.\\d+.*");
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void theScriptCanBeRunAndSaysHowItEnded(Path script) throws IOException {
    assertThat(script.getFileName().toString()).endsWith(".sh");
    assertThat(Files.getPosixFilePermissions(script)).contains(PosixFilePermission.OWNER_EXECUTE);
    List<String> lines = Files.readAllLines(script);
    assertThat(lines).hasSizeLessThanOrEqualTo(LONGEST);
    assertThat(String.join("\n", lines))
        .contains("mktemp -d", "trap ", "exit 1", "exit 3", "exit 0");
  }

  @Test
  void thePageListsEachScriptOnce() throws IOException {
    String page = Files.readString(TOP.resolve("docs").resolve("surprises.md"));
    List<String> listed =
        Pattern.compile("\\]\\(\\.\\./findings/([^)]+)\\)")
            .matcher(page)
            .results()
            .map(link -> link.group(1))
            .sorted()
            .toList();
    assertThat(listed).isEqualTo(scripts().stream().map(s -> s.getFileName().toString()).toList());
  }
}
