package io.strata.kafka.memory;

/**
 * The end of the process as a test stages it: thrown by a {@link RecordingMemory} at the persist
 * point that it was told to crash at, and by every call on that memory from then on. An error, so
 * that no handler of exceptions takes it for a failure of the medium.
 */
public final class CrashError extends Error {
  private static final long serialVersionUID = 1;

  CrashError(long persistPoint) {
    super("crash before persist point " + persistPoint);
  }
}
