package io.strata.kafka.migration.remote.cold;

import java.io.IOException;
import java.util.Optional;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

/**
 * What another manager throws, in the words that Kafka asks for: what a retry can overcome stays
 * so, what is not found stays so, and everything else is a {@link RemoteStorageException} that says
 * which manager it comes from.
 */
final class ColdFailures {

  private ColdFailures() {}

  /**
   * Translates.
   *
   * @param what the manager and what it was asked
   */
  static RemoteStorageException translate(String what, Throwable thrown) {
    String message = what + ": " + Optional.ofNullable(thrown.getMessage()).orElse("" + thrown);
    if (thrown instanceof RemoteResourceNotFoundException) {
      return new RemoteResourceNotFoundException(message, thrown);
    }
    if (RetriableFailures.isRetriable(thrown)) {
      return RetriableFailures.create(message, thrown);
    }
    if (thrown instanceof RemoteStorageException) {
      return new RemoteStorageException(message, thrown);
    }
    String unexpected = what + ": " + thrown;
    // A stream that breaks off, a call that ran out of its time: the next may be better.
    return thrown instanceof IOException || thrown instanceof RetriableException
        ? RetriableFailures.create(unexpected, thrown)
        : new RemoteStorageException(unexpected, thrown);
  }
}
