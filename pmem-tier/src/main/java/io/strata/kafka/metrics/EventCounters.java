package io.strata.kafka.metrics;

import io.strata.kafka.migration.LatencyWindow;
import io.strata.kafka.migration.MigrationStats.Latency;
import io.strata.kafka.segment.SegmentEvents;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Counts what segments do.
 *
 * <p>Thread safety: safe for use by any number of threads; no call blocks, and each costs tens of
 * nanoseconds.
 */
public final class EventCounters implements SegmentEvents {

  private final LongAdder appendedBytes = new LongAdder();
  private final LongAdder readBytes = new LongAdder();
  private final LongAdder logFileReadBytes = new LongAdder();
  private final LatencyWindow appends;
  private final LatencyWindow reads;

  /** All at zero. */
  public EventCounters() {
    this(System::nanoTime);
  }

  EventCounters(LongSupplier nanoClock) {
    this.appends = new LatencyWindow(nanoClock);
    this.reads = new LatencyWindow(nanoClock);
  }

  @Override
  public void appended(long bytes, long nanos) {
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

  long appendedBytes() {
    return appendedBytes.sum();
  }

  long readBytes() {
    return readBytes.sum();
  }

  /** The part of {@link #readBytes} that came from log files. */
  long logFileReadBytes() {
    return logFileReadBytes.sum();
  }

  /** Appends, and how long they took. */
  Latency appendLatency() {
    return appends.latency();
  }

  /** Reads, and how long they took. */
  Latency readLatency() {
    return reads.latency();
  }
}
