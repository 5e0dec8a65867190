package io.strata.kafka.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds the diagrams in the layout classes against their constants. */
class LayoutDiagramTest {
  /** Columns that a byte takes in a diagram; its first cell begins behind the first bar. */
  private static final int COLUMNS = 8;

  private static final Pattern ROW = Pattern.compile(" \\* +(\\d+) (\\|.*\\|)");
  private static final Pattern END = Pattern.compile(" \\* +(\\d+)");

  private record Cell(String name, int offset) {}

  private record Diagram(List<Cell> cells, int end) {}

  @ParameterizedTest
  @ValueSource(
      classes = {SuperblockLayout.class, SlotLayout.class, SessionLayout.class, MomentLayout.class})
  void everyFieldIsWhereTheDiagramSays(Class<?> layout) throws IOException, IllegalAccessException {
    Diagram diagram = parse(layout);
    Map<String, Integer> drawn = new TreeMap<>();
    for (Cell cell : diagram.cells()) {
      drawn.put(constant(cell.name()), cell.offset());
    }
    assertThat(drawn).isEqualTo(offsets(layout));
  }

  @ParameterizedTest
  @ValueSource(
      classes = {SuperblockLayout.class, SlotLayout.class, SessionLayout.class, MomentLayout.class})
  void fieldsFillTheDiagramWithoutGaps(Class<?> layout) throws IOException, IllegalAccessException {
    Diagram diagram = parse(layout);
    Map<String, Integer> constants = constants(layout);
    for (int i = 0; i < diagram.cells().size(); i++) {
      Cell cell = diagram.cells().get(i);
      boolean last = i + 1 == diagram.cells().size();
      int next = last ? diagram.end() : diagram.cells().get(i + 1).offset();
      Integer length = constants.get(constant(cell.name()).replaceFirst("_OFFSET$", "_LENGTH"));
      int drawn = next - cell.offset();
      if (length == null) {
        assertThat(drawn).as("%s, a field of one word or half of one", cell).isIn(4, 8);
      } else {
        assertThat(drawn).as("%s", cell).isEqualTo(length);
      }
      assertThat(documentedLength(layout, constant(cell.name())))
          .as("%s, as its comment says", cell)
          .isEqualTo(drawn);
    }
  }

  @ParameterizedTest
  @ValueSource(
      classes = {SuperblockLayout.class, SlotLayout.class, SessionLayout.class, MomentLayout.class})
  void theDiagramEndsWhereTheLayoutDoes(Class<?> layout)
      throws IOException, IllegalAccessException {
    Map<String, Integer> constants = constants(layout);
    String length =
        layout == SuperblockLayout.class
            ? "HEADER_LENGTH"
            : layout == SlotLayout.class ? "SLOT_LENGTH" : "LENGTH";
    assertThat(parse(layout).end()).isEqualTo(constants.get(length));
  }

  private static Diagram parse(Class<?> layout) throws IOException {
    List<Cell> cells = new ArrayList<>();
    for (String line : Files.readAllLines(source(layout))) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        int offset = Integer.parseInt(row.group(1));
        String bars = row.group(2);
        for (int bar = 0; bar < bars.length() - 1; bar = bars.indexOf('|', bar + 1)) {
          assertThat(bar % COLUMNS).as("column of a bar in: %s", line).isZero();
          String name = bars.substring(bar + 1, bars.indexOf('|', bar + 1)).trim();
          cells.add(new Cell(name, offset + bar / COLUMNS));
        }
      }
      Matcher end = END.matcher(line);
      if (end.matches() && !cells.isEmpty()) {
        return new Diagram(cells, Integer.parseInt(end.group(1)));
      }
    }
    throw new AssertionError("no diagram with an end in " + layout);
  }

  /** What the comment of a field says of its length: {@code 8 bytes: …} or {@code n words of 8}. */
  private static int documentedLength(Class<?> layout, String constant) throws IOException {
    String source = Files.readString(source(layout));
    Matcher comment =
        Pattern.compile(
                "/\\*\\* (\\d+) (bytes|words of 8 bytes):[^/]*\\*/\\s+public static final int "
                    + constant
                    + " =")
            .matcher(source);
    assertThat(comment.find()).as("a comment with the length of %s", constant).isTrue();
    int count = Integer.parseInt(comment.group(1));
    return comment.group(2).startsWith("words") ? 8 * count : count;
  }

  private static Path source(Class<?> layout) {
    return Path.of("src/main/java", layout.getName().replace('.', '/') + ".java");
  }

  private static String constant(String name) {
    return name.toUpperCase(Locale.ROOT).replace(' ', '_') + "_OFFSET";
  }

  private static Map<String, Integer> offsets(Class<?> layout) throws IllegalAccessException {
    Map<String, Integer> offsets = constants(layout);
    offsets.keySet().removeIf(name -> !name.endsWith("_OFFSET"));
    return offsets;
  }

  private static Map<String, Integer> constants(Class<?> layout) throws IllegalAccessException {
    Map<String, Integer> constants = new TreeMap<>();
    for (Field field : layout.getDeclaredFields()) {
      if (field.getType() == int.class && !field.isSynthetic()) {
        constants.put(field.getName(), field.getInt(layout));
      }
    }
    return constants;
  }
}
