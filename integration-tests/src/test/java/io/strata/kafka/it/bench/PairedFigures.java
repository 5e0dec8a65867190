package io.strata.kafka.it.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The figures of contenders that took turns: medians with their range, ratios round by round. */
final class PairedFigures {
  private final String reference;
  private final Map<String, Map<String, List<Double>>> figures = new LinkedHashMap<>();

  /** Creates one without figures; ratios are those to the contender {@code reference}. */
  PairedFigures(String reference) {
    this.reference = reference;
  }

  /** Adds what a contender's turn has shown. Each contender has one turn in each round. */
  void add(String contender, Map<String, Double> seen) {
    seen.forEach(
        (name, value) ->
            figures
                .computeIfAbsent(name, n -> new LinkedHashMap<>())
                .computeIfAbsent(contender, n -> new ArrayList<>())
                .add(value));
  }

  /** A line for each figure of each contender. */
  String table() {
    StringBuilder table = new StringBuilder();
    figures.forEach(
        (name, contenders) -> {
          List<Double> base = contenders.getOrDefault(reference, List.of());
          contenders.forEach(
              (contender, values) -> {
                List<Double> ratios = new ArrayList<>();
                for (int i = 0; i < Math.min(values.size(), base.size()); i++) {
                  ratios.add(values.get(i) / base.get(i));
                }
                table.append(
                    String.format(
                        Locale.ROOT,
                        "%-36s %-32s %s%n",
                        name,
                        contender,
                        range(values) + (ratios.isEmpty() ? "" : ", ratio " + range(ratios))));
              });
        });
    return table.toString();
  }

  private static String range(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    double median = (sorted.get((sorted.size() - 1) / 2) + sorted.get(sorted.size() / 2)) / 2;
    return String.format(
        Locale.ROOT, "%.2f (%.2f to %.2f)", median, sorted.get(0), sorted.get(sorted.size() - 1));
  }
}
