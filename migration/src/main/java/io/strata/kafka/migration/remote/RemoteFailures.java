package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.NoSpaceException;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.calls.TimeLimitException;
import io.strata.kafka.migration.remote.cold.RetriableFailures;
import io.strata.kafka.migration.remote.store.BytePace;
import io.strata.kafka.migration.remote.store.CorruptChunkException;
import io.strata.kafka.migration.remote.store.CorruptManifestException;
import io.strata.kafka.migration.remote.store.IndexMissingException;
import io.strata.kafka.migration.remote.store.SegmentMissingException;
import io.strata.kafka.migration.remote.store.StoreFullException;
import io.strata.kafka.migration.remote.store.StoreUnavailableException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

/** What went wrong, in the exceptions that KIP-405 asks for. */
final class RemoteFailures {
  private RemoteFailures() {}

  static Cause cause(Throwable failure) {
    if (failure instanceof StoreFullException) {
      return Cause.FULL;
    }
    if (failure instanceof TimeLimitException) {
      return Cause.TIMEOUT;
    }
    if (failure instanceof SegmentMissingException
        || failure instanceof IndexMissingException
        || failure instanceof NoSuchFileException) {
      return Cause.NOT_FOUND;
    }
    if (failure instanceof CorruptChunkException || failure instanceof CorruptManifestException) {
      return Cause.CORRUPT;
    }
    if (failure instanceof StoreUnavailableException) {
      return Cause.UNAVAILABLE;
    }
    if (failure instanceof ColdFailure) {
      return Cause.COLD;
    }
    if (failure instanceof InterruptedException
        || failure instanceof InterruptedIOException
        || failure instanceof ClosedByInterruptException
        || failure instanceof BytePace.CopyCancelledException) {
      return Cause.CANCELLED;
    }
    if (NoSpaceException.isCauseOf(failure)) {
      return Cause.FULL;
    }
    return isFault(failure) || (failure.getCause() != null && isError(failure.getCause()))
        ? Cause.FAULT
        : Cause.IO;
  }

  private static boolean isFault(Throwable failure) {
    return failure instanceof RuntimeException || isError(failure);
  }

  /** An {@link InternalError} is a fault under a mapping: an error of input or output. */
  private static boolean isError(Throwable failure) {
    return failure instanceof Error && !(failure instanceof InternalError);
  }

  /**
   * The exception for Kafka.
   *
   * @param what was being done to which segment: topic, partition, offsets
   */
  static RemoteStorageException translate(String what, Throwable failure) {
    String message = what + ": " + describe(failure);
    return switch (cause(failure)) {
      case NOT_FOUND -> new RemoteResourceNotFoundException(message, failure);
      case CORRUPT, FAULT -> new RemoteStorageException(message, failure);
      case COLD ->
          failure instanceof ColdFailure cold && !cold.retriable()
              ? new RemoteStorageException(message, failure)
              : RetriableFailures.create(message, failure);
      case FULL, TIMEOUT, UNAVAILABLE, CANCELLED, IO -> RetriableFailures.create(message, failure);
    };
  }

  /** A file system exception's message is the file alone. */
  static String describe(Throwable failure) {
    if (failure instanceof NoSuchFileException missing) {
      return missing.getFile() + " is not there";
    }
    if (failure instanceof FileSystemException fs) {
      return fs.getFile()
          + ": "
          + (fs.getReason() == null ? fs.getClass().getName() : fs.getReason());
    }
    if (failure instanceof InterruptedException) {
      return "the thread was interrupted: Kafka gave the operation up";
    }
    return failure instanceof IOException && failure.getMessage() != null
        ? String.valueOf(failure.getMessage())
        : failure.toString();
  }
}
