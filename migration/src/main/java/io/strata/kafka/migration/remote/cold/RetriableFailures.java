package io.strata.kafka.migration.remote.cold;

import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException;

/**
 * Says to Kafka that a later try may succeed: from 4.2 on by an exception of its own, which an
 * older Kafka does not have, and whose place a plain {@link RemoteStorageException} takes there.
 *
 * <p>No other class may name that exception: what links to it cannot be used with an older Kafka.
 */
public final class RetriableFailures {

  private static final boolean KNOWN = known();

  private RetriableFailures() {}

  private static boolean known() {
    try {
      Class<?> unused =
          Class.forName(
              "org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException",
              false,
              RetriableFailures.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** A failure that a later try may not meet again. */
  public static RemoteStorageException create(String message, Throwable cause) {
    return KNOWN ? Known.create(message, cause) : new RemoteStorageException(message, cause);
  }

  /**
   * Whether Kafka, or another manager, takes the failure for one that a later try may not meet
   * again.
   */
  public static boolean isRetriable(Throwable failure) {
    return KNOWN && Known.isInstance(failure);
  }

  /** Is loaded only where Kafka has the exception. */
  private static final class Known {
    private Known() {}

    static RemoteStorageException create(String message, Throwable cause) {
      return new RetriableRemoteStorageException(message, cause);
    }

    static boolean isInstance(Throwable failure) {
      return failure instanceof RetriableRemoteStorageException;
    }
  }
}
