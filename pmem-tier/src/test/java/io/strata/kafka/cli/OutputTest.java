package io.strata.kafka.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.cli.status.BrokerStatus;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Progress;
import io.strata.kafka.cli.terminal.Table;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tables and progress bars. */
class OutputTest {

  @Test
  void aTableIsAsWideAsItsWidestCells() {
    StringWriter out = new StringWriter();
    Table table = new Table("NAME", ">SIZE", "X");
    table.row("a long name", "1", "");
    table.row("b", "100000", "y");

    table.print(new PrintWriter(out, true));

    assertThat(out.toString().lines())
        .containsExactly("NAME           SIZE  X", "a long name       1", "b            100000  y");
    assertThatThrownBy(() -> table.row("too", "few")).isInstanceOf(IllegalArgumentException.class);
  }

  /** Each setting is whole on a line, so that one can be searched for and copied. */
  @Test
  void theSettingsOfAStatusAreWrapped() {
    String pattern = "x".repeat(150);
    Map<String, String> settings = new TreeMap<>();
    for (int i = 10; i < 30; i++) {
      settings.put("strata.migration.key" + i, "newest");
    }
    settings.put("strata.topics.exclude", "");
    settings.put("strata.topics.include", pattern);
    StringWriter out = new StringWriter();

    new BrokerStatus("0", "1", 2, 3, 0, List.of(), Map.of(), settings)
        .print(new PrintWriter(out, true));

    List<String> lines =
        out.toString().lines().dropWhile(line -> !line.startsWith("Settings:")).toList();
    assertThat(lines).hasSize(8);
    assertThat(lines.get(0))
        .startsWith("Settings: strata.migration.key10=newest strata.migration.key11=newest");
    assertThat(lines.subList(0, 7))
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120).endsWith("=newest"));
    assertThat(lines.subList(1, 8))
        .allSatisfy(line -> assertThat(line).startsWith("          ").doesNotContain("exclude"));
    assertThat(lines.get(7)).isEqualTo("          strata.topics.include=" + pattern);
  }

  /** A full disk, or a pipe whose reader has ended: a script must not take it for the whole. */
  @Test
  void outputThatCannotBeWrittenIsNoSuccess() {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("No space left on device");
          }
        };
    StringWriter err = new StringWriter();

    int code =
        Main.run(
            new PrintWriter(full, true, UTF_8), new PrintWriter(err, true), "generate-completion");

    assertThat(code).isEqualTo(ExitCode.FAILED.code());
    assertThat(err.toString()).startsWith("strata: standard output: not all of the result");
  }

  @Test
  void aProgressBarEndsWithTheWholeAndWithoutATrace() {
    ByteArrayOutputStream screen = new ByteArrayOutputStream();
    try (PrintStream target = new PrintStream(screen, true, UTF_8);
        Progress progress = Progress.on(target, "copying")) {
      progress.progress(0, 4 << 20);
      progress.progress(4 << 20, 4 << 20);
    }

    assertThat(screen.toString(UTF_8)).contains("copying").contains("4/4 MiB");
  }

  @Test
  void nothingIsShownWhenStandardErrorIsNoTerminal() {
    // The build's standard error is none.
    try (Progress progress = Progress.onTerminal("copying")) {
      progress.progress(1, 2);
      assertThat(progress).isNotNull();
    }
  }
}
