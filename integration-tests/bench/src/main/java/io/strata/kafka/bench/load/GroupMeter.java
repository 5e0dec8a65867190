package io.strata.kafka.bench.load;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** Counts what the clients of one group do on this host. */
final class GroupMeter {
  /** Latencies above are counted as this, and the group has failed: a day, in microseconds. */
  static final long HIGHEST = 86_400_000_000L;

  /** As far as clocks of two hosts may differ; more below 0 is counted as 0, and has failed. */
  private static final long SKEW_MICROS = 5_000;

  private static final int DIGITS = 3;
  private static final int MOST_RECORDERS = 8;

  private final Recorder[] recorders;
  private final LongAdder records = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private volatile Optional<String> firstError = Optional.empty();
  private final AtomicLong endNanos = new AtomicLong(Long.MIN_VALUE);
  private final Histogram[] taken;
  private long takenRecords;
  private long takenBytes;
  private long takenErrors;

  GroupMeter(int clients) {
    recorders = new Recorder[Math.min(clients, MOST_RECORDERS)];
    taken = new Histogram[recorders.length];
    for (int i = 0; i < recorders.length; i++) {
      recorders[i] = new Recorder(HIGHEST, DIGITS);
      taken[i] = recorders[i].getIntervalHistogram();
    }
  }

  /** Counts a record that has been acknowledged or read. */
  void record(int client, long latencyMicros, long recordBytes, long nowNanos) {
    if (latencyMicros < -SKEW_MICROS || latencyMicros > HIGHEST) {
      failed(
          "found a latency of %d ms, expected one from 0 to a day: the clocks of hosts may differ"
              .formatted(latencyMicros / 1000));
    }
    recorders[client % recorders.length].recordValue(Math.max(0, Math.min(latencyMicros, HIGHEST)));
    records.increment();
    bytes.add(recordBytes);
    // Only the end counts: most calls leave it alone.
    if (nowNanos - 1_000_000 > endNanos.get()) {
      workedUntil(nowNanos);
    }
  }

  /** Counts a record that was not acknowledged. */
  void error(Throwable cause) {
    errors.increment();
    failed(cause.toString());
  }

  /** Notes why the group's figures are not to be used. */
  synchronized void failed(String why) {
    if (firstError.isEmpty()) {
      firstError = Optional.of(why);
    }
  }

  Optional<String> firstError() {
    return firstError;
  }

  /** Says that a client was at work until then, by nanoTime, whatever it has counted. */
  void workedUntil(long nanos) {
    endNanos.accumulateAndGet(nanos, Math::max);
  }

  /**
   * Returns the end of the group's work by nanoTime: its last record, to a millisecond, or the end
   * of its time if that is later; the given value if none.
   */
  long endNanos(long none) {
    long end = endNanos.get();
    return end == Long.MIN_VALUE ? none : end;
  }

  /** All since the last call. Called by one thread. */
  GroupInterval take() {
    Histogram all = new Histogram(HIGHEST, DIGITS);
    for (int i = 0; i < recorders.length; i++) {
      taken[i] = recorders[i].getIntervalHistogram(taken[i]);
      all.add(taken[i]);
    }
    long nowRecords = records.sum();
    long nowBytes = bytes.sum();
    long nowErrors = errors.sum();
    GroupInterval interval =
        new GroupInterval(
            nowRecords - takenRecords, nowBytes - takenBytes, nowErrors - takenErrors, all);
    takenRecords = nowRecords;
    takenBytes = nowBytes;
    takenErrors = nowErrors;
    return interval;
  }
}
