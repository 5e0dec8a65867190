package io.strata.kafka.cli;

import io.strata.kafka.memory.Printable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A table for people: columns as wide as their widest cell, two spaces apart, numbers to the right.
 *
 * <p>Not thread-safe.
 */
final class Table {

  /** How a column's cells are aligned. */
  enum Align {
    LEFT,
    RIGHT
  }

  private final List<String> headings = new ArrayList<>();
  private final List<Align> alignments = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>();

  Table column(String heading, Align align) {
    headings.add(heading);
    alignments.add(align);
    return this;
  }

  void row(String... cells) {
    if (cells.length != headings.size()) {
      throw new IllegalArgumentException(cells.length + " cells for " + headings.size());
    }
    rows.add(Arrays.stream(cells).map(Printable::of).toList());
  }

  void print(PrintWriter out) {
    List<Integer> widths = new ArrayList<>();
    for (int c = 0; c < headings.size(); c++) {
      int width = headings.get(c).length();
      for (List<String> row : rows) {
        width = Math.max(width, row.get(c).length());
      }
      widths.add(width);
    }
    out.println(line(headings, widths));
    for (List<String> row : rows) {
      out.println(line(row, widths));
    }
  }

  private String line(List<String> cells, List<Integer> widths) {
    StringBuilder line = new StringBuilder();
    for (int c = 0; c < cells.size(); c++) {
      String padding = " ".repeat(widths.get(c) - cells.get(c).length());
      line.append(c == 0 ? "" : "  ");
      line.append(alignments.get(c) == Align.RIGHT ? padding : "");
      line.append(cells.get(c));
      line.append(alignments.get(c) == Align.LEFT ? padding : "");
    }
    return line.toString().stripTrailing();
  }
}
