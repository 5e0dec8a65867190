package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;

/**
 * A segment as {@link SegmentChannel} needs it: positional, unconditional, after all checks of
 * arguments. Each call brings the channel's own {@code home}, so that an interrupt or a close ends
 * one channel alone.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
interface SegmentBytes {

  /** For messages. */
  String name();

  /** Length in bytes. */
  long size(FileChannel home) throws IOException;

  /**
   * Reads as much as there is for {@code target}, which has room.
   *
   * @return the number of bytes, over 0, or -1 at or beyond the end
   */
  int read(ByteBuffer target, long position, FileChannel home) throws IOException;

  /**
   * One attempt to write up to {@code count} bytes to {@code target}: what lies together, as much
   * as the target takes.
   *
   * @return the number of bytes, from 0
   */
  long transferTo(long position, long count, WritableByteChannel target, FileChannel home)
      throws IOException;

  /**
   * Writes all of {@code source}; less, if home has no room for the rest.
   *
   * @return the number of bytes written, over 0 unless the source is empty
   */
  int write(ByteBuffer source, long position, FileChannel home) throws IOException;

  /** As {@link #write}, at the end. */
  int append(ByteBuffer source, FileChannel home) throws IOException;

  /** Cuts the segment to {@code length} bytes; without effect when it is not longer. */
  void truncate(long length, FileChannel home) throws IOException;

  /** Makes everything written before the call survive what the media can survive. */
  void force(boolean metaData, FileChannel home) throws IOException;

  /** Whether all bytes, now and later, are at home, so that home alone may be mapped. */
  boolean whollyAtHome();

  /** Home has been changed past this object. */
  void homeMayHaveGrown(FileChannel home) throws IOException;
}
