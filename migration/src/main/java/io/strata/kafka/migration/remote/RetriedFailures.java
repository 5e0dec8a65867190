package io.strata.kafka.migration.remote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

/**
 * Logs what Kafka does not: copies and deletions that it tries again, for why they failed it logs
 * at level DEBUG alone, and does not count them as failed (4.3.1); and faults, with where they came
 * from. All other failures it logs itself. Each cause is logged once a minute at most.
 *
 * <p>Thread safety: may be called by any number of threads.
 */
final class RetriedFailures {

  private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoTime;
  private final BiConsumer<String, Optional<Throwable>> log;

  @GuardedBy("this")
  private final Map<Kind, Told> kinds = new HashMap<>();

  /**
   * Tells nothing yet.
   *
   * @param log takes each message, with the failure if that is a fault
   */
  RetriedFailures(LongSupplier nanoTime, BiConsumer<String, Optional<Throwable>> log) {
    this.nanoTime = nanoTime;
    this.log = log;
  }

  private record Kind(Operation operation, Cause cause) {}

  /**
   * When it was told last.
   *
   * @param silent how many were not told since
   */
  private record Told(long nanos, long silent) {}

  /** An operation failed for the cause. */
  void failed(Operation operation, Cause cause, RemoteStorageException failure) {
    boolean isFault = cause == Cause.FAULT;
    boolean isTriedAgain =
        (operation == Operation.COPY || operation == Operation.DELETE)
            && cause != Cause.CANCELLED
            && RemoteFailures.isRetriable(failure);
    if (!isFault && !isTriedAgain) {
      return;
    }
    long silent;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      Kind kind = new Kind(operation, cause);
      Told last = kinds.getOrDefault(kind, new Told(now - QUIET_NANOS, 0));
      if (now - last.nanos() < QUIET_NANOS) {
        kinds.put(kind, new Told(last.nanos(), last.silent() + 1));
        return;
      }
      silent = last.silent();
      kinds.put(kind, new Told(now, 0));
    }
    log.accept(
        failure.getMessage()
            + (isFault ? ". This is a fault of Strata's or of the JVM's" : ". Kafka tries again")
            + (silent == 0 ? "" : "; " + silent + " more failed so since this was last said"),
        isFault ? Optional.of(failure) : Optional.empty());
  }
}
