package io.strata.kafka.bench.result;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.bench.agent.Histograms;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class GroupFiguresTest {

  private static Histogram latencies(long count, long micros) {
    Histogram histogram = new Histogram(3);
    histogram.recordValueWithCount(micros, count);
    return histogram;
  }

  @Test
  void theWarmupIsInNoFigureButThoseOverTime() {
    GroupFigures figures = new GroupFigures("main", "producers", 4, 0, 2);
    figures.add(0, 1, 10, 1000, 0, latencies(10, 900_000));
    figures.add(1, 2, 10, 1000, 0, latencies(10, 900_000));
    figures.add(2, 3, 100, 2_000_000, 0, latencies(100, 1_000));
    figures.add(3, 4, 100, 2_000_000, 0, latencies(100, 3_000));
    figures.ended(4);

    GroupResult result = figures.result();

    assertThat(result.records()).isEqualTo(200);
    assertThat(result.seconds()).isEqualTo(2);
    assertThat(result.recordsPerSecond()).isEqualTo(100);
    assertThat(result.megabytesPerSecond()).isEqualTo(2);
    assertThat(result.latency().max()).isBetween(3.0, 3.01);
    assertThat(result.latency().p50()).isBetween(1.0, 1.01);
    assertThat(result.latency().p9999()).isBetween(3.0, 3.01);
    assertThat(Histograms.decode(result.histogram()).getTotalCount()).isEqualTo(200);
    assertThat(result.series()).hasSize(4);
    assertThat(result.series().get(0).max()).isBetween(900.0, 901.0);
  }

  @Test
  void aGroupThatStartsLaterIsMeasuredFromThere() {
    GroupFigures figures = new GroupFigures("lagging", "consumers", 1, 2.5, 0);
    figures.add(0, 2, 0, 0, 0, latencies(0, 1));
    figures.add(2, 4, 50, 1_000_000, 0, latencies(50, 5));
    figures.ended(3.5);

    assertThat(figures.result().seconds()).isEqualTo(1);
    assertThat(figures.result().megabytesPerSecond()).isEqualTo(1);
  }

  @Test
  void nothingAtAllIsZero() {
    GroupResult result = new GroupFigures("idle", "producers", 1, 0, 5).result();

    assertThat(result.recordsPerSecond()).isZero();
    assertThat(result.latency().p99()).isZero();
    assertThat(result.latency().mean()).isZero();
  }

  @Test
  void errorsCountInTheWarmupToo() {
    GroupFigures figures = new GroupFigures("main", "producers", 1, 0, 5);
    figures.add(0, 1, 0, 0, 3, latencies(0, 1));

    assertThat(figures.result().errors()).isEqualTo(3);
  }
}
