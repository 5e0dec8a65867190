package io.strata.kafka.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.bench.scenario.RateProfile;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class PaceTest {
  private static final RateProfile BURSTS =
      new RateProfile(List.of(new RateProfile.Step(9, 10), new RateProfile.Step(1, 1000)));

  @Test
  void aFixedRateIsEven() {
    Pace pace = new Pace(new RateProfile(List.of(new RateProfile.Step(1, 1000))), 0, 1);

    for (int n = 0; n < 10_000; n++) {
      assertThat(pace.dueNanos(n)).isEqualTo(n * 1_000_000L);
    }
  }

  @Test
  void stepsRepeat() {
    Pace pace = new Pace(BURSTS, 0, 1);

    assertThat(pace.dueNanos(0)).isZero();
    assertThat(pace.dueNanos(89)).isEqualTo(8_900_000_000L);
    assertThat(pace.dueNanos(90)).isEqualTo(9_000_000_000L);
    assertThat(pace.dueNanos(1089)).isEqualTo(9_999_000_000L);
    assertThat(pace.dueNanos(1090)).isEqualTo(10_000_000_000L);
    assertThat(pace.dueNanos(1091)).isEqualTo(10_100_000_000L);
    // A thousand rounds later.
    assertThat(pace.dueNanos(1_090_090)).isEqualTo(10_009_000_000_000L);
  }

  @Test
  void aStepOfNothingIsAPause() {
    Pace pace =
        new Pace(
            new RateProfile(List.of(new RateProfile.Step(1, 2), new RateProfile.Step(10, 0))),
            0,
            1);

    assertThat(List.of(pace.dueNanos(0), pace.dueNanos(1), pace.dueNanos(2)))
        .containsExactly(0L, 500_000_000L, 11_000_000_000L);
  }

  /** Together the clients of all hosts send what one would. */
  @Test
  void clientsTakeTurns() {
    List<Long> one = dues(0, 1, 3000);
    List<Long> three = new ArrayList<>();
    for (int client = 0; client < 3; client++) {
      three.addAll(dues(client, 3, 1000));
    }
    Collections.sort(three);

    assertThat(three).isEqualTo(one);
  }

  private static List<Long> dues(int client, int clients, int records) {
    Pace pace = new Pace(BURSTS, client, clients);
    List<Long> dues = new ArrayList<>();
    for (int n = 0; n < records; n++) {
      dues.add(pace.dueNanos(n));
    }
    return dues;
  }
}
