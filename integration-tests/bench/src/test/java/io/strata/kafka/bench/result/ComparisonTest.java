package io.strata.kafka.bench.result;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class ComparisonTest {

  @Test
  void labelsAreComparedWithTheFirst() {
    List<RunResult> results = new ArrayList<>();
    DoubleStream.of(100, 110, 90).forEach(v -> results.add(ResultFilesTest.result("stock", v)));
    DoubleStream.of(150, 220, 90).forEach(v -> results.add(ResultFilesTest.result("strata", v)));

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
    assertThat(line.ratios()).containsExactly(new Comparison.Ratio(1.5, 1, 2, true, List.of()));
    assertThat(comparison.lines().stream().map(Comparison.Line::metric))
        .contains("p50 ms", "p99.99 ms", "processor-seconds-per-gb-in", "start-seconds");
  }

  /** Failed runs have figures too, and none is to be seen in a ratio. */
  @Test
  void failedResultsAreShownAndNotCounted() {
    Comparison comparison =
        Comparison.of(
            List.of(
                ResultFilesTest.result("stock", 100),
                ResultFilesTest.result("strata", 1).failed(List.of("disk full")),
                ResultFilesTest.result("strata", 200)));

    assertThat(comparison.failures())
        .singleElement()
        .asString()
        .startsWith("strata,")
        .endsWith("disk full");
    assertThat(comparison.lines().get(1).ratios())
        .containsExactly(new Comparison.Ratio(2, 2, 2, true, List.of()));
  }

  @Test
  void withoutPairsTheMedianOfTheFirstCounts() {
    assertThat(Comparison.ratio(List.of(1.0, 2.0, 3.0), List.of(4.0, 2.0)))
        .isEqualTo(new Comparison.Ratio(1.5, 1, 2, false, List.of()));
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
    List<Double> ones = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int i = 1; i <= pairs; i++) {
      ones.add(1.0);
      ratios.add((double) i);
    }
    return Comparison.ratio(ones, ratios).interval();
  }
}
