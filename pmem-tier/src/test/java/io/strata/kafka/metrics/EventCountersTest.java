package io.strata.kafka.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the append and read paths count. */
class EventCountersTest {

  private final EventCounters counters = new EventCounters(() -> 0);

  @Test
  void takesImpossibleAndEndlessDurations() {
    counters.appended(1, -5, 0);
    counters.appended(1, Long.MAX_VALUE, 0);

    assertThat(counters.appends().count()).isEqualTo(2);
    assertThat(counters.appends().seconds().get("Min")).isZero();
    assertThat(counters.appends().seconds().get("Max")).isPositive();
  }

  @Test
  void losesNothingThatManyThreadsRecord() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < 10_000; i++) {
                  counters.appended(10, 1_000, 0);
                  counters.read(20, 2_000);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (int i = 0; i < 100; i++) { // readers take over what was recorded so far
      assertThat(counters.appends().seconds().get("Count")).isLessThanOrEqualTo(40_000);
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(counters.appends().count()).isEqualTo(40_000);
    assertThat(counters.appends().seconds().get("Mean")).isCloseTo(1e-6, within(1e-15));
    assertThat(counters.appendedBytes().sum()).isEqualTo(400_000);
    assertThat(counters.reads().count()).isEqualTo(40_000);
    assertThat(counters.readBytes().sum()).isEqualTo(800_000);
  }
}
