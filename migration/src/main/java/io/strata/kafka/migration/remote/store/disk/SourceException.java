package io.strata.kafka.migration.remote.store.disk;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/**
 * Says that the source of a copy could not be read: no fault of the directory that was to get the
 * copy, and no sign that the store lacks something.
 */
public final class SourceException extends IOException {
  private static final long serialVersionUID = 1L;

  private final IOException failure;

  /** Wraps what the source's files or its manager threw. */
  public SourceException(IOException failure) {
    super(describe(failure), failure);
    this.failure = failure;
  }

  private static String describe(IOException failure) {
    if (failure instanceof NoSuchFileException missing) {
      return missing.getFile() + " is not there any more: it was deleted while it was copied";
    }
    return failure instanceof FileSystemException
        ? StoreDirectory.reason(failure)
        : String.valueOf(failure.getMessage());
  }

  /** Returns what was thrown. */
  public IOException failure() {
    return failure;
  }

  /** Reads what is to be copied. */
  @FunctionalInterface
  public interface Reading<T> {
    T run() throws IOException, InterruptedException;
  }

  /** Reads; a cancellation passes as it is. */
  public static <T> T reading(Reading<T> reading) throws IOException, InterruptedException {
    try {
      return reading.run();
    } catch (IOException e) {
      throw Cancellation.is(e) ? e : new SourceException(e);
    }
  }
}
