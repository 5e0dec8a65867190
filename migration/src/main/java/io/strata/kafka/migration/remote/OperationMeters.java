package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.LatencyWindow;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationStats;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Counts what Kafka asks for.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class OperationMeters {

  private static final class Meter {
    private final LongAdder count = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final AtomicInteger running = new AtomicInteger();
    private final LatencyWindow latency;
    private final Map<Cause, LongAdder> failures = new EnumMap<>(Cause.class);

    Meter(LongSupplier nanoTime) {
      latency = new LatencyWindow(nanoTime);
      for (Cause cause : Cause.values()) {
        failures.put(cause, new LongAdder());
      }
    }
  }

  private final Map<Operation, Meter> meters = new EnumMap<>(Operation.class);
  private final LongSupplier nanoTime;

  OperationMeters(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    for (Operation operation : Operation.values()) {
      meters.put(operation, new Meter(nanoTime));
    }
  }

  private Meter of(Operation operation) {
    Meter meter = meters.get(operation);
    if (meter == null) {
      throw new IllegalStateException(operation + " has no meter");
    }
    return meter;
  }

  /** One operation under way; it ends by one of {@link #done} and {@link #failed}. */
  final class Run {
    private final Meter meter;
    private final long began = nanoTime.getAsLong();

    private Run(Meter meter) {
      this.meter = meter;
      int unused = meter.running.incrementAndGet();
    }

    /** How long it took is counted now, though it goes on. */
    void latency() {
      meter.latency.record(nanoTime.getAsLong() - began);
    }

    void done(long bytes) {
      int unused = meter.running.decrementAndGet();
      meter.count.increment();
      meter.bytes.add(bytes);
    }

    void failed(Cause cause) {
      int unused = meter.running.decrementAndGet();
      LongAdder failures = meter.failures.get(cause);
      if (failures != null) {
        failures.increment();
      }
    }
  }

  Run begin(Operation operation) {
    return new Run(of(operation));
  }

  Map<Operation, OperationStats> stats() {
    Map<Operation, OperationStats> stats = new HashMap<>();
    meters.forEach(
        (operation, meter) -> {
          Map<Cause, Long> failures = new HashMap<>();
          meter.failures.forEach((cause, count) -> failures.put(cause, count.sum()));
          stats.put(
              operation,
              new OperationStats(
                  meter.count.sum(),
                  meter.bytes.sum(),
                  meter.running.get(),
                  meter.latency.latency(),
                  failures));
        });
    return stats;
  }
}
