package io.strata.kafka.segment;

/**
 * The pace of a copy, which the copy asks on its way.
 *
 * <p>Thread safety: used by the copying thread.
 */
public interface CopyPace {

  /** A step that a copy has taken. */
  enum Step {
    /** The bytes are written. */
    COPIED,
    /** They are durable. */
    FORCED,
    /** They have been read back and are the same. */
    VERIFIED
  }

  /** Neither waits nor stops. */
  CopyPace FREE = new CopyPace() {};

  /** Returns whether the copy is to end as soon as it can. */
  default boolean stopped() {
    return false;
  }

  /** The most bytes that a copy to the log file takes; it ends where a batch does. */
  default long pieceBytes() {
    return Long.MAX_VALUE;
  }

  /** Waits until {@code bytes} may be copied; called without any lock. */
  default void before(long bytes) throws InterruptedException {}

  /** Bytes have been written to the log file, and not forced yet; called without any lock. */
  default void written(long position, long length) {}

  /** A step has been taken. */
  default void reached(Step step) {}
}
