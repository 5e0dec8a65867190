package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.RateLimit;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.LevelMeter;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationMeter;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

/** Counts what Kafka asks for, and the bytes of each level. */
final class RemoteMeters {

  private final LongSupplier nanoTime;
  private final RetriedFailures retried;
  private final List<LevelMeter> levels;
  private final Map<Operation, OperationMeter> operations = new ConcurrentHashMap<>();

  /**
   * The meters of a store.
   *
   * @param levels how many levels it has of its own; one more is counted, for the cold manager
   */
  RemoteMeters(LongSupplier nanoTime, int levels, RetriedFailures retried) {
    this.nanoTime = nanoTime;
    this.retried = retried;
    this.levels = Stream.generate(LevelMeter::new).limit(levels + 1).toList();
    for (Operation operation : Operation.values()) {
      operations.put(operation, new OperationMeter(nanoTime));
    }
  }

  LevelMeter level(int level) {
    return levels.get(level);
  }

  LevelMeter cold() {
    return levels.get(levels.size() - 1);
  }

  /** One operation under way; it ends by one of {@link #done} and {@link #failed}. */
  final class Run {
    private final Operation operation;
    private final String what;
    private final OperationMeter meter;
    private final long began = nanoTime.getAsLong();

    private Run(Operation operation, String what) {
      this.operation = operation;
      this.what = what;
      this.meter = Objects.requireNonNull(operations.get(operation));
      int unused = meter.running().incrementAndGet();
    }

    /** Returns how long it has taken. */
    long tookNanos() {
      return nanoTime.getAsLong() - began;
    }

    /** Counts now how long it took, though it goes on. */
    void latency() {
      meter.latency().record(tookNanos());
    }

    void done(long bytes) {
      int unused = meter.running().decrementAndGet();
      meter.count().increment();
      meter.bytes().add(bytes);
    }

    /**
     * As {@link #failed}, for a consumer's read.
     *
     * @throws Outages.Unanswered if what it asks for is away
     */
    RemoteStorageException readFailed(Throwable failure) {
      RemoteStorageException translated = failed(failure);
      if (Outages.isAway(failure)) {
        throw new Outages.Unanswered(failure);
      }
      return translated;
    }

    /** Counts a failure, logs it where Kafka does not, and puts it in Kafka's words. */
    RemoteStorageException failed(Throwable failure) {
      int unused = meter.running().decrementAndGet();
      Cause cause = RemoteFailures.cause(operation, failure);
      Long unusedToo = meter.failures().merge(cause, 1L, Long::sum);
      RemoteStorageException translated = RemoteFailures.translate(what, failure, cause);
      retried.failed(operation, cause, translated);
      return translated;
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

  /** The counts of each kind. */
  Map<Operation, OperationMeter> operations() {
    return operations;
  }

  /**
   * A range on its way to Kafka: counted when it is closed, or when it failed.
   *
   * <p>Thread safety: for one thread, as streams are.
   */
  static final class FetchStream extends FilterInputStream {

    private final Run run;
    private final LongConsumer read;
    private final Outages outages;
    private long bytes;
    private boolean begun;
    private boolean ended;

    /**
     * A stream over a range.
     *
     * @param read gets how many bytes were read, when the stream is closed
     * @param outages what each read goes through
     */
    FetchStream(InputStream range, Run run, LongConsumer read, Outages outages) {
      super(range);
      this.run = run;
      this.read = read;
      this.outages = outages;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      try {
        int count = outages.read(run::tookNanos, false, () -> super.read(target, offset, length));
        bytes += Math.max(0, count);
        if (!begun) {
          begun = true;
          run.latency();
        }
        return count;
      } catch (Throwable e) {
        throw failed(e);
      }
    }

    /**
     * Names the segment in a failure. Kafka's threads take exceptions; an Error would end what they
     * do without a word.
     */
    private IOException failed(Throwable failure) {
      String message = failure.toString();
      if (!ended) {
        ended = true;
        message = String.valueOf(run.readFailed(failure).getMessage());
      }
      return failure instanceof InterruptedIOException interrupted
          ? interrupted
          : new IOException(message, failure);
    }

    @Override
    public void close() throws IOException {
      if (!ended) {
        ended = true;
        run.done(bytes);
        read.accept(bytes);
      }
      super.close();
    }
  }

  /**
   * Logs what Kafka does not: copies and deletions that it tries again, for why they failed it logs
   * at level DEBUG alone, and does not count them as failed (4.3.1); and faults, with where they
   * came from. All other failures it logs itself. Each cause is logged once a minute at most.
   */
  static final class RetriedFailures {

    private final LongSupplier nanoTime;
    private final BiConsumer<String, Optional<Throwable>> log;

    private final Map<Kind, RateLimit> kinds = new ConcurrentHashMap<>();

    /**
     * Has reported nothing yet.
     *
     * @param log takes each message, with the failure if that is a fault
     */
    RetriedFailures(LongSupplier nanoTime, BiConsumer<String, Optional<Throwable>> log) {
      this.nanoTime = nanoTime;
      this.log = log;
    }

    private record Kind(Operation operation, Cause cause) {}

    void failed(Operation operation, Cause cause, RemoteStorageException failure) {
      boolean isFault = cause == Cause.FAULT;
      boolean isTriedAgain =
          (operation == Operation.COPY || operation == Operation.DELETE)
              && cause != Cause.CANCELLED
              && RemoteFailures.isRetriable(failure);
      if (!isFault && !isTriedAgain) {
        return;
      }
      String and = isFault ? "This is a fault of Strata's or of the JVM's" : "Kafka tries again";
      kinds
          .computeIfAbsent(new Kind(operation, cause), kind -> new RateLimit(nanoTime))
          .ifDue(
              silent ->
                  log.accept(
                      failure.getMessage()
                          + ". "
                          + and
                          + (silent == 0
                              ? ""
                              : "; " + silent + " more failed so since this was last said"),
                      isFault ? Optional.of(failure) : Optional.empty()));
    }
  }
}
