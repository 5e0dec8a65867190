package io.strata.kafka.bench;

import io.strata.kafka.bench.result.Comparison;
import io.strata.kafka.bench.result.GroupResult;
import io.strata.kafka.bench.result.PhaseResult;
import io.strata.kafka.bench.result.RunResult;
import java.util.List;
import java.util.Locale;

/** A result as text for a terminal. */
final class Figures {

  private Figures() {}

  static String table(RunResult result) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%-28s %10s %10s %9s %9s %9s %9s %9s%n",
            result.label(),
            "records/s",
            "MB/s",
            "p50 ms",
            "p99",
            "p99.9",
            "p99.99",
            "max"));
    for (PhaseResult phase : result.phases()) {
      for (GroupResult group : phase.groups()) {
        text.append(
            String.format(
                Locale.ROOT,
                "%-28s %10.0f %10.1f %9.1f %9.1f %9.1f %9.1f %9.1f%n",
                phase.name() + " " + group.name(),
                group.recordsPerSecond(),
                group.megabytesPerSecond(),
                group.latency().p50(),
                group.latency().p99(),
                group.latency().p999(),
                group.latency().p9999(),
                group.latency().max()));
      }
      phase
          .brokers()
          .forEach(
              (name, value) ->
                  text.append(
                      String.format(
                          Locale.ROOT,
                          "%-28s %10.2f  %s%n",
                          phase.name() + " broker",
                          value,
                          name)));
    }
    for (String failure : result.failures()) {
      text.append("FAILED: ").append(failure).append(System.lineSeparator());
    }
    return text.toString();
  }

  static String table(Comparison comparison) {
    StringBuilder text = new StringBuilder();
    List<String> labels = comparison.labels();
    for (Comparison.Line line : comparison.lines()) {
      text.append(
          format(
              "%-24s %-28s %s %s",
              line.what(), line.metric(), labels.get(0), spread(line.spreads().get(0))));
      for (int i = 0; i < line.ratios().size(); i++) {
        text.append(
            format(
                "; %s %s, ratio %s",
                labels.get(i + 1), spread(line.spreads().get(i + 1)), ratio(line.ratios().get(i))));
      }
      text.append(System.lineSeparator());
    }
    for (String failure : comparison.failures()) {
      text.append("FAILED: ").append(failure).append(System.lineSeparator());
    }
    return text.toString();
  }

  private static String spread(Comparison.Spread spread) {
    return spread.results() == 1
        ? format("%.2f", spread.median())
        : format("%.2f (%.2f to %.2f)", spread.median(), spread.least(), spread.most());
  }

  private static String ratio(Comparison.Ratio ratio) {
    String range = format("%.3f (%.3f to %.3f)", ratio.median(), ratio.least(), ratio.most());
    if (ratio.pairs() == 0) {
      return range + " without pairs";
    }
    String pairs =
        format("%s of %d %s", range, ratio.pairs(), ratio.pairs() == 1 ? "pair" : "pairs");
    return ratio.interval().isEmpty()
        ? pairs
        : format(
            "%s, 95 %% interval %.3f to %.3f",
            pairs, ratio.interval().get(0), ratio.interval().get(1));
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
