package io.strata.kafka.pool.space;

import io.strata.kafka.layout.SlotLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** The extents of a segment, in logical order, without gaps. All offsets are the segment's own. */
public final class ExtentList {
  /** No extents, and the first one begins at offset 0. */
  public static final ExtentList EMPTY = emptyAt(0);

  /** The first extent's place in the slot's ring. */
  private final int firstEntry;

  private final long[] positions;
  // One more than positions: the last is the end.
  private final long[] starts;

  private ExtentList(int firstEntry, long[] positions, long[] starts) {
    this.firstEntry = firstEntry;
    this.positions = positions;
    this.starts = starts;
  }

  /** No extents, and the first one begins at offset {@code start}. */
  public static ExtentList emptyAt(long start) {
    return emptyAt(start, 0);
  }

  /** As {@link #emptyAt(long)}, where the first one gets that place in the slot's ring. */
  public static ExtentList emptyAt(long start, int firstEntry) {
    return new ExtentList(firstEntry, new long[0], new long[] {start});
  }

  /** Returns how many extents there are. */
  public int count() {
    return positions.length;
  }

  /** Returns where extent {@code i} lies in the pool's memory, in bytes. */
  public long position(int i) {
    return positions[i];
  }

  /** Length of extent {@code i} in bytes. */
  public long length(int i) {
    return starts[i + 1] - starts[i];
  }

  /** Offset of the first byte of extent {@code i}. */
  public long start(int i) {
    return starts[Objects.checkIndex(i, positions.length)];
  }

  /** Offset of the first byte that there is an extent for, or will be. */
  public long start() {
    return starts[0];
  }

  /** Offset behind the last byte that there is an extent for. */
  public long end() {
    return starts[positions.length];
  }

  /** Sum of the lengths, in bytes. */
  public long length() {
    return end() - start();
  }

  /** Extent {@code i}. */
  public Extent get(int i) {
    return new Extent(position(i), length(i));
  }

  /**
   * Returns the index of the extent that holds the byte at {@code offset}.
   *
   * @throws IndexOutOfBoundsException if none does
   */
  public int find(long offset) {
    Objects.checkIndex(offset - start(), length());
    int found = Arrays.binarySearch(starts, 0, positions.length, offset);
    return found >= 0 ? found : -found - 2;
  }

  /** The place of extent {@code i} in the slot's ring; of the next one for {@link #count}. */
  public int entry(int i) {
    return (firstEntry + i) % SlotLayout.MAX_EXTENTS;
  }

  /** The value of the slot's word that says which extents are in use. */
  public long inUse() {
    return SlotLayout.extentsInUse(start(), firstEntry, count());
  }

  /** Returns these extents with another one behind them. */
  public ExtentList with(Extent extent) {
    int count = positions.length;
    long[] newPositions = Arrays.copyOf(positions, count + 1);
    newPositions[count] = extent.position();
    long[] newStarts = Arrays.copyOf(starts, count + 2);
    newStarts[count + 1] = end() + extent.length();
    return new ExtentList(firstEntry, newPositions, newStarts);
  }

  /** The extents without those that are not needed for the bytes below {@code length}. */
  public ExtentList truncatedTo(long length) {
    if (length <= start()) {
      return emptyAt(length);
    }
    int count = find(length - 1) + 1;
    return new ExtentList(
        firstEntry, Arrays.copyOf(positions, count), Arrays.copyOf(starts, count + 1));
  }

  /** The extents without those that lie wholly below {@code offset}. */
  public ExtentList withoutBelow(long offset) {
    int dropped = countBelow(offset);
    return new ExtentList(
        entry(dropped),
        Arrays.copyOfRange(positions, dropped, positions.length),
        Arrays.copyOfRange(starts, dropped, starts.length));
  }

  /** Returns how many bytes there are in extents that lie wholly below {@code offset}. */
  public long lengthBelow(long offset) {
    return starts[countBelow(offset)] - start();
  }

  private int countBelow(long offset) {
    if (offset >= end()) {
      return positions.length;
    }
    return offset < start() ? 0 : find(offset);
  }

  /** The pieces of the extents that hold the offsets from {@code offset} on. */
  public List<Extent> behind(long offset) {
    return between(offset, end());
  }

  /**
   * The pieces of the extents that hold the offsets from one up to another, in logical order; none
   * where {@code to} is not above {@code from}.
   */
  public List<Extent> between(long from, long to) {
    List<Extent> pieces = new ArrayList<>();
    for (int i = 0; i < positions.length; i++) {
      long skipped = Math.max(0, from - starts[i]);
      long until = Math.min(length(i), to - starts[i]);
      if (skipped < until) {
        pieces.add(new Extent(positions[i] + skipped, until - skipped));
      }
    }
    return pieces;
  }

  /** The first {@code count} extents. */
  public List<Extent> first(int count) {
    return toList().subList(0, count);
  }

  /** The extents from {@code first} on. */
  public List<Extent> from(int first) {
    return toList().subList(first, count());
  }

  /** All extents, in logical order. */
  public List<Extent> toList() {
    List<Extent> extents = new ArrayList<>();
    for (int i = 0; i < positions.length; i++) {
      extents.add(get(i));
    }
    return List.copyOf(extents);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExtentList list
        && firstEntry == list.firstEntry
        && Arrays.equals(positions, list.positions)
        && Arrays.equals(starts, list.starts);
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
