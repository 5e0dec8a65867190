package io.strata.kafka.bench.result;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads and writes results. */
public final class ResultFiles {
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private ResultFiles() {}

  /** Writes all of a result as JSON. */
  public static void writeJson(Path file, RunResult result) throws IOException {
    JSON.writeValue(file.toFile(), result);
  }

  /** A result, or a list of them, as JSON in one line. */
  public static String json(Object results) {
    try {
      return JSON.writer().without(SerializationFeature.INDENT_OUTPUT).writeValueAsString(results);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Reads what {@link #writeJson} wrote.
   *
   * @throws ScenarioException if it is no result of this format
   */
  public static RunResult readJson(Path file) {
    try {
      RunResult result = JSON.readValue(file.toFile(), RunResult.class);
      if (result.format() != RunResult.FORMAT) {
        throw new ScenarioException(
            "%s: found format %d, expected %d: read it with the version that wrote it, %s"
                .formatted(file, result.format(), RunResult.FORMAT, result.tool()));
      }
      return result;
    } catch (IOException e) {
      throw new ScenarioException(
          "%s: found no result (%s), expected a JSON file of strata-bench"
              .formatted(
                  file, e instanceof JsonProcessingException json ? json.getOriginalMessage() : e));
    }
  }

  /**
   * A line of {@link #writeSummary}: a group's, or the brokers', which have the last three figures
   * alone.
   */
  record SummaryLine(
      String label,
      String phase,
      String group,
      String role,
      @Nullable Integer clients,
      @Nullable Long records,
      @Nullable Long bytes,
      @Nullable Long errors,
      @Nullable Double seconds,
      @Nullable Double recordsPerSecond,
      @Nullable Double megabytesPerSecond,
      @Nullable Double meanMs,
      @Nullable Double p50Ms,
      @Nullable Double p90Ms,
      @Nullable Double p99Ms,
      @Nullable Double p999Ms,
      @Nullable Double p9999Ms,
      @Nullable Double maxMs,
      @Nullable Double processorSeconds,
      @Nullable Double startSeconds,
      @Nullable Double stopSeconds) {

    static SummaryLine of(String label, String phase, GroupResult group) {
      GroupResult.Latency latency = group.latency();
      return new SummaryLine(
          label,
          phase,
          group.name(),
          group.role(),
          group.clients(),
          group.records(),
          group.bytes(),
          group.errors(),
          group.seconds(),
          group.recordsPerSecond(),
          group.megabytesPerSecond(),
          latency.mean(),
          latency.p50(),
          latency.p90(),
          latency.p99(),
          latency.p999(),
          latency.p9999(),
          latency.max(),
          null,
          null,
          null);
    }

    static SummaryLine of(String label, String phase, Map<String, Double> brokers) {
      return new SummaryLine(
          label,
          phase,
          "",
          "brokers",
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          brokers.get("processor-seconds"),
          brokers.get("start-seconds"),
          brokers.get("stop-seconds"));
    }
  }

  /** A line of {@link #writeSeries}. */
  record SeriesLine(
      String label,
      String phase,
      String group,
      double from,
      double to,
      long records,
      long bytes,
      double p50Ms,
      double p99Ms,
      double p999Ms,
      double maxMs) {}

  /** Writes a line for each group of each phase, and one for its brokers' figures, as CSV. */
  public static void writeSummary(Path file, List<RunResult> results) throws IOException {
    List<SummaryLine> lines = new ArrayList<>();
    for (RunResult result : results) {
      for (PhaseResult phase : result.phases()) {
        for (GroupResult group : phase.groups()) {
          lines.add(SummaryLine.of(result.label(), phase.name(), group));
        }
        if (!phase.brokers().isEmpty()) {
          lines.add(SummaryLine.of(result.label(), phase.name(), phase.brokers()));
        }
      }
    }
    write(file, SummaryLine.class, lines);
  }

  /** Writes a line for each interval of each group, as CSV. */
  public static void writeSeries(Path file, RunResult result) throws IOException {
    List<SeriesLine> lines = new ArrayList<>();
    for (PhaseResult phase : result.phases()) {
      for (GroupResult group : phase.groups()) {
        for (GroupResult.Point point : group.series()) {
          lines.add(
              new SeriesLine(
                  result.label(),
                  phase.name(),
                  group.name(),
                  point.from(),
                  point.to(),
                  point.records(),
                  point.bytes(),
                  point.p50(),
                  point.p99(),
                  point.p999(),
                  point.max()));
        }
      }
    }
    write(file, SeriesLine.class, lines);
  }

  private static void write(Path file, Class<?> type, List<?> lines) throws IOException {
    // In the records' order, not by name.
    CsvMapper csv =
        CsvMapper.builder().disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY).build();
    CsvSchema schema = csv.schemaFor(type).withHeader();
    Files.writeString(file, csv.writer(schema).writeValueAsString(lines));
  }
}
