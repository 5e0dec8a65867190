package io.strata.kafka.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of the documentation, taken apart: fenced blocks, and the lines outside of them.
 *
 * @param file the page
 * @param blocks its fenced blocks
 * @param prose the lines outside of blocks, empty ones in the blocks' place, so that an index plus
 *     one is the line's number
 */
public record MarkdownPage(Path file, List<Block> blocks, List<String> prose) {
  private static final String FENCE = "```";
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern LINK = Pattern.compile("\\[[^\\]]*]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("#{1,6} +(.*)");

  /**
   * A fenced block.
   *
   * @param page the name of its page
   * @param line the number of its first line
   * @param language what stands behind the fence; may be empty
   * @param lines its text
   */
  public record Block(String page, int line, String language, List<String> lines) {
    @Override
    public String toString() {
      return "%s:%d".formatted(page, line);
    }
  }

  /** A link's target, with the number of its line. */
  record Link(int line, String target) {}

  /** Text between backquotes, with the number of its line. */
  record Code(int line, String text) {}

  /** The pages that users read, save the generated ones and the changelog. */
  static List<MarkdownPage> forUsers() {
    List<MarkdownPage> pages = new ArrayList<>(List.of(read(root().resolve("README.md"))));
    pages.addAll(below("docs", 1));
    pages.addAll(below("examples", 3));
    pages.removeIf(page -> page.file().endsWith("changelog.md"));
    return pages;
  }

  /** All pages. */
  static List<MarkdownPage> all() {
    List<MarkdownPage> pages = new ArrayList<>(List.of(read(root().resolve("README.md"))));
    pages.addAll(below("docs", 3));
    pages.addAll(below("examples", 3));
    return pages;
  }

  private static List<MarkdownPage> below(String folder, int depth) {
    try (Stream<Path> files = Files.walk(root().resolve(folder), depth)) {
      return files
          .filter(file -> file.toString().endsWith(".md") && !file.toString().contains("/target/"))
          .sorted()
          .map(MarkdownPage::read)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads a page. */
  public static MarkdownPage read(Path file) {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    String name = root().relativize(file).toString();
    List<Block> blocks = new ArrayList<>();
    List<String> prose = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (!line.strip().startsWith(FENCE)) {
        prose.add(line);
        continue;
      }
      int indent = line.indexOf(FENCE);
      Block block =
          new Block(name, i + 2, line.strip().substring(FENCE.length()), new ArrayList<>());
      prose.add("");
      for (i++; i < lines.size() && !lines.get(i).strip().equals(FENCE); i++) {
        String inside = lines.get(i);
        block.lines().add(inside.substring(Math.min(indent, inside.length())));
        prose.add("");
      }
      prose.add("");
      blocks.add(block);
    }
    return new MarkdownPage(file, blocks, prose);
  }

  /** The project's directory. */
  public static Path root() {
    Path directory = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(directory.resolve("plugin-api"))) {
      directory = directory.getParent();
      if (directory == null) {
        throw new IllegalStateException("not below the project's directory");
      }
    }
    return directory;
  }

  List<Link> links() {
    List<Link> links = new ArrayList<>();
    for (int i = 0; i < prose.size(); i++) {
      int number = i + 1;
      LINK.matcher(CODE.matcher(prose.get(i)).replaceAll("code"))
          .results()
          .forEach(match -> links.add(new Link(number, match.group(1))));
    }
    return links;
  }

  /** What stands between backquotes, outside of blocks. */
  List<Code> code() {
    List<Code> code = new ArrayList<>();
    for (int i = 0; i < prose.size(); i++) {
      int number = i + 1;
      CODE.matcher(prose.get(i))
          .results()
          .map(MatchResult::group)
          .forEach(text -> code.add(new Code(number, text.substring(1, text.length() - 1))));
    }
    return code;
  }

  /** The anchors of its headings, as GitHub makes them. */
  Set<String> anchors() {
    Set<String> anchors = new TreeSet<>();
    Map<String, Integer> seen = new HashMap<>();
    for (String line : prose) {
      var heading = HEADING.matcher(line);
      if (heading.matches()) {
        String text =
            heading
                .group(1)
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1");
        String anchor = text.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
        int times = seen.merge(anchor, 1, Integer::sum);
        anchors.add(times == 1 ? anchor : anchor + "-" + (times - 1));
      }
    }
    return anchors;
  }

  /** The rows of the tables below the heading, without their head; a cell's text is stripped. */
  public List<List<String>> rowsBelow(String heading) {
    List<List<String>> rows = new ArrayList<>();
    boolean below = false;
    for (int i = 0; i < prose.size(); i++) {
      String line = prose.get(i);
      if (HEADING.matcher(line).matches()) {
        below = line.endsWith("# " + heading) || line.endsWith("## " + heading);
      }
      boolean head = i + 1 < prose.size() && prose.get(i + 1).startsWith("|---");
      if (below && line.startsWith("|") && !line.startsWith("|---") && !head) {
        rows.add(cells(line));
      }
    }
    return rows;
  }

  /** The cells of a table's row. */
  static List<String> cells(String row) {
    String inner = row.strip().replaceFirst("^\\|", "").replaceFirst("\\|$", "");
    return Stream.of(inner.split("(?<!\\\\)\\|", -1)).map(String::strip).toList();
  }

  @Override
  public String toString() {
    return root().relativize(file).toString();
  }
}
