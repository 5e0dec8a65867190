package io.strata.kafka.migration.plan;

/**
 * The questions of a move while it copies.
 *
 * <p>Thread safety: used by the moving thread.
 */
public interface MoveControl {

  /** Neither waits nor stops. */
  MoveControl UNLIMITED = new MoveControl() {};

  /**
   * The most bytes that a copy to the log directories takes at once: large enough that the force at
   * its end costs little, and small enough that segments take turns and that little is copied in
   * vain when a copy is cancelled. A batch of records is never divided.
   */
  default long pieceBytes() {
    return 64 << 20;
  }

  /** Returns whether the move is to stop as soon as it can; asked before each piece. */
  default boolean cancelled() {
    return false;
  }

  /**
   * Waits until the rate limit lets {@code bytes} be copied. Called before each piece, and never
   * with a lock held that an append could wait for.
   *
   * @param bytes from 1 to 1 MiB
   */
  default void beforeCopying(long bytes) throws InterruptedException {}
}
