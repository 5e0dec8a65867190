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
    boolean tried = operation == Operation.COPY || operation == Operation.DELETE;
    if (cause == Cause.FAULT) {
      String message = failure.getMessage() + ". This is a fault of Strata's or of the JVM's";
      tell(new Kind(operation, cause), message, Optional.of(failure));
    } else if (tried && RemoteFailures.isRetriable(failure) && cause != Cause.CANCELLED) {
      String message = failure.getMessage() + ". Kafka tries again";
      tell(new Kind(operation, cause), message, Optional.empty());
    }
  }

  private void tell(Kind kind, String message, Optional<Throwable> fault) {
    long silent;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      Told last = kinds.get(kind);
      if (last != null && now - last.nanos() < QUIET_NANOS) {
        kinds.put(kind, new Told(last.nanos(), last.silent() + 1));
        return;
      }
      silent = last == null ? 0 : last.silent();
      kinds.put(kind, new Told(now, 0));
    }
    log.accept(
        message + (silent == 0 ? "" : "; " + silent + " more failed so since this was last said"),
        fault);
  }
}
