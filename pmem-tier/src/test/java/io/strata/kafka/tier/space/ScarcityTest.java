package io.strata.kafka.tier.space;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which new segments a tier takes, over a pool that is full or not. */
final class ScarcityTest {

  /** The pool's size, in segments. */
  private static final int POOL = 64;

  /** The segments that one speed is measured over. */
  private static final int MOMENT = 16;

  private double dirty;

  private Scarcity at(double threshold) {
    return new Scarcity(List.of(threshold), tier -> dirty);
  }

  @Test
  void spaceIsNotScarceBeforeMostOfItIsDirty() {
    Scarcity scarcity = at(0.5);
    dirty = 0.8;
    assertThat(scarcity.of(0)).isZero();
    for (int i = 0; i < 1000; i++) {
      assertThat(scarcity.passesOn(0)).isFalse();
    }
    dirty = 0.9;
    assertThat(scarcity.of(0)).isCloseTo(0.5, within(1e-9));
    dirty = 1;
    assertThat(scarcity.of(0)).isEqualTo(1);
    assertThat(scarcity.passesOn(0)).isTrue();
  }

  /** With a tier that the operator keeps dirty no segment is passed on at its threshold. */
  @Test
  void aHighThresholdPutsItOff() {
    Scarcity scarcity = at(0.96);
    dirty = 0.98;
    assertThat(scarcity.of(0)).isCloseTo(0, within(1e-9));
    dirty = 0.99;
    assertThat(scarcity.of(0)).isCloseTo(0.5, within(1e-9));
    scarcity.thresholds(List.of(0.5));
    assertThat(scarcity.of(0)).isGreaterThan(0.8);
  }

  @ParameterizedTest
  @ValueSource(doubles = {-1, 1})
  void withoutAThresholdSpaceIsScarceWhenMostOfItIsDirty(double threshold) {
    Scarcity scarcity = at(threshold);
    dirty = 0.8;
    assertThat(scarcity.of(0)).isZero();
    dirty = 0.9;
    assertThat(scarcity.of(0)).isCloseTo(0.5, within(1e-9));
  }

  /**
   * Producers that never pause, and a log disk that takes what is passed on and no copies: so many
   * segments last as long as the log disk needs for those of them that it gets.
   *
   * @param retention in pools
   * @param late in pools: what is appended from when Kafka may delete a segment until it does
   * @param ratio what is asked of the log disk's speed at least
   */
  @ParameterizedTest
  @CsvSource({
    "1.0, 0, 5",
    "1.5, 0, 2.3",
    "2.0, 0, 1.8",
    "4.0, 0, 1.2",
    "1.0, 0.1, 4",
    "1.5, 0.1, 2.2",
    "2.0, 0.1, 1.8"
  })
  void theLogDiskGetsItsPartEvenly(double retention, double late, double ratio) {
    Scarcity scarcity = at(0.5);
    int turnover = (int) ((retention + late) * POOL);
    List<Boolean> passed = new ArrayList<>();
    int pooled = 0;
    for (int i = 0; i < 6 * turnover; i++) {
      dirty = (double) pooled / POOL;
      boolean passes = scarcity.passesOn(0);
      assertThat(passes || pooled < POOL).as("segment %s finds space", i).isTrue();
      passed.add(passes);
      pooled += passes ? 0 : 1;
      // Retention deletes the oldest.
      pooled -= i >= turnover && !passed.get(i - turnover) ? 1 : 0;
    }
    List<Boolean> counted = passed.subList(3 * turnover, 6 * turnover);
    double speed = counted.size() / time(counted);
    assertThat(speed).isGreaterThan(ratio);
    for (int from = 0; from + MOMENT <= counted.size(); from++) {
      assertThat(MOMENT / time(counted.subList(from, from + MOMENT)))
          .as("speed from segment %s on", from)
          .isGreaterThan(speed / 2);
    }
  }

  private static double time(List<Boolean> passed) {
    return Math.max(1, passed.stream().filter(each -> each).count());
  }
}
