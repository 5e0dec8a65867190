package io.strata.kafka.bench.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AgentLinesTest {

  static Stream<AgentOrder> orders() {
    return Stream.of(
        new AgentOrder.Ask(7),
        new AgentOrder.Prepare(
            JsonNodeFactory.instance.objectNode().put("name", "x"),
            "load",
            1,
            Map.of("t", List.of("a", "b")),
            -12),
        new AgentOrder.Start(1_700_000_000_000_000L),
        new AgentOrder.Stop("group"),
        new AgentOrder.ProducersEnded(),
        new AgentOrder.End());
  }

  static Stream<AgentReport> reports() {
    return Stream.of(
        new AgentReport.Answer(7, "1", HostInfo.here(), 5),
        new AgentReport.Prepared(),
        new AgentReport.Interval(3, 1.5, 2.5, Map.of("g", new AgentReport.Work(1, 2, 3, "text"))),
        new AgentReport.GroupEnded("g", 2.25),
        new AgentReport.Failed("two\nlines"),
        new AgentReport.Finished(),
        new AgentReport.Ended());
  }

  @ParameterizedTest
  @MethodSource("orders")
  void everyOrderIsALine(AgentOrder order) throws Exception {
    assertThat(AgentLines.order(line(order))).isEqualTo(order);
  }

  @ParameterizedTest
  @MethodSource("reports")
  void everyReportIsALine(AgentReport report) throws Exception {
    assertThat(AgentLines.report(line(report))).isEqualTo(report);
  }

  private static String line(Object message) {
    assertThat(AgentLines.line(message)).doesNotContain("\n");
    return AgentLines.line(message);
  }

  @Test
  void histogramsAreText() {
    Histogram histogram = new Histogram(3_600_000_000L, 3);
    histogram.recordValue(17);
    histogram.recordValueWithCount(1_000_000, 40);

    assertThat(Histograms.decode(Histograms.encode(histogram))).isEqualTo(histogram);
  }

  /** The other end of a connection: it answers, reports what fails, and ends with its input. */
  @Test
  void anAgentAnswersAndReportsFailures() throws Exception {
    String orders =
        AgentLines.line(new AgentOrder.Ask(5))
            + "\n"
            + AgentLines.line(new AgentOrder.Start(1))
            + "\n";
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    AgentMain.run(new ByteArrayInputStream(orders.getBytes(StandardCharsets.UTF_8)), out);

    List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
    assertThat(lines).hasSize(2);
    assertThat(AgentLines.report(lines.get(0)))
        .isInstanceOfSatisfying(
            AgentReport.Answer.class,
            answer -> {
              assertThat(answer.number()).isEqualTo(5);
              assertThat(answer.version()).isEqualTo(ToolVersion.text());
              assertThat(answer.host().cores()).isPositive();
            });
    assertThat(AgentLines.report(lines.get(1))).isInstanceOf(AgentReport.Failed.class);
  }
}
