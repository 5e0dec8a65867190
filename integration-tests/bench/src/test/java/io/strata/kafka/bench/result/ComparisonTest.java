package io.strata.kafka.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.bench.scenario.ScenarioException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

class ComparisonTest {

  @Test
  void labelsAreComparedWithTheFirst() {
    List<RunResult> results = new ArrayList<>();
    results.addAll(rounds("stock", 100, 110, 90));
    results.addAll(rounds("strata", 150, 220, 90));

    Comparison comparison = Comparison.of(results);

    assertThat(comparison.labels()).containsExactly("stock", "strata");
    Comparison.Line line =
        comparison.lines().stream()
            .filter(l -> l.metric().equals("MB/s"))
            .findFirst()
            .orElseThrow();
    assertThat(line.what()).isEqualTo("load main");
    assertThat(line.spreads())
        .containsExactly(
            new Comparison.Spread(100, 90, 110, 3), new Comparison.Spread(150, 90, 220, 3));
    assertThat(line.ratios()).containsExactly(new Comparison.Ratio(1.5, 1, 2, 3, List.of()));
    assertThat(comparison.lines().stream().map(Comparison.Line::metric))
        .contains("p50 ms", "p99.99 ms", "processor-seconds-per-gb-in", "start-seconds");
  }

  /** Failed runs have figures too, and none is to be seen in a ratio. */
  @Test
  void failedResultsAreShownAndNotCounted() {
    Comparison comparison =
        Comparison.of(
            List.of(
                ResultFilesTest.result("stock", 100).ofRound("a/1"),
                ResultFilesTest.result("strata", 1).failed(List.of("disk full")).ofRound("a/1"),
                ResultFilesTest.result("stock", 50).ofRound("a/2"),
                ResultFilesTest.result("strata", 100).ofRound("a/2")));

    assertThat(comparison.failures())
        .singleElement()
        .asString()
        .startsWith("strata,")
        .endsWith("disk full");
    assertThat(comparison.lines().get(1).ratios())
        .containsExactly(new Comparison.Ratio(2, 2, 2, 1, List.of()));
  }

  /** Rounds in which one of the two has failed are of no use to the others. */
  @Test
  void resultsOfOneRoundArePairs() {
    List<RunResult> results = new ArrayList<>();
    for (int round = 1; round <= 12; round++) {
      RunResult stock = ResultFilesTest.result("stock", 100 * round);
      RunResult strata = ResultFilesTest.result("strata", 100 * round);
      results.add((round == 2 ? stock.failed(List.of("a")) : stock).ofRound("a/" + round));
      results.add((round == 9 ? strata.failed(List.of("b")) : strata).ofRound("a/" + round));
    }
    // In their order by label, as folders are.
    results.sort(Comparator.comparing(RunResult::label));

    assertThat(ratio(Comparison.of(results)))
        .isEqualTo(new Comparison.Ratio(1, 1, 1, 10, List.of(1.0, 1.0)));
  }

  /** Each session has a first round. */
  @Test
  void roundsOfAnotherSessionAreOthers() {
    List<RunResult> results =
        List.of(
            ResultFilesTest.result("stock", 100).ofRound("a/1"),
            ResultFilesTest.result("stock", 200).ofRound("b/1"),
            ResultFilesTest.result("strata", 300).ofRound("b/1"),
            ResultFilesTest.result("strata", 400).ofRound("c/1"));

    assertThat(ratio(Comparison.of(results)))
        .isEqualTo(new Comparison.Ratio(1.5, 1.5, 1.5, 1, List.of()));
  }

  /** As many results of each as one likes: the i-th of one is no partner of the i-th of another. */
  @Test
  void withoutPairsThereIsNoInterval() {
    List<RunResult> results = new ArrayList<>();
    for (int i = 1; i <= 9; i++) {
      results.add(ResultFilesTest.result("stock", i));
      results.add(ResultFilesTest.result("strata", 2 * i));
    }

    assertThat(ratio(Comparison.of(results)))
        .isEqualTo(new Comparison.Ratio(2, 0.4, 3.6, 0, List.of()));
  }

  private static Comparison.Ratio ratio(Comparison comparison) {
    return comparison.lines().stream()
        .filter(line -> line.metric().equals("MB/s"))
        .findFirst()
        .orElseThrow()
        .ratios()
        .get(0);
  }

  private static List<RunResult> rounds(String label, double... values) {
    List<RunResult> results = new ArrayList<>();
    for (int i = 0; i < values.length; i++) {
      results.add(ResultFilesTest.result(label, values[i]).ofRound("session/" + i));
    }
    return results;
  }

  /** Their phases and groups may have the same names. */
  @Test
  void resultsOfSeveralScenariosAreRefused() {
    RunResult one = ResultFilesTest.result("stock", 100);
    RunResult other =
        new RunResult(
            one.format(),
            one.tool(),
            one.label(),
            "another",
            one.scenario(),
            one.started(),
            one.cluster(),
            one.hosts(),
            one.phases(),
            one.round(),
            one.failures());
    assertThatThrownBy(() -> Comparison.of(List.of(one, other)))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("another");
  }

  /** The ranks of the sign test: tables of order statistics have them. */
  @Test
  void theIntervalHasTheMedianWith95Percent() {
    assertThat(interval(5)).isEmpty();
    assertThat(interval(6)).containsExactly(1.0, 6.0);
    assertThat(interval(8)).containsExactly(1.0, 8.0);
    assertThat(interval(9)).containsExactly(2.0, 8.0);
    assertThat(interval(15)).containsExactly(4.0, 12.0);
    assertThat(interval(20)).containsExactly(6.0, 15.0);
  }

  private static List<Double> interval(int pairs) {
    double[] ones = new double[pairs];
    double[] ratios = new double[pairs];
    for (int i = 0; i < pairs; i++) {
      ones[i] = 1;
      ratios[i] = i + 1;
    }
    List<RunResult> results = rounds("stock", ones);
    results.addAll(rounds("strata", ratios));
    return ratio(Comparison.of(results)).interval();
  }
}
