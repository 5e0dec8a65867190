package io.strata.kafka.migration.plan;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.strata.kafka.migration.plan.BurstPlan.Quantity;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** The arithmetic of bursts, on the numbers of a loaded broker. */
class BurstPlanTest {

  private static final double GB = 1e9;
  private static final double MB = 1e6;

  private static BurstPlan given(
      double ingest,
      double drain,
      double reserve,
      double pool,
      double burst,
      double pause,
      double threshold) {
    return new BurstPlan(
        known(ingest),
        known(drain),
        known(reserve),
        known(pool),
        known(burst),
        known(pause),
        threshold < 0 ? OptionalDouble.empty() : OptionalDouble.of(threshold));
  }

  private static OptionalDouble known(double value) {
    return value == 0 ? OptionalDouble.empty() : OptionalDouble.of(value);
  }

  private static double value(BurstPlan plan, Quantity quantity) {
    return requireNonNull(plan.results().get(quantity));
  }

  @Test
  void halfATerabyteLastsAHundredSecondsAndTakesAThousandToDrain() {
    BurstPlan plan = given(5 * GB, 500 * MB, 500 * GB, 0, 0, 0, -1);
    assertThat(value(plan, Quantity.BURST)).isEqualTo(100);
    assertThat(value(plan, Quantity.BURST_WHILE_DRAINING)).isCloseTo(111.1, within(0.1));
    assertThat(value(plan, Quantity.PAUSE)).isEqualTo(1000);
    assertThat(plan.results())
        .containsOnlyKeys(
            Quantity.RESERVE, Quantity.BURST, Quantity.BURST_WHILE_DRAINING, Quantity.PAUSE);
  }

  @Test
  void thePoolTellsTheThreshold() {
    BurstPlan plan = given(5 * GB, 500 * MB, 500 * GB, 1000 * GB, 0, 0, -1);
    assertThat(value(plan, Quantity.THRESHOLD)).isEqualTo(0.5);
    assertThat(value(plan, Quantity.READABLE_IN_THRESHOLD_MODE)).isEqualTo(500 * GB);
    assertThat(value(plan, Quantity.READABLE_IN_EAGER_MODE)).isEqualTo(1000 * GB);
    assertThat(value(plan, Quantity.HIGHEST_RESERVE)).isEqualTo(1000 * GB);
    assertThat(value(plan, Quantity.PAUSE_FOR_HIGHEST_RESERVE)).isEqualTo(2000);
  }

  @Test
  void theThresholdTellsTheReserve() {
    BurstPlan plan = given(5 * GB, 0, 0, 1000 * GB, 0, 0, 0.8);
    assertThat(value(plan, Quantity.RESERVE)).isCloseTo(200 * GB, within(1.0));
    assertThat(value(plan, Quantity.BURST)).isCloseTo(40, within(0.001));
    assertThat(plan.results()).doesNotContainKeys(Quantity.PAUSE, Quantity.BURST_WHILE_DRAINING);
  }

  @Test
  void aWantedBurstTellsWhatItNeedsAndWhatSpills() {
    BurstPlan plan = given(5 * GB, 500 * MB, 500 * GB, 0, 200, 1000, -1);
    assertThat(value(plan, Quantity.RESERVE_FOR_BURST)).isEqualTo(1000 * GB);
    assertThat(value(plan, Quantity.RESERVE_FOR_BURST_WHILE_DRAINING)).isEqualTo(900 * GB);
    assertThat(value(plan, Quantity.PAUSE_AFTER_BURST)).isEqualTo(1800);
    assertThat(value(plan, Quantity.SPILL)).isEqualTo(400 * GB);
    assertThat(value(plan, Quantity.REGAINED)).isEqualTo(500 * GB);
    assertThat(value(plan, Quantity.SUSTAINED_INGEST)).isEqualTo(3 * GB);
  }

  @Test
  void aDrainAsFastAsTheIngestLastsForEver() {
    BurstPlan plan = given(GB, GB, 500 * GB, 0, 100, 0, -1);
    assertThat(value(plan, Quantity.BURST_WHILE_DRAINING)).isEqualTo(Double.POSITIVE_INFINITY);
    assertThat(value(plan, Quantity.SPILL)).isZero();
    assertThat(value(plan, Quantity.PAUSE_AFTER_BURST)).isZero();
  }

  @Test
  void nothingGivesNothing() {
    assertThat(given(0, 0, 0, 0, 0, 0, -1).results()).isEmpty();
    for (Quantity quantity : Quantity.values()) {
      assertThat(quantity.label()).matches("[a-z-]+");
      assertThat(quantity.formula()).isNotBlank();
      assertThat(quantity.unit()).isNotNull();
    }
  }

  @Test
  void badValuesAreRefused() {
    assertThatThrownBy(() -> given(-1, 0, 0, 0, 0, 0, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ingest -1.0: expected a number above 0");
    assertThatThrownBy(() -> given(0, 0, 0, 0, 0, 0, 1.5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("threshold 1.5");
    assertThatThrownBy(() -> given(0, 0, 2 * GB, GB, 0, 0, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("reserve");
  }
}
