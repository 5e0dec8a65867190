package io.strata.kafka.migration.remote.store.disk;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;

/** Tells a failure from the end of work that nobody waits for any more. */
public final class Cancellation {
  private Cancellation() {}

  public static boolean is(IOException failure) {
    return failure instanceof BytePace.CopyCancelledException
        || failure instanceof InterruptedIOException
        || failure instanceof ClosedByInterruptException;
  }
}
