package io.strata.kafka.bench.load;

import java.util.concurrent.TimeUnit;

/** The time of the epoch in microseconds that only goes forward, in step with nanoTime. */
public final class LoadClock {
  private final long epochMicros;
  private final long nanos;

  /**
   * Creates a clock.
   *
   * @param offsetMicros what is added to this host's time, to make it the coordinator's
   */
  public LoadClock(long offsetMicros) {
    long before = System.nanoTime();
    java.time.Instant now = java.time.Instant.now();
    nanos = before;
    epochMicros =
        TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1000 + offsetMicros;
  }

  /** The time now. */
  public long micros() {
    return micros(System.nanoTime());
  }

  /** The time at a value of {@link System#nanoTime}. */
  public long micros(long nanoTime) {
    return epochMicros + (nanoTime - nanos) / 1000;
  }

  /** The value of {@link System#nanoTime} at a time. */
  public long nanoTime(long micros) {
    return nanos + (micros - epochMicros) * 1000;
  }
}
