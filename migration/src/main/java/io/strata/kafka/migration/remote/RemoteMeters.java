package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.LatencyWindow;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationStats;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

/**
 * Counts what Kafka asks for, and the bytes of each level.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class RemoteMeters {

  /** Bytes of one level: copied there and deleted there for Kafka, and read from there. */
  record Level(LongAdder copied, LongAdder fetched, LongAdder deleted) {
    private Level() {
      this(new LongAdder(), new LongAdder(), new LongAdder());
    }
  }

  private final class Meter {
    private final LongAdder count = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final AtomicInteger running = new AtomicInteger();
    private final LatencyWindow latency = new LatencyWindow(nanoTime);
    private final Map<Cause, LongAdder> failures = new ConcurrentHashMap<>();

    private LongAdder failures(Cause cause) {
      return failures.computeIfAbsent(cause, none -> new LongAdder());
    }

    private OperationStats stats() {
      Map<Cause, Long> failed = new EnumMap<>(Cause.class);
      for (Cause cause : Cause.values()) {
        failed.put(cause, failures(cause).sum());
      }
      return new OperationStats(count.sum(), bytes.sum(), running.get(), latency.latency(), failed);
    }
  }

  private final LongSupplier nanoTime;
  private final RetriedFailures retried;
  private final List<Level> levels;
  private final Map<Operation, Meter> meters = new ConcurrentHashMap<>();

  /**
   * Of a store.
   *
   * @param levels how many levels it has of its own; one more is counted, for the cold manager
   * @param retried learns of each failure
   */
  RemoteMeters(LongSupplier nanoTime, int levels, RetriedFailures retried) {
    this.nanoTime = nanoTime;
    this.retried = retried;
    this.levels = Stream.generate(Level::new).limit(levels + 1).toList();
  }

  /** A level, fastest first. */
  Level level(int level) {
    return levels.get(level);
  }

  /** The cold manager's level. */
  Level cold() {
    return levels.get(levels.size() - 1);
  }

  private Meter of(Operation operation) {
    return meters.computeIfAbsent(operation, none -> new Meter());
  }

  /** One operation under way; it ends by one of {@link #done} and {@link #failed}. */
  final class Run {
    private final Operation operation;
    private final String what;
    private final Meter meter;
    private final long began = nanoTime.getAsLong();

    private Run(Operation operation, String what) {
      this.operation = operation;
      this.what = what;
      this.meter = of(operation);
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

    /** Counts a failure, logs it where Kafka does not, and puts it in Kafka's words. */
    RemoteStorageException failed(Throwable failure) {
      int unused = meter.running.decrementAndGet();
      Cause cause = RemoteFailures.cause(failure);
      meter.failures(cause).increment();
      RemoteStorageException told = RemoteFailures.translate(what, failure);
      retried.failed(operation, cause, told);
      return told;
    }
  }

  /**
   * Begins an operation.
   *
   * @param what is being done to which segment: topic, partition, offsets
   */
  Run begin(Operation operation, String what) {
    return new Run(operation, what);
  }

  Map<Operation, OperationStats> stats() {
    Map<Operation, OperationStats> stats = new EnumMap<>(Operation.class);
    for (Operation operation : Operation.values()) {
      stats.put(operation, of(operation).stats());
    }
    return stats;
  }
}
