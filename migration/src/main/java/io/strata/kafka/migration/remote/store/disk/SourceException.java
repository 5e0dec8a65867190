package io.strata.kafka.migration.remote.store.disk;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/**
 * Says that the source of a copy could not be read: no fault of the directory that was to get the
 * copy, and no sign that the store lacks something.
 */
public final class SourceException extends IOException {
  private static final long serialVersionUID = 1L;

  private final IOException failure;

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

  /** Tells a failure from the end of work that nobody waits for any more. */
  public static boolean isCancellation(IOException failure) {
    return failure instanceof BytePace.CopyCancelledException
        || failure instanceof InterruptedIOException
        || failure instanceof ClosedByInterruptException;
  }

  public IOException failure() {
    return failure;
  }

  /** Reads what is to be copied; a cancellation passes as it is. */
  public static <T> T reading(Deadlines.Plain<T> reading) throws IOException, InterruptedException {
    try {
      return reading.run();
    } catch (IOException e) {
      throw isCancellation(e) ? e : new SourceException(e);
    }
  }
}
