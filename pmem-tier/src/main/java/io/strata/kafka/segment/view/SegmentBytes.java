package io.strata.kafka.segment.view;

import io.strata.kafka.segment.SegmentChannel;
import io.strata.kafka.segment.SegmentEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;

/**
 * A segment as {@link SegmentChannel} needs it: positional, unconditional, after all checks of
 * arguments. Each call brings the channel's own {@code logFile}, so that an interrupt or a close
 * ends one channel alone.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public interface SegmentBytes {

  /** For messages. */
  String name();

  /** Length in bytes. */
  long size(FileChannel logFile) throws IOException;

  /**
   * Reads as much as there is for {@code target}, which has space.
   *
   * @return the number of bytes, over 0, or -1 at or beyond the end
   */
  int read(ByteBuffer target, long position, FileChannel logFile) throws IOException;

  /**
   * One attempt to write up to {@code count} bytes to {@code target}: what lies together, as much
   * as the target takes.
   *
   * @return the number of bytes, from 0
   */
  long transferTo(long position, long count, WritableByteChannel target, FileChannel logFile)
      throws IOException;

  /**
   * Writes all of {@code source}; less, if the log file has no space for the rest.
   *
   * @return the number of bytes written, over 0 unless the source is empty
   */
  int write(ByteBuffer source, long position, FileChannel logFile) throws IOException;

  /** As {@link #write}, at the end. */
  int append(ByteBuffer source, FileChannel logFile) throws IOException;

  /** Truncates the segment to {@code length} bytes; without effect when it is not longer. */
  void truncate(long length, FileChannel logFile) throws IOException;

  /** Makes everything written before the call survive what the media can survive. */
  void force(boolean metaData, FileChannel logFile) throws IOException;

  /**
   * Returns whether all bytes, now and later, are in the log file, so that the log file alone may
   * be mapped.
   */
  boolean whollyInLogFile();

  /** The log file has been changed past this object. */
  void logFileMayHaveGrown(FileChannel logFile) throws IOException;

  /** Is notified of each call that has read something; see {@link SegmentEvents#read}. */
  default void noteRead(long count, long nanos) {}

  /** Is notified of each call that has written something; see {@link SegmentEvents#appended}. */
  default void appended(long count, long nanos, long ended) {}

  /** Is notified of each call that may have changed the bytes. */
  default void changed() {}
}
