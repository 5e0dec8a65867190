package io.strata.kafka.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.strata.kafka.bench.agent.HostInfo;
import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultFilesTest {
  @TempDir private Path folder;

  /** A result with one group, of this throughput. */
  static RunResult result(String label, double megabytesPerSecond) {
    GroupFigures group = new GroupFigures("main", "producers", 2, 0, 0);
    Histogram latencies = new Histogram(3);
    latencies.recordValueWithCount(2_000, 1000);
    group.add(0, 1, 1000, Math.round(megabytesPerSecond * 1e6), 0, latencies);
    group.ended(1);
    return new RunResult(
        RunResult.FORMAT,
        "test",
        label,
        "scenario",
        JsonNodeFactory.instance.objectNode().put("name", "scenario"),
        "2026-01-01T00:00:00Z",
        Map.of("brokers", "1"),
        List.of(HostInfo.here()),
        List.of(
            new PhaseResult(
                "load",
                0,
                List.of(group.result()),
                Map.of("processor-seconds-per-gb-in", 2.5, "start-seconds", 4.5),
                List.of(new PhaseResult.TierPoint(0.5, Map.of("hot, dirty", 7L))))),
        "",
        List.of());
  }

  @Test
  void jsonIsReadAsItWasWritten() throws IOException {
    RunResult result = result("strata", 50).failed(List.of("a failure"));
    Path file = folder.resolve("result.json");

    ResultFiles.writeJson(file, result);

    assertThat(ResultFiles.readJson(file)).isEqualTo(result);
  }

  /** Those that were written before rounds had names. */
  @Test
  void aResultWithoutARoundIsOfNone() throws IOException {
    Path file = folder.resolve("result.json");
    ResultFiles.writeJson(file, result("strata", 50).ofRound("a/1"));
    assertThat(ResultFiles.readJson(file).round()).isEqualTo("a/1");

    Files.writeString(file, Files.readString(file).replace("\"round\" : \"a/1\",", ""));

    assertThat(ResultFiles.readJson(file)).isEqualTo(result("strata", 50));
  }

  @Test
  void otherFilesAreRefused() throws IOException {
    Path file = folder.resolve("result.json");
    Files.writeString(file, "{}");
    assertThatThrownBy(() -> ResultFiles.readJson(file))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("found format 0, expected 1");
    Files.writeString(file, "no");
    assertThatThrownBy(() -> ResultFiles.readJson(file))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("found no result");
  }

  @Test
  void csvHasALineForEachGroupAndInterval() throws IOException {
    RunResult result = result("strata", 50);

    ResultFiles.writeSummary(folder.resolve("summary.csv"), List.of(result, result("stock", 40)));
    ResultFiles.writeSeries(folder.resolve("series.csv"), result);

    List<String> summary = Files.readAllLines(folder.resolve("summary.csv"));
    assertThat(summary).hasSize(5);
    assertThat(summary.get(0)).startsWith("label,phase,group,role,clients,records,bytes,errors");
    assertThat(summary.get(1))
        .startsWith("strata,load,main,producers,2,1000,50000000,0,1.0,1000.0");
    assertThat(summary.get(0)).endsWith(",maxMs,processorSeconds,startSeconds,stopSeconds");
    assertThat(summary.get(2)).isEqualTo("strata,load,,brokers,,,,,,,,,,,,,,,,4.5,");
    List<String> series = Files.readAllLines(folder.resolve("series.csv"));
    assertThat(series).hasSize(2);
    assertThat(series.get(1)).startsWith("strata,load,main,0.0,1.0,1000,50000000,");
  }
}
