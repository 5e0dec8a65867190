package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.server.log.remote.storage.RemoteStorageMetrics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The alerts and the dashboard name metrics that exist, and each alert has a runbook and a test. A
 * test on stock brokers runs their queries.
 */
class MonitoringExamplesTest {
  private static final Path EXAMPLES = MarkdownPage.root().resolve("examples");
  private static final String ALERTS = text("prometheus/alerts.yml");
  private static final String RUNBOOKS = "Alerts";

  @ParameterizedTest
  @ValueSource(
      strings = {"prometheus/alerts.yml", "prometheus/alerts-test.yml", "grafana/strata.json"})
  void metricsExist(String file) {
    Set<String> named = new TreeSet<>();
    DocumentedNames.find("strata_[a-z_]+", text(file)).forEach(match -> named.add(match.group()));

    assertThat(named).hasSizeGreaterThan(5).isSubsetOf(namesInPrometheus());
  }

  /** What the rules and the dashboard read of Kafka's, under the names that Kafka gives them. */
  @Test
  void kafkasMetricsAreExported() {
    Set<String> kafka =
        Stream.of(
                RemoteStorageMetrics.REMOTE_COPY_LAG_BYTES_METRIC,
                RemoteStorageMetrics.REMOTE_COPY_BYTES_PER_SEC_METRIC,
                RemoteStorageMetrics.FAILED_REMOTE_COPY_PER_SEC_METRIC)
            .map(metric -> metric.getMBeanName())
            .collect(Collectors.toSet());
    Set<String> exported = new TreeSet<>();
    DocumentedNames.find("- \"(kafka.server:[^\"]+),\\*\"", text("prometheus/jmx-exporter.yml"))
        .forEach(match -> exported.add(match.group(1)));
    Set<String> read = new TreeSet<>();
    for (String file : List.of("prometheus/alerts.yml", "grafana/strata.json")) {
      DocumentedNames.find("kafka_server_[a-z_]+", text(file))
          .forEach(match -> read.add(match.group().replaceFirst("_total$", "")));
    }

    assertThat(exported).isEqualTo(kafka);
    assertThat(read)
        .containsExactlyInAnyOrderElementsOf(
            kafka.stream()
                .map(name -> name.replace("type=", "").replace("name=", ""))
                .map(name -> name.replaceAll("[.:,]", "_").toLowerCase(Locale.ROOT))
                .toList());
  }

  @Test
  void eachAlertHasARunbook() throws IOException {
    MarkdownPage page = MarkdownPage.read(MarkdownPage.root().resolve("docs/operations.md"));
    assertThat(alerts()).hasSizeGreaterThan(8).containsExactlyElementsOf(sections(page));
    for (String alert : alerts()) {
      String runbook = "docs/operations.md#" + alert.toLowerCase(Locale.ROOT);
      assertThat(ALERTS).contains("runbook: " + runbook + "\n");
      assertThat(page.anchors()).contains(alert.toLowerCase(Locale.ROOT));
    }
    assertThat(DocumentedNames.find("runbook: ", ALERTS)).hasSameSizeAs(alerts());
  }

  /** The alerts as the page has them: a section for each, with some text, in the same order. */
  private static List<String> sections(MarkdownPage page) {
    List<String> sections = new ArrayList<>();
    boolean below = false;
    for (int i = 0; i < page.prose().size(); i++) {
      String line = page.prose().get(i);
      if (line.startsWith("## ")) {
        below = line.equals("## " + RUNBOOKS);
      } else if (below && line.startsWith("### ")) {
        assertThat(page.prose().subList(i + 1, i + 3)).as(line).anyMatch(l -> l.length() > 20);
        sections.add(line.substring(4));
      }
    }
    return sections;
  }

  @Test
  void eachAlertIsTestedFiring() {
    String tests = text("prometheus/alerts-test.yml");
    for (String alert : alerts()) {
      assertThat(
              DocumentedNames.find("alertname: %s\\n.*\\n *exp_alerts:\\n".formatted(alert), tests))
          .as(alert)
          .isNotEmpty();
    }
  }

  @Test
  void panelsAreApartAndAskTheChosenDataSource() throws IOException {
    JsonNode panels = new ObjectMapper().readTree(text("grafana/strata.json")).path("panels");
    Set<Integer> ids = new HashSet<>();
    Set<String> cells = new HashSet<>();
    for (JsonNode panel : panels) {
      assertThat(ids.add(panel.path("id").asInt())).as("%s", panel.path("title")).isTrue();
      JsonNode at = panel.path("gridPos");
      assertThat(at.path("x").asInt() + at.path("w").asInt()).isLessThanOrEqualTo(24);
      for (int x = 0; x < at.path("w").asInt(); x++) {
        for (int y = 0; y < at.path("h").asInt(); y++) {
          String cell = "%d,%d".formatted(at.path("x").asInt() + x, at.path("y").asInt() + y);
          assertThat(cells.add(cell)).as("%s overlaps", panel.path("title")).isTrue();
        }
      }
      for (JsonNode target : panel.path("targets")) {
        assertThat(target.path("datasource").path("uid").asText()).isEqualTo("${datasource}");
        assertThat(target.path("expr").asText()).contains("job=~\"$job\", instance=~\"$instance\"");
      }
    }
    assertThat(ids).hasSizeGreaterThan(20);
  }

  private static List<String> alerts() {
    return DocumentedNames.find("- alert: (\\w+)", ALERTS).map(match -> match.group(1)).toList();
  }

  /** What the reference page says of names, applied to all that it has. */
  private static Set<String> namesInPrometheus() {
    String page = DocumentedNames.text(MarkdownPage.root().resolve("docs/reference/metrics.md"));
    Set<String> names = new TreeSet<>();
    DocumentedNames.find(
            "\\| `io\\.strata\\.kafka:type=(\\w+),name=(\\w+)[^`]*` \\| (\\w+) \\|", page)
        .forEach(
            row -> {
              String type = "strata_" + row.group(1) + "_";
              Stream<String> own =
                  switch (row.group(3)) {
                    case "counter" ->
                        Stream.of(type + row.group(2).replaceFirst("Total$", "_total"));
                    case "distribution" ->
                        Stream.of(type + row.group(2), type + row.group(2) + "_count");
                    default -> Stream.of(type + row.group(2));
                  };
              own.forEach(name -> names.add(name.toLowerCase(Locale.ROOT)));
            });
    return names;
  }

  private static String text(String file) {
    return DocumentedNames.text(EXAMPLES.resolve(file));
  }
}
