package io.strata.kafka.memory.calls;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/** Runs channel operations that an interrupt must neither end nor close. Stateless. */
public final class Interrupts {
  private Interrupts() {}

  /** An operation that gives a result or fails. */
  @FunctionalInterface
  public interface IoSupplier<T> {
    T get() throws IOException;
  }

  /**
   * Runs an operation that opens its own channel, again if an interrupt closed it, and leaves the
   * interrupt pending.
   */
  public static <T> T defer(IoSupplier<T> operation) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return operation.get();
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
