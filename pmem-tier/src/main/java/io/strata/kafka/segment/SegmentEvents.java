package io.strata.kafka.segment;

import java.io.IOException;

/**
 * What a segment tells those who count.
 *
 * <p>Called on the append and read paths, an append's under the segment's writer lock: an
 * implementation must be cheap, must not block, must not throw, and must not call back into the
 * segment's channels. Safe for use by any number of threads.
 */
public interface SegmentEvents {

  /** Hears nothing. */
  SegmentEvents NONE = new SegmentEvents() {};

  /**
   * Bytes have become part of a segment.
   *
   * @param bytes how many, over 0, wherever they went
   * @param nanos how long the call took, waiting for the writer lock included
   */
  default void appended(long bytes, long nanos) {}

  /**
   * Bytes have been read from a segment or transferred to another channel.
   *
   * @param bytes how many, over 0
   * @param nanos how long the call took; for a transfer to a blocking target most of it is the
   *     target's
   */
  default void read(long bytes, long nanos) {}

  /**
   * Of the bytes of a {@link #read}, these came from home. Told before it.
   *
   * @param bytes how many, over 0
   */
  default void readAtHome(long bytes) {}

  /**
   * Bytes have gone to home because the pool had no room for them.
   *
   * @param bytes how many; 0 when home refused
   * @param first whether the segment was wholly in the pool until now
   */
  default void spilled(long bytes, boolean first) {}

  /**
   * A segment that a lower tier had, too, is about to be changed: that copy is of no use any more.
   */
  default void madeDirty(Segment segment) {}

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
   * @param length in bytes
   * @throws IOException when it must not be
   */
  default void truncating(Segment segment, long length) throws IOException {}

  /**
   * The last channel on a segment has been closed. Called by the thread that closes it, without a
   * lock.
   */
  default void idle(Segment segment) {}

  /**
   * Extents that nobody reads any more could not be given back to the pool. They stay out of use
   * until the pool is opened again; nothing else is lost.
   *
   * @param segment whose extents they were
   * @param bytes how many
   * @param cause why
   */
  default void releaseFailed(Segment segment, long bytes, IOException cause) {}
}
