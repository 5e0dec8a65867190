package io.strata.kafka.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GroupMeterTest {

  private static final long HOUR = 3_600_000_000L;

  private final GroupMeter meter = new GroupMeter(1);

  private void record(long latencyMicros) {
    meter.record(0, latencyMicros, 1, System.nanoTime());
  }

  @Test
  void aLatencyOfHoursIsCountedAsItIs() {
    record(3 * HOUR);
    record(-1_000);
    assertThat(meter.take().latencies().getMaxValue()).isGreaterThanOrEqualTo(3 * HOUR);
    assertThat(meter.firstError()).isEmpty();
  }

  @Test
  void aLatencyThatCannotBeCountedIsAFailure() {
    record(25 * HOUR);
    assertThat(meter.firstError())
        .hasValueSatisfying(why -> assertThat(why).contains("90000000 ms"));
  }

  @Test
  void aRecordThatWasReadBeforeItWasSentIsAFailure() {
    record(-100_000);
    assertThat(meter.firstError()).hasValueSatisfying(why -> assertThat(why).contains("-100 ms"));
  }
}
