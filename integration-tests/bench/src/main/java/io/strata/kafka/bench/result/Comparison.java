package io.strata.kafka.bench.result;

import io.strata.kafka.bench.scenario.ScenarioException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Any number of results side by side: those of one label together, each label against the first.
 *
 * @param labels in the results' order; the first is what the others are compared with
 * @param lines one for each figure that all labels have
 * @param failures of results that have failed; their figures are left out
 */
public record Comparison(List<String> labels, List<Line> lines, List<String> failures) {

  /**
   * One figure.
   *
   * @param what phase and group
   * @param metric its name and unit
   * @param spreads one for each label
   * @param ratios one for each label but the first
   */
  public record Line(String what, String metric, List<Spread> spreads, List<Ratio> ratios) {}

  /** The values of a label's results. */
  public record Spread(double median, double least, double most, int results) {}

  /**
   * A label's values against those of the first label.
   *
   * @param pairs how many rounds have a good result of each; only they count. 0 for labels that
   *     have no round in common: then it is the median against the first label's, and the range is
   *     that of the values against it
   * @param interval an interval that has the median with a probability of 95 % at least, whatever
   *     the distribution: the ends are two of the ratios; empty for fewer than six pairs
   */
  public record Ratio(double median, double least, double most, int pairs, List<Double> interval) {}

  /**
   * Compares results.
   *
   * @throws ScenarioException if they are of several scenarios, whose phases may have the same
   *     names
   */
  public static Comparison of(List<RunResult> results) {
    Set<String> scenarios =
        results.stream().map(RunResult::name).collect(Collectors.toCollection(TreeSet::new));
    if (scenarios.size() > 1) {
      throw new ScenarioException(
          "found results of the scenarios %s, expected those of one: compare each alone"
              .formatted(String.join(", ", scenarios)));
    }
    Map<String, List<Good>> good = new LinkedHashMap<>();
    List<String> failures = new ArrayList<>();
    for (RunResult result : results) {
      List<Good> own = good.computeIfAbsent(result.label(), label -> new ArrayList<>());
      if (result.hasSucceeded()) {
        own.add(new Good(result.round(), figures(result)));
      }
      result
          .failures()
          .forEach(f -> failures.add("%s, %s: %s".formatted(result.label(), result.started(), f)));
    }
    List<List<Good>> labels = List.copyOf(good.values());
    List<Line> lines = new ArrayList<>();
    Optional<Good> first = labels.stream().flatMap(List::stream).findFirst();
    for (Key key : first.map(any -> any.figures().keySet()).orElse(Set.of())) {
      List<List<Value>> values = labels.stream().map(label -> values(label, key)).toList();
      if (values.stream().noneMatch(List::isEmpty)) {
        lines.add(line(key, values));
      }
    }
    return new Comparison(List.copyOf(good.keySet()), List.copyOf(lines), List.copyOf(failures));
  }

  /** The figures of a result that has succeeded, and its round. */
  private record Good(String round, Map<Key, Double> figures) {}

  /** One figure of it. */
  private record Value(String round, double value) {}

  private record Key(String what, String metric) {}

  private static Map<Key, Double> figures(RunResult result) {
    Map<Key, Double> figures = new LinkedHashMap<>();
    for (PhaseResult phase : result.phases()) {
      for (GroupResult group : phase.groups()) {
        String what = "%s %s".formatted(phase.name(), group.name());
        GroupResult.Latency latency = group.latency();
        figures.put(new Key(what, "records/s"), group.recordsPerSecond());
        figures.put(new Key(what, "MB/s"), group.megabytesPerSecond());
        figures.put(new Key(what, "p50 ms"), latency.p50());
        figures.put(new Key(what, "p99 ms"), latency.p99());
        figures.put(new Key(what, "p99.9 ms"), latency.p999());
        figures.put(new Key(what, "p99.99 ms"), latency.p9999());
      }
      phase
          .brokers()
          .forEach(
              (metric, value) -> figures.put(new Key(phase.name() + " brokers", metric), value));
    }
    return figures;
  }

  private static List<Value> values(List<Good> results, Key key) {
    return results.stream()
        .flatMap(
            good ->
                Optional.ofNullable(good.figures().get(key)).stream()
                    .map(value -> new Value(good.round(), value)))
        .toList();
  }

  private static Line line(Key key, List<List<Value>> values) {
    List<Value> base = values.get(0);
    return new Line(
        key.what(),
        key.metric(),
        values.stream().map(Comparison::spread).toList(),
        values.stream().skip(1).map(other -> ratio(base, other)).toList());
  }

  private static Spread spread(List<Value> values) {
    List<Double> sorted = sorted(values);
    return new Spread(median(sorted), sorted.get(0), sorted.get(sorted.size() - 1), sorted.size());
  }

  private static List<Double> sorted(List<Value> values) {
    return values.stream().map(Value::value).sorted().toList();
  }

  private static Ratio ratio(List<Value> base, List<Value> other) {
    List<Double> ratios = pairs(base, other);
    int pairs = ratios.size();
    if (pairs == 0) {
      double middle = median(sorted(base));
      ratios = sorted(other).stream().map(value -> value / middle).toList();
    }
    return new Ratio(
        median(ratios),
        ratios.get(0),
        ratios.get(ratios.size() - 1),
        pairs,
        pairs == 0 ? List.of() : interval(ratios));
  }

  /** Returns the ratio in each round that both have once, sorted. */
  private static List<Double> pairs(List<Value> base, List<Value> other) {
    Map<String, List<Value>> rounds = byRound(base);
    List<Double> ratios = new ArrayList<>();
    byRound(other)
        .forEach(
            (round, values) -> {
              List<Value> of = rounds.getOrDefault(round, List.of());
              if (values.size() == 1 && of.size() == 1) {
                ratios.add(values.get(0).value() / of.get(0).value());
              }
            });
    ratios.sort(Double::compare);
    return ratios;
  }

  private static Map<String, List<Value>> byRound(List<Value> values) {
    return values.stream()
        .filter(value -> !value.round().isEmpty())
        .collect(Collectors.groupingBy(Value::round));
  }

  private static double median(List<Double> sorted) {
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }

  /** The narrowest pair of order statistics that has the median with 95 %: a sign test's. */
  private static List<Double> interval(List<Double> sorted) {
    int n = sorted.size();
    double outside = 0;
    double term = Math.pow(0.5, n);
    int rank = 0;
    // P(X <= k) for X binomial with n and 1/2, on either side.
    for (int k = 0; k < n / 2; k++) {
      outside += 2 * term;
      if (outside > 0.05) {
        break;
      }
      rank = k + 1;
      term = term * (n - k) / (k + 1);
    }
    return rank == 0 ? List.of() : List.of(sorted.get(rank - 1), sorted.get(n - rank));
  }
}
