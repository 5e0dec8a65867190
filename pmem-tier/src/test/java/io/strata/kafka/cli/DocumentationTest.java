package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds of the README and of all pages: links, tables, and the names that they use. */
class DocumentationTest {

  /** Where a name in one piece that is no class is a metric. */
  private static final Set<String> OPERATORS =
      Set.of(
          "README.md",
          "docs/install.md",
          "docs/configuration.md",
          "docs/migration.md",
          "docs/operations.md",
          "docs/remote.md");

  /** Classes and terms of Kafka's and of the JDK that look as a metric does. */
  private static final Set<String> FOREIGN =
      Set.of(
          "JmxReporter",
          "LocalTieredStorage",
          "RemoteLogManager",
          "ProducerPerformance",
          "ConsumerPerformance",
          "ClassNotFoundException",
          "OutOfMemoryError",
          "MappedByteBuffer",
          "FileChannel",
          "IllegalArgumentException",
          "InternalError",
          "RemoteStorageManager",
          "FileRecords",
          "LogSegment",
          "ObjectInputStream",
          "RandomAccessFile",
          "MaxDirectMemorySize",
          "BrokerTopicMetrics",
          "ExceptionInInitializerError",
          "RemoteCopyBytesPerSec",
          "RemoteCopyErrorsPerSec",
          "RemoteCopyLagBytes",
          "RemoteCopyLagSegments",
          "RemoteCopyRequestsPerSec",
          "LogDirectoryOffline",
          "UnderReplicatedPartitions");

  static Stream<MarkdownPage> pages() {
    return MarkdownPage.all().stream();
  }

  /** Pages that speak of the present; the changelog and the decisions name what is gone too. */
  static Stream<MarkdownPage> ofThePresent() {
    return pages().filter(page -> !page.toString().matches(".*(changelog|adr/\\d+.*)\\.md"));
  }

