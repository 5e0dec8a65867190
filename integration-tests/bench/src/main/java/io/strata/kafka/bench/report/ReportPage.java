package io.strata.kafka.bench.report;

import io.strata.kafka.bench.result.Comparison;
import io.strata.kafka.bench.result.ResultFiles;
import io.strata.kafka.bench.result.RunResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** The page: results, charts and comparison, with the library that draws, in one file. */
public final class ReportPage {
  private static final String PLOTS = "META-INF/resources/webjars/uplot/%s/%s";

  private ReportPage() {}

  /**
   * Everything that the page shows.
   *
   * @param results without their series and histograms
   */
  record Data(List<RunResult> results, Map<String, List<Chart>> charts, Comparison comparison) {}

  /** Writes the page of one result, or of several. */
  public static void write(Path file, List<RunResult> results) throws IOException {
    Files.writeString(file, html(results));
  }

  static String html(List<RunResult> results) throws IOException {
    String version = plotsVersion();
    Data data =
        new Data(
            results.stream().map(RunResult::summary).toList(),
            new Charts(results).byPhase(),
            Comparison.of(results));
    return resource("io/strata/kafka/bench/report/page.html")
        .replace("{{license}}", resource(PLOTS.formatted(version, "LICENSE")).strip())
        .replace("{{uplot.css}}", resource(PLOTS.formatted(version, "dist/uPlot.min.css")))
        .replace("{{uplot.js}}", resource(PLOTS.formatted(version, "dist/uPlot.iife.min.js")))
        .replace("{{page.js}}", resource("io/strata/kafka/bench/report/page.js"))
        // No text of a result ends the element that it is in.
        .replace("{{data}}", ResultFiles.json(data).replace("<", "\\u003c"));
  }

  /** The build writes the version that it was built with. */
  private static String plotsVersion() throws IOException {
    Properties versions = new Properties();
    try (InputStream in = open("io/strata/kafka/bench/report/versions.properties")) {
      versions.load(in);
    }
    return versions.getProperty("uplot");
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = open(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static InputStream open(String name) throws IOException {
    InputStream in = ReportPage.class.getClassLoader().getResourceAsStream(name);
    if (in == null) {
      throw new IOException(
          "found no %s on the class path, expected strata-bench's jar to have it".formatted(name));
    }
    return in;
  }
}
