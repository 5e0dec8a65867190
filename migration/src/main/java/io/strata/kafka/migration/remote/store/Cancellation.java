package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;

/** Tells a failure from the end of work that nobody waits for any more. */
final class Cancellation {
  private Cancellation() {}

  static boolean is(IOException failure) {
    return failure instanceof BytePace.CopyCancelledException
        || failure instanceof InterruptedIOException
        || failure instanceof ClosedByInterruptException;
  }
}
