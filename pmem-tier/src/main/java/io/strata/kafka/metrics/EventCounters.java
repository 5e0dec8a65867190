package io.strata.kafka.metrics;

import io.strata.kafka.migration.LatencyWindow;
import io.strata.kafka.segment.SegmentEvents;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Counts what segments do.
 *
 * <p>Thread safety: safe for use by any number of threads; no call blocks, and each costs tens of
 * nanoseconds.
 *
 * @param logFileReadBytes the part of {@code readBytes} that came from log files
 */
public record EventCounters(
    LongAdder appendedBytes,
    LongAdder readBytes,
    LongAdder logFileReadBytes,
    LatencyWindow appends,
    LatencyWindow reads)
    implements SegmentEvents {

  public EventCounters() {
    this(System::nanoTime);
  }

  EventCounters(LongSupplier nanoTime) {
    this(
        new LongAdder(),
        new LongAdder(),
        new LongAdder(),
        new LatencyWindow(nanoTime),
        new LatencyWindow(nanoTime));
  }

  @Override
  public void appended(long bytes, long nanos, long ended) {
    appendedBytes.add(bytes);
    appends.record(nanos);
  }

  @Override
  public void read(long bytes, long nanos) {
    readBytes.add(bytes);
    reads.record(nanos);
  }

  @Override
  public void readInLogFile(long bytes) {
    logFileReadBytes.add(bytes);
  }
}
