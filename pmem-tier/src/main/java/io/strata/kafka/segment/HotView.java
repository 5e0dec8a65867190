package io.strata.kafka.segment;

import io.strata.kafka.pool.ExtentList;

/**
 * What readers see of a segment: where its bytes are and how many there are.
 *
 * <p>Within one view only {@link #size()} changes, and it only grows: an append that fits the
 * extents costs one volatile store and no allocation. Whatever else happens (another extent, the
 * spill, a truncation) is a new view. A reader that takes the size and the places from the same
 * view therefore never combines two states.
 *
 * <p>Thread safety: read by any thread; {@link #extendTo} under the writer lock.
 */
final class HotView {

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
  static HotView inPool(ExtentBytes pooled, ExtentList extents, long size) {
    return new HotView(pooled, extents, false, 0, size);
  }

  /**
   * The bytes from the extents' start to {@code spillOffset} are in the pool, the others in the log
   * file.
   */
  static HotView spilled(ExtentBytes pooled, ExtentList extents, long spillOffset, long size) {
    return new HotView(pooled, extents, true, spillOffset, size);
  }

  /** All bytes are in the log file. */
  static HotView inLogFile(long size) {
    return new HotView(ExtentBytes.NONE, ExtentList.EMPTY, true, 0, size);
  }

  /** This view with another size. */
  HotView withSize(long newSize) {
    return new HotView(pooled, extents, spilled, spillOffset, newSize);
  }

  /** This view with other extents. */
  HotView withExtents(ExtentList newExtents) {
    return new HotView(pooled, newExtents, spilled, spillOffset, size);
  }

  /** The bytes of the pool that the extents are in. */
  ExtentBytes pooled() {
    return pooled;
  }

  ExtentList extents() {
    return extents;
  }

  /** Whether new bytes go to the log file. */
  boolean spilled() {
    return spilled;
  }

  /** Bytes of the segment. */
  long size() {
    return size;
  }

  /** The offset that the pool's bytes begin at: what is below is in the log file. */
  long poolStart() {
    return extents.start();
  }

  /**
   * The offset that the pool's bytes end at: {@link #poolStart} or more, unless the segment is
   * being truncated below that.
   *
   * @param sizeSeen what {@link #size()} has returned to the caller
   */
  long poolEnd(long sizeSeen) {
    return spilled ? Math.min(spillOffset, sizeSeen) : sizeSeen;
  }

  /** Publishes bytes that have been written; without effect when it is not an extension. */
  void extendTo(long newSize) {
    if (newSize > size) {
      size = newSize;
    }
  }
}
