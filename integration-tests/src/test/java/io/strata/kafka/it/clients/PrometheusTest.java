package io.strata.kafka.it.clients;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.FreePorts;
import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.Reading;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The alerts and the dashboard of the examples, on a Prometheus that scrapes a stock broker under
 * load: every metric of the reference page is there, every query returns data, and every alert can
 * be evaluated. These are skipped where there is no Prometheus.
 */
@Tag("long")
class PrometheusTest {
  @RegisterExtension static final Workspace WORK = new Workspace();

  private static final String TOPIC = "watched";
  private static final int PARTITIONS = 2;
  private static final Load.Shape SHAPE = new Load.Shape(100, 8_000, 12_000);
  private static final Path ROOT = Distribution.root();
  private static final Path EXAMPLES = ROOT.resolve("examples");

  /** A series that an expression reads, with its labels and without its range. */
  private static final Pattern SERIES = Pattern.compile("(?:strata|kafka_server)_\\w+(\\{[^}]*})?");

  /** A row of the reference page: type, name, tags and kind. */
  private static final Pattern METRIC =
      Pattern.compile("\\| `io\\.strata\\.kafka:type=(\\w+),name=(\\w+)[^`]*` \\| (\\w+) \\|");

  /** What shows a broker's metrics. */
  private enum Exporter {
    JMX_EXPORTER {
      @Override
      StockBroker broker(StockBroker.Builder builder, int port)
          throws IOException, InterruptedException {
        return builder
            .build()
            .ownJvmOptions(
                "-javaagent:%s=127.0.0.1:%d:%s"
                    .formatted(
                        jars().filter(Exporter::isAgent).findAny().orElseThrow(),
                        port,
                        EXAMPLES.resolve("prometheus/jmx-exporter.yml")));
      }
    },
    STRIMZI {
      @Override
      StockBroker broker(StockBroker.Builder builder, int port)
          throws IOException, InterruptedException {
        jars().filter(jar -> !isAgent(jar)).forEach(builder::library);
        return builder
            .set(
                "metric.reporters",
                String.join(
                    ",",
                    "org.apache.kafka.common.metrics.JmxReporter",
                    "io.strata.kafka.StrataReporter",
                    "io.strimzi.kafka.metrics.KafkaPrometheusMetricsReporter"))
            .set(
                "kafka.metrics.reporters",
                "io.strimzi.kafka.metrics.YammerPrometheusMetricsReporter")
            .set("prometheus.metrics.reporter.listener", "http://127.0.0.1:" + port)
            // As the page on operation has it: Kafka's thousands take a busy machine longer than a
            // scrape may take.
            .set(
                "prometheus.metrics.reporter.allowlist",
                "strata_.*,kafka_server_brokertopicmetrics_remotecopy.*")
            .build();
      }
    };

    /** The broker, which shows its metrics on the port once it runs. */
    abstract StockBroker broker(StockBroker.Builder builder, int port)
        throws IOException, InterruptedException;

    private static boolean isAgent(Path jar) {
      return jar.toString().contains("javaagent");
    }

    private static Stream<Path> jars() throws IOException {
      try (Stream<Path> files = Files.list(WORK.folder("exporters"))) {
        return files.toList().stream();
      }
    }
  }

  @BeforeAll
  static void exporters() throws IOException, InterruptedException {
    assertThat(
            Distribution.copyDependencies(
                ROOT.resolve("integration-tests/exporters/pom.xml"),
                WORK.folder("exporters"),
                "-DincludeScope=runtime"))
        .isEmpty();
  }

  private static void assumePrometheus() throws IOException, InterruptedException {
    assumeTrue(
        TestMount.isInstalled("prometheus") && TestMount.isInstalled("promtool"),
        "SKIPPED: alerts and dashboard on a real Prometheus: install the package prometheus");
  }

  /** Strimzi's reporter writes their paths as one, and would answer no scrape at all. */
  @ParameterizedTest
  @EnumSource
  void poolsWhosePathsAreAlikeAreBothShown(Exporter exporter)
      throws IOException, InterruptedException {
    Path folder = WORK.folder("alike-" + exporter.name().toLowerCase(Locale.ROOT));
    int port = FreePorts.find(1).get(0);
    StockBroker.Builder builder =
        Tiers.broker(
            folder, WORK.newPool(exporter + ".a", "8MiB"), WORK.newPool(exporter + "_a", "8MiB"));
    try (StockBroker broker = exporter.broker(builder, port).start()) {
      HttpRequest scrape =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics")).build();
      await()
          .ignoreExceptionsInstanceOf(IOException.class)
          .untilAsserted(
              () -> {
                HttpResponse<String> answer =
                    HttpClient.newHttpClient().send(scrape, HttpResponse.BodyHandlers.ofString());
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                assertThat(
                        answer
                            .body()
                            .lines()
                            .filter(line -> line.startsWith("strata_pool_freeslots{")))
                    .hasSize(2);
              });
      assertThat(broker.isRunning()).isTrue();
    }
  }

