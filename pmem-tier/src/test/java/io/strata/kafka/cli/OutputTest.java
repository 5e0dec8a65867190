package io.strata.kafka.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** Tables and progress bars. */
class OutputTest {

  @Test
  void aTableIsAsWideAsItsWidestCells() {
    StringWriter out = new StringWriter();
    Table table =
        new Table()
            .column("NAME", Table.Align.LEFT)
            .column("SIZE", Table.Align.RIGHT)
            .column("X", Table.Align.LEFT);
    table.row("a long name", "1", "");
    table.row("b", "100000", "y");

    table.print(new PrintWriter(out, true));

    assertThat(out.toString().lines())
        .containsExactly("NAME           SIZE  X", "a long name       1", "b            100000  y");
    assertThatThrownBy(() -> table.row("too", "few")).isInstanceOf(IllegalArgumentException.class);
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
