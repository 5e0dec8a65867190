package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.NoSpaceException;
import io.strata.kafka.migration.remote.ColdManager.ColdFailure;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.StoreReads.SegmentMissingException;
import io.strata.kafka.migration.remote.store.CopyPlacement.StoreFullException;
import io.strata.kafka.migration.remote.store.LogReads.IndexMissingException;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums.CorruptChunkException;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException;

/** Translates failures into the exceptions that KIP-405 asks for. */
final class RemoteFailures {

  private static final boolean KNOWS_RETRIABLE = knowsRetriable();

  /** The exceptions that say by their type why a call failed. */
  private static final Map<Class<? extends Throwable>, Cause> CAUSES =
      Map.ofEntries(
          Map.entry(StoreFullException.class, Cause.FULL),
          Map.entry(TimeLimitException.class, Cause.TIMEOUT),
          Map.entry(SegmentMissingException.class, Cause.NOT_FOUND),
          Map.entry(IndexMissingException.class, Cause.NOT_FOUND),
          Map.entry(NoSuchFileException.class, Cause.NOT_FOUND),
          Map.entry(CorruptChunkException.class, Cause.CORRUPT),
          Map.entry(CorruptManifestException.class, Cause.CORRUPT),
          Map.entry(StoreUnavailableException.class, Cause.UNAVAILABLE),
          Map.entry(ColdFailure.class, Cause.COLD),
          Map.entry(InterruptedException.class, Cause.CANCELLED),
          Map.entry(InterruptedIOException.class, Cause.CANCELLED),
          Map.entry(ClosedByInterruptException.class, Cause.CANCELLED),
          Map.entry(BytePace.CopyCancelledException.class, Cause.CANCELLED));

  private RemoteFailures() {}

  private static boolean knowsRetriable() {
    try {
      Class<?> unused =
          Class.forName(
              "org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException",
              false,
              RemoteFailures.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /**
   * Says to Kafka that a later try may succeed: from 4.2 on by an exception of its own, which an
   * older Kafka does not have. No other class may name that one: what links to it cannot be used
   * there.
   */
  private static final class Known {
    static RemoteStorageException create(String message, Throwable cause) {
      return new RetriableRemoteStorageException(message, cause);
    }

    static boolean isInstance(Throwable failure) {
      return failure instanceof RetriableRemoteStorageException;
    }
  }

  /**
   * Returns whether Kafka, or another manager, takes the failure for one that a later try may not
   * meet.
   */
  static boolean isRetriable(Throwable failure) {
    return KNOWS_RETRIABLE && Known.isInstance(failure);
  }

  /** Returns why an operation failed: a copy looks for nothing in the store. */
  static Cause cause(Operation operation, Throwable failure) {
    Cause cause = cause(failure);
    return operation == Operation.COPY && cause == Cause.NOT_FOUND ? Cause.IO : cause;
  }

  static Cause cause(Throwable failure) {
    Optional<Cause> known =
        CAUSES.entrySet().stream()
            .filter(entry -> entry.getKey().isInstance(failure))
            .map(Map.Entry::getValue)
            .findFirst();
    if (known.isPresent()) {
      return known.get();
    }
    if (NoSpaceException.isCauseOf(failure)) {
      return Cause.FULL;
    }
    return failure instanceof RuntimeException
            || isError(failure)
            || (failure.getCause() != null && isError(failure.getCause()))
        ? Cause.FAULT
        : Cause.IO;
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
  static RemoteStorageException translate(String what, Throwable failure, Cause cause) {
    String message = what + ": " + describe(failure);
    if (cause == Cause.NOT_FOUND) {
      return new RemoteResourceNotFoundException(message, failure);
    }
    boolean retriable =
        cause != Cause.CORRUPT
            && cause != Cause.FAULT
            && !(failure instanceof ColdFailure cold && !cold.retriable());
    return retriable && KNOWS_RETRIABLE
        ? Known.create(message, failure)
        : new RemoteStorageException(message, failure);
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
