package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.cli.terminal.PrintableWriter;
import io.strata.kafka.cli.terminal.Table;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** Names that others have chosen do not reach a terminal as commands. */
class PrintableOutputTest {

  private final StringWriter written = new StringWriter();
  private final PrintWriter out = new PrintableWriter(new PrintWriter(written));

  @Test
  void escapesAreNotPrinted() {
    out.println("a\u001b]0;title\u0007b\u009b31mc\u202ed");
    out.print('\u001b');
    out.write(new char[] {'x', '\u001b', 'y'}, 0, 3);
    out.printf("%s%n", "\u001b[8m");
    out.flush();
    assertThat(written.toString()).isEqualTo("a?]0;title?b?31mc?d\n?x?y?[8m\n");
  }

  @Test
  void linesStayLinesAndTheScreenCanBeCleared() {
    out.print(PrintableWriter.CLEAR);
    out.println("one\n\ttwo");
    out.flush();
    assertThat(written.toString()).isEqualTo(PrintableWriter.CLEAR + "one\n\ttwo\n");
  }

  @Test
  void aCellOfATableIsOneLine() {
    Table table = new Table("NAME", ">N");
    table.row("orders-0\nfaked-0  1", "2");
    table.print(out);
    out.flush();
    assertThat(written.toString().lines())
        .hasSize(2)
        .last()
        .asString()
        .contains("orders-0?faked-0");
  }

  @Test
  void aMessageIsMarkedOnEachLine() {
    StringWriter err = new StringWriter();
    int code =
        Main.run(
            out,
            new PrintWriter(err),
            "pool",
            "info",
            "/nowhere/\u001b[2Jx\nstrata: everything is fine");
    assertThat(code).isNotZero();
    assertThat(err.toString()).doesNotContain("\u001b");
    assertThat(err.toString().lines()).allMatch(line -> line.startsWith("strata: "));
  }
}
