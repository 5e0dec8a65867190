package io.strata.kafka.bench.report;

import io.strata.kafka.bench.agent.Histograms;
import io.strata.kafka.bench.result.GroupResult;
import io.strata.kafka.bench.result.PhaseResult;
import io.strata.kafka.bench.result.RunResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * Makes the charts of results. Where a label has several results, what is over time is that of the
 * one in the middle, and the quantiles are those of all its results together.
 */
final class Charts {
  private static final double MEGA = 1e6;
  private static final double MILLIS = 1000;

  /** The quantiles end at five nines. */
  private static final double MOST_NINES = 5;

  private final List<RunResult> shown;
  private final List<RunResult> all;

  Charts(List<RunResult> results) {
    all = results;
    Map<String, List<RunResult>> byLabel = new LinkedHashMap<>();
    results.forEach(r -> byLabel.computeIfAbsent(r.label(), l -> new ArrayList<>()).add(r));
    shown = byLabel.values().stream().map(Charts::middle).toList();
  }

  private static RunResult middle(List<RunResult> results) {
    List<RunResult> sorted =
        results.stream().sorted(Comparator.comparingDouble(Charts::throughput)).toList();
    return sorted.get(sorted.size() / 2);
  }

  private static double throughput(RunResult result) {
    return result.phases().stream()
        .flatMap(phase -> phase.groups().stream())
        .mapToDouble(GroupResult::megabytesPerSecond)
        .sum();
  }

  /** The charts of each phase, by its name. */
  Map<String, List<Chart>> byPhase() {
    Set<String> names = new LinkedHashSet<>();
    all.forEach(result -> result.phases().forEach(phase -> names.add(phase.name())));
    Map<String, List<Chart>> charts = new LinkedHashMap<>();
    for (String name : names) {
      List<Chart> own = new ArrayList<>();
      own.add(throughputs(name));
      own.addAll(latencies(name));
      own.add(quantiles(name));
      own.addAll(tiers(name));
      own.removeIf(chart -> chart.lines().isEmpty());
      if (!own.isEmpty()) {
        charts.put(name, own);
      }
    }
    return charts;
  }

  /** A line's label: that of the result only where there are several. */
  private String label(RunResult result, String what) {
    return shown.size() == 1 ? what : "%s: %s".formatted(result.label(), what);
  }

  private static List<PhaseResult> phases(RunResult result, String name) {
    return result.phases().stream().filter(phase -> phase.name().equals(name)).toList();
  }

  private Chart throughputs(String phase) {
    List<Chart.Line> lines = new ArrayList<>();
    for (RunResult result : shown) {
      for (PhaseResult each : phases(result, phase)) {
        for (GroupResult group : each.groups()) {
          String direction = group.role().equals("producers") ? "in" : "out";
          lines.add(
              new Chart.Line(
                  label(result, "%s (%s)".formatted(group.name(), direction)),
                  points(group, p -> p.bytes() / MEGA / Math.max(1e-3, p.to() - p.from()))));
        }
      }
    }
    return new Chart("Throughput, MB/s", "time", false, false, lines);
  }

  private static List<double[]> points(
      GroupResult group, ToDoubleFunction<GroupResult.Point> value) {
    return group.series().stream()
        .map(point -> new double[] {point.to(), value.applyAsDouble(point)})
        .toList();
  }

  /** One chart for each group: percentiles of one result, or p99 of several. */
  private List<Chart> latencies(String phase) {
    Map<String, List<Chart.Line>> byGroup = new LinkedHashMap<>();
    for (RunResult result : shown) {
      for (PhaseResult each : phases(result, phase)) {
        for (GroupResult group : each.groups()) {
          List<Chart.Line> lines =
              byGroup.computeIfAbsent(title(group), title -> new ArrayList<>());
          if (shown.size() == 1) {
            lines.add(new Chart.Line("p50", busy(group, GroupResult.Point::p50)));
            lines.add(new Chart.Line("p99", busy(group, GroupResult.Point::p99)));
            lines.add(new Chart.Line("p99.9", busy(group, GroupResult.Point::p999)));
            lines.add(new Chart.Line("max", busy(group, GroupResult.Point::max)));
          } else {
            lines.add(
                new Chart.Line(result.label() + ": p99", busy(group, GroupResult.Point::p99)));
          }
        }
      }
    }
    List<Chart> charts = new ArrayList<>();
    byGroup.forEach((title, lines) -> charts.add(new Chart(title, "time", true, false, lines)));
    return charts;
  }

  private static String title(GroupResult group) {
    return group.role().equals("producers")
        ? "Latency of %s until acknowledged, ms".formatted(group.name())
        : "Latency of %s end to end, ms".formatted(group.name());
  }

  /** Intervals without a record have no latency. */
  private static List<double[]> busy(GroupResult group, ToDoubleFunction<GroupResult.Point> value) {
    return group.series().stream()
        .filter(point -> point.records() > 0)
        .map(point -> new double[] {point.to(), Math.max(0.001, value.applyAsDouble(point))})
        .toList();
  }

  private Chart quantiles(String phase) {
    Map<String, Histogram> merged = new LinkedHashMap<>();
    for (RunResult result : all) {
      for (PhaseResult each : phases(result, phase)) {
        for (GroupResult group : each.groups()) {
          merged
              .computeIfAbsent(label(result, group.name()), l -> new Histogram(3))
              .add(Histograms.decode(group.histogram()));
        }
      }
    }
    List<Chart.Line> lines = new ArrayList<>();
    merged.forEach(
        (label, histogram) -> {
          if (histogram.getTotalCount() > 0) {
            lines.add(new Chart.Line(label, curve(histogram)));
          }
        });
    return new Chart("Latency by percentile, ms", "quantile", true, false, lines);
  }

  private static List<double[]> curve(Histogram histogram) {
    List<double[]> points = new ArrayList<>();
    double last = -1;
    for (HistogramIterationValue value : histogram.percentiles(5)) {
      double rest = 1 - value.getPercentileLevelIteratedTo() / 100;
      double nines = rest <= 0 ? MOST_NINES : Math.min(MOST_NINES, -Math.log10(rest));
      if (nines > last) {
        points.add(new double[] {nines, Math.max(0.001, value.getValueIteratedTo() / MILLIS)});
        last = nines;
      }
    }
    return points;
  }

  private List<Chart> tiers(String phase) {
    List<Chart> charts = new ArrayList<>();
    for (RunResult result : shown) {
      for (PhaseResult each : phases(result, phase)) {
        Set<String> tiers = new TreeSet<>();
        each.tiers().forEach(point -> tiers.addAll(point.bytes().keySet()));
        List<Chart.Line> lines =
            tiers.stream()
                .map(
                    tier ->
                        new Chart.Line(
                            tier,
                            each.tiers().stream()
                                .map(
                                    point ->
                                        new double[] {
                                          point.seconds(),
                                          point.bytes().getOrDefault(tier, 0L) / MEGA
                                        })
                                .toList()))
                .toList();
        charts.add(new Chart(label(result, "bytes per tier, MB"), "time", false, true, lines));
      }
    }
    return charts;
  }
}
