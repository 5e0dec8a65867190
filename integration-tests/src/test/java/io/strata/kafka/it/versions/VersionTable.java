package io.strata.kafka.it.versions;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Makes the table of the tested versions of Kafka from the reports of the runs, for {@code
 * verify.sh --part versions}, which keeps those of each version in a folder with its name. Needs
 * nothing but the JDK: {@code java VersionTable.java REPORTS PAGE} prints the table, and {@code
 * --write} puts it into the page, in place of the one that is there.
 */
final class VersionTable {

  /** What every version has. */
  private static final String CORE = "KafkaVersionsTest";

  private static final String HEAD = "| Kafka | the tests on stock brokers that are not long |";

  private static final Pattern TABLE =
      Pattern.compile(Pattern.quote(HEAD) + ".*\n(?:\\|.*\n)+", Pattern.MULTILINE);

  private VersionTable() {}

  /** The outcomes of some tests. */
  private record Outcome(int passed, int skipped, int failed) {

    static final Outcome NONE = new Outcome(0, 0, 0);

    Outcome and(Element test) {
      boolean wrong = has(test, "failure") || has(test, "error");
      boolean left = has(test, "skipped");
      return new Outcome(
          passed + (wrong || left ? 0 : 1), skipped + (left ? 1 : 0), failed + (wrong ? 1 : 0));
    }

    private static boolean has(Element test, String outcome) {
      return test.getElementsByTagName(outcome).getLength() > 0;
    }

    String text() {
      if (equals(NONE)) {
        return "not run";
      }
      List<String> parts = new ArrayList<>(List.of(passed + " passed"));
      if (skipped > 0) {
        parts.add(skipped + " skipped");
      }
      if (failed > 0) {
        parts.add("**" + failed + " failed**");
      }
      return String.join(", ", parts);
    }
  }

  /** Arguments: the folder of the versions' folders, the page, and perhaps {@code --write}. */
  @SuppressWarnings("SystemOut") // a program's output
  public static void main(String[] arguments) throws Exception {
    String table = table(Path.of(arguments[0]));
    System.out.print(table);
    if (List.of(arguments).contains("--write")) {
      Path page = Path.of(arguments[1]);
      Matcher present = TABLE.matcher(Files.readString(page));
      if (!present.find()) {
        throw new IllegalStateException(page + " has no table that begins with " + HEAD);
      }
      Files.writeString(page, present.replaceFirst(Matcher.quoteReplacement(table)));
    }
  }

  private static String table(Path reports) throws Exception {
    StringBuilder table = new StringBuilder(HEAD + " the core: remote tier, pool, `kill -9` |\n");
    table.append("|---|---|---|\n");
    for (Path version : sorted(reports)) {
      Outcome core = Outcome.NONE;
      Outcome others = Outcome.NONE;
      for (Path report : sorted(version)) {
        NodeList tests = parse(report).getElementsByTagName("testcase");
        for (int i = 0; i < tests.getLength(); i++) {
          Element test = (Element) tests.item(i);
          if (test.getAttribute("classname").endsWith("." + CORE)) {
            core = core.and(test);
          } else {
            others = others.and(test);
          }
        }
      }
      table.append(
          "| %s | %s | %s |\n".formatted(version.getFileName(), others.text(), core.text()));
    }
    return table.toString();
  }

  private static Document parse(Path report)
      throws IOException, ParserConfigurationException, SAXException {
    return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(report.toFile());
  }

  private static List<Path> sorted(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted(Comparator.comparing(Path::getFileName)).toList();
    }
  }
}
