package io.strata.kafka.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** Percentiles of an interval, recorded by many threads. */
class LatenciesTest {
  private final AtomicLong now = new AtomicLong();
  private final Latencies latencies = new Latencies(Duration.ofSeconds(10), now::get);

  @Test
  void anIntervalIsSeenOnlyWhenItIsOver() {
    latencies.record(1_000);

    assertThat(latencies.max()).isZero();
    assertThat(latencies.percentile(50)).isZero();
    now.addAndGet(TimeUnit.SECONDS.toNanos(10));
    assertThat(latencies.max()).isCloseTo(1_000, Percentage.withPercentage(1));
    latencies.record(5_000);
    assertThat(latencies.max()).isCloseTo(1_000, Percentage.withPercentage(1));
    now.addAndGet(TimeUnit.SECONDS.toNanos(10));
    assertThat(latencies.max()).isCloseTo(5_000, Percentage.withPercentage(1));
    now.addAndGet(TimeUnit.SECONDS.toNanos(10));
    assertThat(latencies.max()).isZero();
  }

  @Test
  void percentilesAreThoseOfTheInterval() {
    for (int i = 1; i <= 1_000; i++) {
      latencies.record(i * 1_000L);
    }
    now.addAndGet(TimeUnit.SECONDS.toNanos(11));

    assertThat(latencies.percentile(50)).isCloseTo(500_000, Percentage.withPercentage(1));
    assertThat(latencies.percentile(99)).isCloseTo(990_000, Percentage.withPercentage(1));
    assertThat(latencies.percentile(99.9)).isCloseTo(999_000, Percentage.withPercentage(1));
    assertThat(latencies.max()).isCloseTo(1_000_000, Percentage.withPercentage(1));
  }

  @Test
  void takesImpossibleAndEndlessDurations() {
    latencies.record(-5);
    latencies.record(Long.MAX_VALUE);
    now.addAndGet(TimeUnit.SECONDS.toNanos(10));

    assertThat(latencies.percentile(1)).isZero();
    assertThat(latencies.max())
        .isCloseTo(TimeUnit.MINUTES.toNanos(10), Percentage.withPercentage(1));
  }

  @Test
  void losesNothingThatManyThreadsRecord() throws InterruptedException {
    EventCounters counters = new EventCounters(now::get);
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
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(counters.appends()).isEqualTo(40_000);
    assertThat(counters.appendedBytes()).isEqualTo(400_000);
    assertThat(counters.reads()).isEqualTo(40_000);
    assertThat(counters.readBytes()).isEqualTo(800_000);
  }
}
