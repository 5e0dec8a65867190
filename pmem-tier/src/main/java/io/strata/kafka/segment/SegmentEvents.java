package io.strata.kafka.segment;

import io.strata.kafka.segment.view.Residence;
import java.io.IOException;

/**
 * Notifies a segment's owner of what happens to it, and asks the owner before it changes.
 *
 * <p>The methods for an append, a read, an eviction or a failure may be called under the segment's
 * writer lock: an implementation must be cheap, must not block, must not throw, and must not call
 * back into the segment's channels. The others are called by the thread that reads or changes,
 * without a lock.
 *
 * <p>Thread safety: implementations must be safe for use by any number of threads.
 */
public interface SegmentEvents {

  /** Ignores and allows everything. */
  SegmentEvents NONE = new SegmentEvents() {};

  /**
   * Bytes have become part of a segment.
   *
   * @param bytes how many, over 0, wherever they went
   * @param nanos how long the call took, waiting for the writer lock included
   * @param ended when it ended, by {@link System#nanoTime}
   */
  default void appended(long bytes, long nanos, long ended) {}

  /**
   * Bytes have been read from a segment or transferred to another channel.
   *
   * @param nanos how long the call took; for a transfer to a blocking target most of it is the
   *     target's
   */
  default void read(long bytes, long nanos) {}

  /** The log file had this part of the bytes of a {@link #read}. Called before it. */
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
   * bytes too.
   *
   * @param bytes their space, over 0
   * @param atOnce whether an append or a copy needed the space
   */
  default void evicted(long bytes, boolean atOnce) {}

  /**
   * The segment has left its slot, which is free; its log file has all bytes and, still, the slot's
   * tag. Called under the writer lock, before anyone sees that: a change that finds the segment in
   * its log file comes after this.
   */
  default void left(Residence in) {}

  /**
   * Extents that are no longer read could not be given back to the pool. They stay out of use until
   * a later attempt succeeds, or the pool is opened again; nothing else is lost.
   */
  default void releaseFailed(Segment segment, long bytes, IOException cause) {}

  /** The segment is about to be written to, unless this throws. May do I/O. */
  default void appending() throws IOException {}

  /**
   * Bytes of an append have been forced in the log file, and the append is acknowledged next: what
   * leads to the file must be durable too. May do I/O.
   *
   * @throws IOException when it cannot be made so: the append is not acknowledged
   */
  default void forcedInLogFile() throws IOException {}

  /** The segment is about to be truncated, unless this throws. May do I/O. */
  default void truncating() throws IOException {}

  /** The segment's bytes have changed, or where they are. Must be quick, and must not throw. */
  default void changed() {}

  /** The last channel on the segment has been closed. Must not throw. */
  default void idle() {}
}
