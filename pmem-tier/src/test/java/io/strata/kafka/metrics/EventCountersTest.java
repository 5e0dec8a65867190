package io.strata.kafka.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the append and read paths count. */
class EventCountersTest {

  private final EventCounters counters = new EventCounters(() -> 0);

  @Test
  void takesImpossibleAndEndlessDurations() {
    counters.appended(1, -5);
    counters.appended(1, Long.MAX_VALUE);

    assertThat(counters.appendLatency().count()).isEqualTo(2);
    assertThat(counters.appendLatency().minNanos()).isZero();
    assertThat(counters.appendLatency().maxNanos()).isPositive();
  }

  @Test
  void losesNothingThatManyThreadsRecord() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < 10_000; i++) {
                  counters.appended(10, 1_000);
                  counters.read(20, 2_000);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (int i = 0; i < 100; i++) { // readers take over what was recorded so far
      assertThat(counters.appendLatency().count()).isLessThanOrEqualTo(40_000);
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(counters.appendLatency().count()).isEqualTo(40_000);
    assertThat(counters.appendLatency().totalNanos()).isEqualTo(40_000_000);
    assertThat(counters.appendedBytes()).isEqualTo(400_000);
    assertThat(counters.readLatency().count()).isEqualTo(40_000);
    assertThat(counters.readBytes()).isEqualTo(800_000);
  }
}
