package io.strata.kafka.metrics;

import io.strata.kafka.segment.SegmentEvents;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Counts what segments do.
 *
 * <p>Thread safety: safe for use by any number of threads; no call blocks, and each costs tens of
 * nanoseconds.
 */
public final class EventCounters implements SegmentEvents {
  private static final Duration INTERVAL = Duration.ofSeconds(10);

  private final LongAdder appends = new LongAdder();
  private final LongAdder appendedBytes = new LongAdder();
  private final LongAdder reads = new LongAdder();
  private final LongAdder readBytes = new LongAdder();
  private final LongAdder homeReadBytes = new LongAdder();
  private final LongAdder spills = new LongAdder();
  private final LongAdder spilledBytes = new LongAdder();
  private final Latencies appendLatencies;
  private final Latencies readLatencies;

  /** All at zero. */
  public EventCounters() {
    this(System::nanoTime);
  }

  EventCounters(LongSupplier nanoClock) {
    this.appendLatencies = new Latencies(INTERVAL, nanoClock);
    this.readLatencies = new Latencies(INTERVAL, nanoClock);
  }

  @Override
  public void appended(long bytes, long nanos) {
    appends.increment();
    appendedBytes.add(bytes);
    appendLatencies.record(nanos);
  }

  @Override
  public void read(long bytes, long nanos) {
    reads.increment();
    readBytes.add(bytes);
    readLatencies.record(nanos);
  }

  @Override
  public void readAtHome(long bytes) {
    homeReadBytes.add(bytes);
  }

  @Override
  public void spilled(long bytes, boolean first) {
    if (first) {
      spills.increment();
    }
    spilledBytes.add(bytes);
  }

  long appends() {
    return appends.sum();
  }

  long appendedBytes() {
    return appendedBytes.sum();
  }

  long reads() {
    return reads.sum();
  }

  long readBytes() {
    return readBytes.sum();
  }

  /** Of {@link #readBytes}, those that came from home. */
  long homeReadBytes() {
    return homeReadBytes.sum();
  }

  /** Segments that have been spilled for the first time since they were placed. */
  long spills() {
    return spills.sum();
  }

  long spilledBytes() {
    return spilledBytes.sum();
  }

  Latencies appendLatencies() {
    return appendLatencies;
  }

  Latencies readLatencies() {
    return readLatencies;
  }
}
