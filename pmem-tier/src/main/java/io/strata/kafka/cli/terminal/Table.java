package io.strata.kafka.cli.terminal;

import io.strata.kafka.memory.calls.Printable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** A table for people: columns as wide as their widest cell, two spaces apart. */
public final class Table {
  private static final String RIGHT = ">";

  private final List<String> columns;
  private final List<List<String>> rows = new ArrayList<>();

  /** A table without rows; numbers, whose headings begin with {@code >}, are to the right. */
  public Table(String... columns) {
    this.columns = List.of(columns);
    rows.add(this.columns.stream().map(column -> column.replaceFirst("^" + RIGHT, "")).toList());
  }

  /** Adds a row, which has one cell for each column. */
  public void row(Object... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(cells.length + " cells for " + columns.size());
    }
    rows.add(Stream.of(cells).map(cell -> Printable.of(cell.toString())).toList());
  }

  public void print(PrintWriter out) {
    int[] widths = new int[columns.size()];
    rows.forEach(row -> Arrays.setAll(widths, c -> Math.max(widths[c], row.get(c).length())));
    rows.forEach(row -> out.println(line(row, widths)));
  }

  private String line(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int c = 0; c < widths.length; c++) {
      String padding = " ".repeat(widths[c] - cells.get(c).length());
      boolean right = columns.get(c).startsWith(RIGHT);
      line.append(c == 0 ? "" : "  ")
          .append(right ? padding + cells.get(c) : cells.get(c) + padding);
    }
    return line.toString().stripTrailing();
  }
}
