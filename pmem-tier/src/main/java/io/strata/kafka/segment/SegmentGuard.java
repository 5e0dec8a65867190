package io.strata.kafka.segment;

import java.io.IOException;

/**
 * What a segment's owner does before the segment changes, and when it is not used any more. It may
 * refuse a change, by an exception, and may do I/O where no lock is held.
 *
 * <p>Thread safety: implementations must be safe for use by any number of threads.
 */
public interface SegmentGuard {

  /** Allows everything. */
  SegmentGuard NONE = new SegmentGuard() {};

  /**
   * A segment is about to be written to. Called by the thread that writes, without a lock.
   *
   * @throws IOException when it must not be
   */
  default void appending(Segment segment) throws IOException {}

  /**
   * Bytes of an append have been forced in the log file, and the append is acknowledged next: what
   * leads to the file must be durable, too. Called by the thread that writes, without a lock.
   *
   * @throws IOException when it cannot be made so: the append is not acknowledged
   */
  default void forcedInLogFile(Segment segment) throws IOException {}

  /**
   * A segment is about to be truncated. Called by the thread that truncates, without a lock.
   *
   * @throws IOException when it must not be
   */
  default void truncating(Segment segment) throws IOException {}

  /**
   * A segment's bytes have changed, or where they are. Called by the thread that did it, without a
   * lock; must be quick, and must not throw.
   */
  default void changed(Segment segment) {}

  /**
   * The last channel on a segment has been closed. Called by the thread that closes it, without a
   * lock; must not throw.
   */
  default void idle(Segment segment) {}
}
