package io.strata.kafka.migration.remote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException;

/**
 * Tells the operator of copies and deletions that failed and that Kafka tries again: why they did,
 * Kafka logs at level DEBUG alone, and counts none of them as failed (4.3.1). All other failures it
 * logs itself. Each cause is told once a minute at most.
 *
 * <p>Thread safety: may be called by any number of threads.
 */
final class RetriedFailures {

  private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoTime;
  private final Consumer<String> log;

  @GuardedBy("this")
  private final Map<Kind, Told> kinds = new HashMap<>();

  /**
   * Tells nothing yet.
   *
   * @param log takes each message
   */
  RetriedFailures(LongSupplier nanoTime, Consumer<String> log) {
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
    boolean retriedInSilence =
        (operation == Operation.COPY || operation == Operation.DELETE)
            && failure instanceof RetriableRemoteStorageException
            && cause != Cause.CANCELLED;
    if (retriedInSilence) {
      tell(new Kind(operation, cause), String.valueOf(failure.getMessage()));
    }
  }

  private void tell(Kind kind, String message) {
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
        message
            + ". Kafka tries again"
            + (silent == 0 ? "" : "; " + silent + " more failed so since this was last said"));
  }
}
