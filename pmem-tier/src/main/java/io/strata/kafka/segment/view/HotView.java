package io.strata.kafka.segment.view;

import io.strata.kafka.pool.space.ExtentBytes;
import io.strata.kafka.pool.space.ExtentList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;

/**
 * The state of a segment that readers see: where its bytes are and how many there are.
 *
 * <p>Within one view only {@link #size()} changes, and it only grows: an append that fits the
 * extents costs one volatile store and no allocation. Whatever else happens (another extent, the
 * spill, a truncation) is a new view. A reader that takes the size and the places from the same
 * view therefore never combines two states.
 *
 * <p>Reading takes no lock. The caller keeps the view's extents from being given to another segment
 * meanwhile (the {@link ReaderGate}), or checks afterwards that they were not.
 *
 * <p>Thread safety: read by any thread; {@link #extendTo} under the writer lock.
 */
public final class HotView {

  private final ExtentBytes pooled;
  private final ExtentList extents;
  private final boolean spilled;

  /** Where the log file begins, when spilled. */
  private final long spillOffset;

  private volatile long size;

  private HotView(
      ExtentBytes pooled, ExtentList extents, boolean spilled, long spillOffset, long size) {
    this.pooled = pooled;
    this.extents = extents;
    this.spilled = spilled;
    this.spillOffset = spillOffset;
    this.size = size;
  }

  /** All bytes from the extents' start on are in the pool. */
  public static HotView inPool(ExtentBytes pooled, ExtentList extents, long size) {
    return new HotView(pooled, extents, false, 0, size);
  }

  /**
   * The bytes from the extents' start to {@code spillOffset} are in the pool, the others in the log
   * file.
   */
  public static HotView spilled(
      ExtentBytes pooled, ExtentList extents, long spillOffset, long size) {
    return new HotView(pooled, extents, true, spillOffset, size);
  }

  /** All bytes are in the log file. */
  public static HotView inLogFile(long size) {
    return new HotView(ExtentBytes.NONE, ExtentList.EMPTY, true, 0, size);
  }

  /** This view with another size. */
  public HotView withSize(long newSize) {
    return new HotView(pooled, extents, spilled, spillOffset, newSize);
  }

  /** This view with other extents. */
  public HotView withExtents(ExtentList newExtents) {
    return new HotView(pooled, newExtents, spilled, spillOffset, size);
  }

  /** The bytes of the pool that the extents are in. */
  public ExtentBytes pooled() {
    return pooled;
  }

  public ExtentList extents() {
    return extents;
  }

  /** Returns whether new bytes go to the log file. */
  public boolean spilled() {
    return spilled;
  }

  /** Bytes of the segment. */
  public long size() {
    return size;
  }

  /** The offset that the pool's bytes begin at: what is below is in the log file. */
  public long poolStart() {
    return extents.start();
  }

  /**
   * The offset that the pool's bytes end at: {@link #poolStart} or more, unless the segment is
   * being truncated below that.
   *
   * @param sizeSeen what {@link #size()} has returned to the caller
   */
  public long poolEnd(long sizeSeen) {
    return spilled ? Math.min(spillOffset, sizeSeen) : sizeSeen;
  }

  /** Publishes bytes that have been written; without effect when it is not an extension. */
  public void extendTo(long newSize) {
    if (newSize > size) {
      size = newSize;
    }
  }

  /**
   * Reads up to {@code target}'s limit or {@code size}, whichever is first.
   *
   * @param size what {@link #size()} was, over {@code position}
   * @return the number of bytes; fewer than asked for only if the log file ends before {@code
   *     size}. On an exception the target's position is as before
   */
  public int read(long size, ByteBuffer target, long position, FileChannel logFile)
      throws IOException {
    int start = target.position();
    int limit = target.limit();
    int length = (int) Math.min(target.remaining(), size - position);
    long end = position + length;
    long poolStart = poolStart();
    long poolEnd = poolEnd(size);
    boolean done = false;
    try {
      target.limit(start + length);
      long at = position;
      if (at < poolStart) {
        at = readLogFile(target, at, Math.min(end, poolStart), logFile);
      }
      if (at >= poolStart && at < Math.min(end, poolEnd)) {
        int inPool = (int) (Math.min(end, poolEnd) - at);
        pooled.load(extents, at, target, inPool);
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
   * @param size what {@link #size()} was, over {@code position}
   */
  public long transferTo(
      long size, long position, long count, WritableByteChannel target, FileChannel logFile)
      throws IOException {
    long poolEnd = poolEnd(size);
    if (position < poolStart()) {
      long end = Math.min(size, poolStart());
      return logFile.transferTo(position, Math.min(count, end - position), target);
    }
    if (position >= poolEnd) {
      return logFile.transferTo(position, Math.min(count, size - position), target);
    }
    long inPool = Math.min(count, poolEnd - position);
    return pooled.transferTo(extents, position, inPool, target);
  }
}
