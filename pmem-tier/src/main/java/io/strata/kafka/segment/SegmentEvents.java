package io.strata.kafka.segment;

import java.io.IOException;

/**
 * Callbacks for metrics on the append and read paths.
 *
 * <p>An append's are called under the segment's writer lock: an implementation must be cheap, must
 * not block, must not throw, and must not call back into the segment's channels. Who has to act on
 * what happens, or to refuse it, is a {@link SegmentGuard}.
 *
 * <p>Thread safety: implementations must be safe for use by any number of threads.
 */
public interface SegmentEvents {

  /** Ignores everything. */
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
   * Of the bytes of a {@link #read}, these came from the log file. Called before it.
   *
   * @param bytes how many, over 0
   */
  default void readInLogFile(long bytes) {}

  /**
   * Bytes have gone to the log file because the pool had no space for them.
   *
   * @param bytes how many; 0 when the log file refused
   * @param first whether the segment was wholly in the pool until now
   */
  default void spilled(long bytes, boolean first) {}

  /**
   * Extents of a segment that stays in its pool are free for others, since the log file has their
   * bytes, too.
   *
   * @param bytes their space, over 0
   * @param atOnce whether an append or a copy needed the space
   */
  default void evicted(long bytes, boolean atOnce) {}

  /**
   * The pool of a segment that is written through has failed: the segment goes on in its log file,
   * which has all its bytes.
   *
   * @param cause why
   */
  default void leftCache(Segment segment, IOException cause) {}

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
