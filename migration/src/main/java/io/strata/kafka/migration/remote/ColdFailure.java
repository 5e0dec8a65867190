package io.strata.kafka.migration.remote;

import java.io.IOException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

/** The cold manager failed: the message says which one, and what it was asked. */
final class ColdFailure extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean retriable;

  ColdFailure(String message, Throwable cause, boolean retriable) {
    super(message, cause);
    this.retriable = retriable;
  }

  /**
   * Of what the manager threw, or what became of its call.
   *
   * @param what the manager and what it was asked
   */
  static ColdFailure of(String what, Throwable thrown) {
    boolean ofKafka = thrown instanceof RemoteStorageException && thrown.getMessage() != null;
    return new ColdFailure(
        what + ": " + (ofKafka ? thrown.getMessage() : thrown),
        thrown,
        RemoteFailures.isRetriable(thrown)
            // A stream that breaks off, a call that ran out of its time: the next may be better.
            || thrown instanceof IOException
            || thrown instanceof RetriableException);
  }

  /** Whether a retry may succeed. */
  boolean retriable() {
    return retriable;
  }
}
