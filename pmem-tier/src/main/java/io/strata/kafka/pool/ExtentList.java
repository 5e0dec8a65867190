package io.strata.kafka.pool;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The extents of a segment, in logical order, without gaps.
 *
 * <p>Immutable and safe for use by any thread.
 */
public final class ExtentList {
  /** No extents. */
  public static final ExtentList EMPTY = new ExtentList(new long[0], new long[1]);

  private final long[] positions;
  // One more than positions: the last is the capacity.
  private final long[] starts;

  private ExtentList(long[] positions, long[] starts) {
    this.positions = positions;
    this.starts = starts;
  }

  /** How many extents there are. */
  public int count() {
    return positions.length;
  }

  /** Where extent {@code i} lies in the pool's memory, in bytes. */
  public long position(int i) {
    return positions[i];
  }

  /** Length of extent {@code i} in bytes. */
  public long length(int i) {
    return starts[i + 1] - starts[i];
  }

  /** Offset in the segment of the first byte of extent {@code i}. */
  public long start(int i) {
    return starts[Objects.checkIndex(i, positions.length)];
  }

  /** Sum of the lengths, in bytes. */
  public long capacity() {
    return starts[positions.length];
  }

  /** Extent {@code i}. */
  public Extent get(int i) {
    return new Extent(position(i), length(i));
  }

  /**
   * Returns the index of the extent that holds the byte at {@code offset} of the segment.
   *
   * @throws IndexOutOfBoundsException if the offset is negative or not below the capacity
   */
  public int find(long offset) {
    Objects.checkIndex(offset, capacity());
    int found = Arrays.binarySearch(starts, 0, positions.length, offset);
    return found >= 0 ? found : -found - 2;
  }

  /** How many extents are needed for {@code length} bytes, which is at most the capacity. */
  int countFor(long length) {
    return length == 0 ? 0 : find(length - 1) + 1;
  }

  ExtentList with(Extent extent) {
    int count = positions.length;
    long[] newPositions = Arrays.copyOf(positions, count + 1);
    newPositions[count] = extent.position();
    long[] newStarts = Arrays.copyOf(starts, count + 2);
    newStarts[count + 1] = capacity() + extent.length();
    return new ExtentList(newPositions, newStarts);
  }

  ExtentList first(int count) {
    return new ExtentList(Arrays.copyOf(positions, count), Arrays.copyOf(starts, count + 1));
  }

  /** The extents from {@code first} on. */
  List<Extent> from(int first) {
    List<Extent> extents = new ArrayList<>();
    for (int i = first; i < positions.length; i++) {
      extents.add(get(i));
    }
    return extents;
  }

  /** All extents, in logical order. */
  public List<Extent> toList() {
    return from(0);
  }

  /** Whether the first extents are exactly those of {@code other}. */
  boolean startsWith(ExtentList other) {
    int count = other.count();
    return count <= count()
        && Arrays.equals(positions, 0, count, other.positions, 0, count)
        && Arrays.equals(starts, 0, count + 1, other.starts, 0, count + 1);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExtentList list && list.count() == count() && startsWith(list);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(positions);
  }

  @Override
  public String toString() {
    return toList().toString();
  }
}
