package io.strata.kafka.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.strata.kafka.bench.result.GroupFigures;
import io.strata.kafka.bench.result.PhaseResult;
import io.strata.kafka.bench.result.RunResult;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class ReportPageTest {

  private static RunResult result(String label, long bytes) {
    GroupFigures group = new GroupFigures("main", "producers", 1, 0, 0);
    Histogram latencies = new Histogram(3);
    for (int i = 1; i <= 1000; i++) {
      latencies.recordValue(i * 1000L);
    }
    group.add(0, 1, 1000, bytes, 0, latencies);
    group.add(1, 2, 0, 0, 0, new Histogram(3));
    group.ended(1);
    return new RunResult(
        RunResult.FORMAT,
        "test",
        label,
        "a-scenario",
        JsonNodeFactory.instance.objectNode().put("source", "</script><script>alert(1)"),
        "2026-01-01T00:00:00Z",
        Map.of(),
        List.of(),
        List.of(
            new PhaseResult(
                "load",
                0,
                List.of(group.result()),
                Map.of(),
                List.of(
                    new PhaseResult.TierPoint(0, Map.of("hot, dirty", 1_000_000L)),
                    new PhaseResult.TierPoint(1, Map.of("hot, dirty", 3_000_000L))))),
        "",
        List.of());
  }

  private static JsonNode data(String html) throws IOException {
    Matcher data =
        Pattern.compile(
                "<script id=\"data\" type=\"application/json\">(.*?)</script>", Pattern.DOTALL)
            .matcher(html);
    assertThat(data.find()).isTrue();
    return new ObjectMapper().readTree(data.group(1));
  }

  /** People send it: nothing of it is elsewhere. */
  @Test
  void thePageHasAllThatItNeeds() throws IOException {
    String html = ReportPage.html(List.of(result("stock", 5_000_000)));

    assertThat(html)
        .doesNotContain("{{")
        .contains("Permission is hereby granted, free of charge", "var uPlot=", ".uplot")
        .doesNotContainPattern("(src|href)=[\"']?http");
    assertThat(html.split("<script", -1)).hasSize(4);
  }

  @Test
  void oneResultHasItsPercentilesOverTime() throws IOException {
    JsonNode charts = data(ReportPage.html(List.of(result("stock", 5_000_000)))).path("charts");

    JsonNode load = charts.path("load");
    assertThat(load).hasSize(4);
    assertThat(load.path(0).path("title").asText()).isEqualTo("Throughput, MB/s");
    assertThat(load.path(0).path("lines").path(0).path("points").toString())
        .isEqualTo("[[1.0,5.0],[2.0,0.0]]");
    assertThat(load.path(1).path("lines")).hasSize(4);
    // Nothing was sent in the second interval.
    assertThat(load.path(1).path("lines").path(1).path("points")).hasSize(1);
    JsonNode quantiles = load.path(2);
    assertThat(quantiles.path("kind").asText()).isEqualTo("quantile");
    JsonNode curve = quantiles.path("lines").path(0).path("points");
    assertThat(curve.path(0).path(0).asDouble()).isZero();
    assertThat(curve.path(curve.size() - 1).path(0).asDouble()).isEqualTo(5);
    assertThat(curve.path(curve.size() - 1).path(1).asDouble()).isBetween(1000.0, 1001.0);
    assertThat(load.path(3).path("stacked").asBoolean()).isTrue();
    assertThat(load.path(3).path("lines").path(0).path("points").toString())
        .isEqualTo("[[0.0,1.0],[1.0,3.0]]");
  }

  /** A phase without clients has figures alone. */
  @Test
  void aStartHasFiguresAndNoCharts() throws IOException {
    RunResult loaded = result("stock", 5_000_000);
    PhaseResult kill =
        new PhaseResult("kill", 0, List.of(), Map.of("start-seconds", 4.5), List.of());
    JsonNode data =
        data(
            ReportPage.html(
                List.of(
                    new RunResult(
                        loaded.format(),
                        loaded.tool(),
                        loaded.label(),
                        loaded.name(),
                        loaded.scenario(),
                        loaded.started(),
                        loaded.cluster(),
                        loaded.hosts(),
                        List.of(loaded.phases().get(0), kill),
                        "",
                        List.of()))));

    assertThat(data.path("charts").fieldNames()).toIterable().containsExactly("load");
    assertThat(data.at("/results/0/phases/1/brokers/start-seconds").asDouble()).isEqualTo(4.5);
  }

  @Test
  void severalAreSideBySide() throws IOException {
    JsonNode data =
        data(
            ReportPage.html(
                List.of(
                    result("stock", 5_000_000),
                    result("stock", 7_000_000),
                    result("stock", 6_000_000),
                    result("strata", 9_000_000))));

    JsonNode throughput = data.path("charts").path("load").path(0).path("lines");
    assertThat(throughput).hasSize(2);
    assertThat(throughput.path(0).path("label").asText()).isEqualTo("stock: main (in)");
    // The one in the middle.
    assertThat(throughput.path(0).path("points").path(0).path(1).asDouble()).isEqualTo(6);
    assertThat(data.path("comparison").path("labels").toString())
        .isEqualTo("[\"stock\",\"strata\"]");
    assertThat(
            data.path("results")
                .path(0)
                .path("phases")
                .path(0)
                .path("groups")
                .path(0)
                .path("series"))
        .isEmpty();
  }
}
