package io.strata.kafka.memory;

/**
 * Hears how far a long operation has come.
 *
 * <p>Called by the thread that runs the operation, at least once when it is done.
 */
@FunctionalInterface
public interface ProgressListener {
  ProgressListener NONE = (done, total) -> {};

  /**
   * Called from time to time.
   *
   * @param done bytes done so far, from 0 to {@code total}
   */
  void progress(long done, long total);
}