  @Test
  void theExamplesAreValidAndTheirTestsPass() throws IOException, InterruptedException {
    assumePrometheus();
    String folder = EXAMPLES.resolve("prometheus") + File.separator;
    assertThat(TestMount.run("promtool", "check", "config", folder + "prometheus.yml")).isEmpty();
    assertThat(TestMount.run("promtool", "test", "rules", folder + "alerts-test.yml")).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void everyQueryReturnsDataOfABrokerUnderLoad(Exporter exporter)
      throws IOException, InterruptedException {
    assumePrometheus();
    Path folder = WORK.folder(exporter.name().toLowerCase(Locale.ROOT));
    int port = FreePorts.find(1).get(0);
    TieredBrokers tier =
        TieredBrokers.over(WORK.folder("data-ssd-" + exporter), WORK.folder("data-hdd-" + exporter))
            .with(RemoteManager.STRATA);
    StockBroker.Builder builder =
        tier.withPools(folder.resolve("broker"), WORK.newPool("" + exporter, "24MiB"));
    try (StockBroker broker = exporter.broker(builder, port).start()) {
      RecordLedger watched = Tiers.topic(broker, TOPIC, PARTITIONS, TieredBrokers.topic());
      // It reads over and over: what is in the pool and what is not.
      try (Load load = Load.start(watched, broker.bootstrap(), SHAPE, 1, Map.of());
          Reading reading = Reading.start(watched, broker.bootstrap(), Reading.Start.BEGINNING);
          PrometheusServer prometheus =
              PrometheusServer.start(configuration(folder, port), folder.resolve("prometheus"))) {
        everyMetricIsThere(prometheus);
        everyPanelHasData(prometheus);
        everyAlertIsEvaluated(prometheus);
        assertThat(load.isRunning()).isTrue();
        assertThat(reading.records()).isPositive();
      }
    }
  }

  /** The example's, with this broker and the alerts as they are, and more often. */
  private static Path configuration(Path folder, int port) throws IOException {
    String example = Files.readString(EXAMPLES.resolve("prometheus/prometheus.yml"));
    assertThat(example).contains("localhost:9404", "15s", "- alerts.yml");
    Path file = folder.resolve("prometheus.yml");
    Files.writeString(
        file,
        example
            .replace("localhost:9404", "127.0.0.1:" + port)
            .replace("15s", "5s")
            .replace("alerts.yml", EXAMPLES.resolve("prometheus/alerts.yml").toString()));
    return file;
  }

  private static void everyMetricIsThere(PrometheusServer prometheus) throws IOException {
    Set<String> expected = new TreeSet<>();
    METRIC
        .matcher(Files.readString(ROOT.resolve("docs/reference/metrics.md")))
        .results()
        .forEach(row -> expected.addAll(names(row)));
    assertThat(expected).hasSizeGreaterThan(80);
    await()
        .ignoreExceptionsInstanceOf(IOException.class)
        .untilAsserted(
            () -> {
              Set<String> there = new TreeSet<>();
              prometheus.get("label/__name__/values").forEach(name -> there.add(name.asText()));
              assertThat(there).containsAll(expected);
            });
  }

  private static List<String> names(MatchResult row) {
    String name = "strata_%s_%s".formatted(row.group(1), row.group(2)).toLowerCase(Locale.ROOT);
    return switch (row.group(3)) {
      case "counter" -> List.of(name.replaceFirst("total$", "_total"));
      case "distribution" -> List.of(name, name + "_count");
      default -> List.of(name);
    };
  }

  private static void everyPanelHasData(PrometheusServer prometheus) throws IOException {
    JsonNode dashboard =
        new ObjectMapper().readTree(EXAMPLES.resolve("grafana/strata.json").toFile());
    Map<String, String> queries = new HashMap<>();
    for (JsonNode panel : dashboard.path("panels")) {
      for (JsonNode target : panel.path("targets")) {
        String expression =
            target
                .path("expr")
                .asText()
                .replace("$job", ".*")
                .replace("$instance", ".*")
                .replace("$__rate_interval", "1m");
        assertThat(expression).doesNotContain("$");
        queries.put(panel.path("title").asText() + ": " + expression, expression);
      }
    }
    assertThat(queries).hasSizeGreaterThan(40);
    awaitData(prometheus, queries);
  }

  private static void everyAlertIsEvaluated(PrometheusServer prometheus) throws IOException {
    Map<String, String> operands = new HashMap<>();
    await()
        .untilAsserted(
            () -> {
              JsonNode rules = prometheus.get("rules").path("groups").path(0).path("rules");
              assertThat(rules).hasSizeGreaterThan(8);
              for (JsonNode rule : rules) {
                assertThat(rule.path("health").asText()).as("%s", rule).isEqualTo("ok");
                SERIES
                    .matcher(rule.path("query").asText())
                    .results()
                    .forEach(s -> operands.put(rule.path("name").asText() + s.group(), s.group()));
              }
            });
    assertThat(operands).hasSizeGreaterThan(15);
    awaitData(prometheus, operands);
  }

  /** Waits until each of the queries, by names, returns a series. */
  private static void awaitData(PrometheusServer prometheus, Map<String, String> queries) {
    await()
        .untilAsserted(
            () -> {
              Set<String> empty = new TreeSet<>();
              for (Map.Entry<String, String> query : queries.entrySet()) {
                if (prometheus.query(query.getValue()).isEmpty()) {
                  empty.add(query.getKey());
                }
              }
              assertThat(empty).as("queries without data").isEmpty();
            });
  }
}
