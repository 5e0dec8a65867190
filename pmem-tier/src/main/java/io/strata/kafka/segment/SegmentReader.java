package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;

/**
 * Reads the bytes of a view: the log file up to where the pool's extents begin, these up to the
 * spill offset, and the log file from there on.
 *
 * <p>Takes no lock. The caller keeps the view's extents from being given to another segment
 * meanwhile (the {@link ReaderGate}), or checks afterwards that they were not.
 *
 * <p>Thread safety: stateless; safe for use by any thread.
 */
final class SegmentReader {

  /**
   * Reads up to {@code target}'s limit or {@code size}, whichever is first.
   *
   * @param size what the view's size was, over {@code position}
   * @return the number of bytes; fewer than asked for only if the log file ends before {@code
   *     size}. On an exception the target's position is as before
   * @throws PoolReadException if the pool fails
   */
  int read(HotView view, long size, ByteBuffer target, long position, FileChannel logFile)
      throws IOException {
    int start = target.position();
    int limit = target.limit();
    int length = (int) Math.min(target.remaining(), size - position);
    long end = position + length;
    long poolStart = view.poolStart();
    long poolEnd = view.poolEnd(size);
    boolean done = false;
    try {
      target.limit(start + length);
      long at = position;
      if (at < poolStart) {
        at = readLogFile(target, at, Math.min(end, poolStart), logFile);
      }
      if (at >= poolStart && at < Math.min(end, poolEnd)) {
        int inPool = (int) (Math.min(end, poolEnd) - at);
        loadFromPool(view, at, target, inPool);
        at += inPool;
      }
      if (at >= Math.max(poolStart, poolEnd) && at < end) {
        at = readLogFile(target, at, end, logFile);
      }
      done = true;
      return (int) (at - position);
    } finally {
      target.limit(limit);
      if (!done) {
        target.position(start);
      }
    }
  }

  private static void loadFromPool(HotView view, long at, ByteBuffer target, int length)
      throws PoolReadException {
    try {
      view.pooled().load(view.extents(), at, target, length);
    } catch (IOException e) {
      throw new PoolReadException(e);
    }
  }

  /** The pool could not be read; the log file may have the bytes as well. */
  static final class PoolReadException extends IOException {
    private static final long serialVersionUID = 1L;

    private final IOException poolFailure;

    PoolReadException(IOException poolFailure) {
      super(poolFailure.getMessage(), poolFailure);
      this.poolFailure = poolFailure;
    }

    /** What the pool has thrown. */
    IOException poolFailure() {
      return poolFailure;
    }
  }

  /**
   * Reads up to {@code end}, and returns how far it came: less far where the log file ends before.
   */
  private static long readLogFile(ByteBuffer target, long from, long end, FileChannel logFile)
      throws IOException {
    long at = from;
    int limit = target.limit();
    target.limit(target.position() + (int) (end - from));
    while (target.hasRemaining()) {
      int read = logFile.read(target, at);
      if (read <= 0) {
        break;
      }
      at += read;
    }
    target.limit(limit);
    return at;
  }

  /**
   * One attempt to write bytes that lie together to {@code target}.
   *
   * @param size what the view's size was, over {@code position}
   */
  long transferTo(
      HotView view,
      long size,
      long position,
      long count,
      WritableByteChannel target,
      FileChannel logFile)
      throws IOException {
    long poolEnd = view.poolEnd(size);
    if (position < view.poolStart()) {
      long end = Math.min(size, view.poolStart());
      return logFile.transferTo(position, Math.min(count, end - position), target);
    }
    if (position >= poolEnd) {
      return logFile.transferTo(position, Math.min(count, size - position), target);
    }
    long inPool = Math.min(count, poolEnd - position);
    return view.pooled().transferTo(view.extents(), position, inPool, target);
  }
}