  static Stream<MarkdownPage> forUsers() {
    return MarkdownPage.forUsers().stream();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void linksLeadSomewhere(MarkdownPage page) {
    List<String> broken = new ArrayList<>();
    for (MarkdownPage.Link link : page.links()) {
      if (link.target().matches("https?:.*")) {
        continue;
      }
      String[] parts = link.target().split("#", 2);
      Path file =
          parts[0].isEmpty() ? page.file() : page.file().resolveSibling(parts[0]).normalize();
      boolean good =
          Files.exists(file)
              && (parts.length == 1 || MarkdownPage.read(file).anchors().contains(parts[1]));
      if (!good) {
        broken.add("%s:%d: %s".formatted(page, link.line(), link.target()));
      }
    }
    assertThat(broken).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void tablesAreWhole(MarkdownPage page) {
    List<String> broken = new ArrayList<>();
    List<String> prose = page.prose();
    for (int i = 0; i < prose.size(); i++) {
      if (!prose.get(i).startsWith("|")) {
        continue;
      }
      boolean first = i == 0 || !prose.get(i - 1).startsWith("|");
      if (first && !(i + 1 < prose.size() && prose.get(i + 1).startsWith("|---"))) {
        broken.add("%s:%d: a row without a head".formatted(page, i + 1));
      }
      if (!first && MarkdownPage.cells(prose.get(i)).size() != columns(prose, i)) {
        broken.add("%s:%d: another number of cells than the head's".formatted(page, i + 1));
      }
    }
    assertThat(broken).isEmpty();
  }

  private static int columns(List<String> prose, int row) {
    int head = row;
    while (head > 0 && prose.get(head - 1).startsWith("|")) {
      head--;
    }
    return MarkdownPage.cells(prose.get(head)).size();
  }

  @ParameterizedTest
  @MethodSource("ofThePresent")
  void keysExist(MarkdownPage page) {
    List<String> unknown = new ArrayList<>();
    for (MarkdownPage.Code code : page.code()) {
      DocumentedNames.find(
              "(?<![A-Za-z0-9_./-])(strata|rsm\\.config)\\.[a-z][A-Za-z0-9_.<>-]*(\\*|…|\\.\\.\\.)?",
              code.text())
          .map(MatchResult::group)
          .filter(name -> !isKeyOrProperty(name))
          .forEach(name -> unknown.add("%s:%d: %s".formatted(page, code.line(), name)));
      boolean suffix = code.text().matches("\\.[a-z]+(\\.[a-z]+)+");
      if (suffix
          && OPERATORS.contains(page.toString())
          && !DocumentedNames.keys().hasOneThatEnds(code.text())) {
        unknown.add("%s:%d: %s".formatted(page, code.line(), code.text()));
      }
    }
    assertThat(unknown).isEmpty();
  }

  private static boolean isKeyOrProperty(String name) {
    String text = name.replaceFirst("(\\*|…|\\.\\.\\.)$", "");
    if (!text.equals(name) || text.endsWith(".")) {
      return DocumentedNames.keys().hasOneThatBegins(text);
    }
    return DocumentedNames.keys().has(text)
        || SystemProperties.SOURCES.contains("\"" + text + "\"")
        || SystemProperties.SOURCES.contains("-D" + text + "=");
  }

  /** Texts in which a system property, of the product or of a test, has its name. */
  private static final class SystemProperties {
    static final String SOURCES =
        Stream.concat(
                DocumentedNames.sources(),
                Stream.of("pom.xml", "pmem-tier/pom.xml", "integration-tests/pom.xml")
                    .map(MarkdownPage.root()::resolve))
            .map(DocumentedNames::text)
            .collect(Collectors.joining("\n"));
  }

  @ParameterizedTest
  @MethodSource("ofThePresent")
  void metricsExist(MarkdownPage page) {
    List<String> unknown = new ArrayList<>();
    for (MarkdownPage.Code code : page.code()) {
      DocumentedNames.find("([A-Za-z]+),name=([A-Za-z0-9]+)", code.text())
          .map(match -> match.group(1) + "," + match.group(2))
          .filter(name -> !name.startsWith("Xyz"))
          .filter(name -> !DocumentedNames.metrics().contains(name))
          .forEach(name -> unknown.add("%s:%d: %s".formatted(page, code.line(), name)));
      boolean camel = code.text().matches("[A-Z][a-z0-9]+([A-Z]+[a-z0-9]*)+");
      if (camel
          && OPERATORS.contains(page.toString())
          && !DocumentedNames.metrics().contains(code.text())
          && !DocumentedNames.classNames().contains(code.text())
          && !FOREIGN.contains(code.text())) {
        unknown.add("%s:%d: %s".formatted(page, code.line(), code.text()));
      }
    }
    assertThat(unknown).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("ofThePresent")
  void classesExist(MarkdownPage page) {
    List<String> text = new ArrayList<>(page.prose());
    page.blocks().forEach(block -> text.addAll(block.lines()));
    assertThat(
            text.stream()
                .flatMap(
                    line ->
                        DocumentedNames.find("io\\.strata\\.kafka(\\.[a-z]+)*\\.[A-Z]\\w+", line))
                .map(MatchResult::group)
                .map(name -> name.replaceFirst(".*\\.", "")))
        .allMatch(DocumentedNames.classNames()::contains, "a class of the tree");
  }

  @ParameterizedTest
  @MethodSource("forUsers")
  void versionsOfKafkaAreExact(MarkdownPage page) {
    List<String> vague = new ArrayList<>();
    for (int i = 0; i < page.prose().size(); i++) {
      String line = page.prose().get(i);
      int number = i + 1;
      DocumentedNames.find("(?<![\\w.])(3\\.9|4\\.[0-9x])(?!\\.?[\\w])", line)
          .filter(
              match -> !line.substring(match.end()).matches("^ ?(\\||%|GB|s\\b|times\\b|MiB|µs).*"))
          .filter(match -> line.contains("Kafka"))
          .forEach(match -> vague.add("%s:%d: %s".formatted(page, number, match.group())));
    }
    assertThat(vague).isEmpty();
  }

  @Test
  void theTestedVersionsOfKafkaAreNamed() {
    String tests = "integration-tests/src/test/java/io/strata/kafka/it/harness/KafkaVersion.java";
    String text = DocumentedNames.text(MarkdownPage.root().resolve(tests));
    List<String> tested =
        Stream.concat(
                DocumentedNames.find("V[0-9_]+\\(\"([0-9.]+)\"\\)", text),
                DocumentedNames.find(
                    "<kafka\\.version>([0-9.]+)<",
                    DocumentedNames.text(MarkdownPage.root().resolve("pom.xml"))))
            .map(match -> match.group(1))
            .toList();
    assertThat(tested).hasSize(6);
    for (String page : List.of("README.md", "docs/install.md")) {
      List<String> named =
          tested.stream()
              .filter(DocumentedNames.text(MarkdownPage.root().resolve(page))::contains)
              .toList();
      assertThat(named).as(page).isEqualTo(tested);
    }
  }

  /** Lines of the log are quoted as they are; see {@link RefusalListTest} for refusals. */
  @Test
  void linesOfTheLogAreThoseOfTheCode() {
    String sources = DocumentedNames.messages("src/main");
    MarkdownPage page = MarkdownPage.read(MarkdownPage.root().resolve("docs/operations.md"));
    assertThat(page.rowsBelow("In the broker's log"))
        .hasSizeGreaterThan(5)
        .flatMap(row -> DocumentedNames.quotations(row.get(0)).flatMap(List::stream).toList())
        .allMatch(sources::contains, "a text of the code");
  }
}
