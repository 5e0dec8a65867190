package io.strata.kafka.migration.remote.calls;

/** The control that a piece of work asks between its steps. */
@FunctionalInterface
public interface CallControl {

  /** Has no deadline. */
  CallControl PATIENT = () -> false;

  /**
   * Returns whether the caller no longer waits for the result: the work is to stop and to clean up.
   */
  boolean isCancelled();
}
