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

  /** The offset of each and the end, and then the position of each. */
  private final long[] numbers;

  private ExtentList(int firstEntry, long... numbers) {
    this.firstEntry = firstEntry;
    this.numbers = numbers;
  }

  /** No extents, and the first one begins at offset {@code start}. */
  public static ExtentList emptyAt(long start) {
    return emptyAt(start, 0);
  }

  /** As {@link #emptyAt(long)}, where the first one gets that place in the slot's ring. */
  public static ExtentList emptyAt(long start, int firstEntry) {
    return new ExtentList(firstEntry, start);
  }

  /** Returns how many extents there are. */
  public int count() {
    return numbers.length / 2;
  }

  /** Returns where extent {@code i} lies in the pool's memory, in bytes. */
  public long position(int i) {
    return numbers[count() + 1 + Objects.checkIndex(i, count())];
  }

  /** Length of extent {@code i} in bytes. */
  public long length(int i) {
    return numbers[Objects.checkIndex(i, count()) + 1] - numbers[i];
  }

  /** Offset of the first byte of extent {@code i}. */
  public long start(int i) {
    return numbers[Objects.checkIndex(i, count())];
  }

  /** Offset of the first byte that there is an extent for, or will be. */
  public long start() {
    return numbers[0];
  }

  /** Offset behind the last byte that there is an extent for. */
  public long end() {
    return numbers[count()];
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
    int found = Arrays.binarySearch(numbers, 0, count(), offset);
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
    int count = count();
    long[] more = new long[numbers.length + 2];
    System.arraycopy(numbers, 0, more, 0, count + 1);
    more[count + 1] = end() + extent.length();
    System.arraycopy(numbers, count + 1, more, count + 2, count);
    more[more.length - 1] = extent.position();
    return new ExtentList(firstEntry, more);
  }

  /** The extents without those that are not needed for the bytes below {@code length}. */
  public ExtentList truncatedTo(long length) {
    if (length <= start()) {
      return emptyAt(length);
    }
    return part(0, find(length - 1) + 1);
  }

  /** The extents without those that lie wholly below {@code offset}. */
  public ExtentList withoutBelow(long offset) {
    return part(countBelow(offset), count());
  }

  private ExtentList part(int from, int to) {
    int count = to - from;
    long[] part = new long[2 * count + 1];
    System.arraycopy(numbers, from, part, 0, count + 1);
    System.arraycopy(numbers, count() + 1 + from, part, count + 1, count);
    return new ExtentList(entry(from), part);
  }

  /** Returns how many bytes there are in extents that lie wholly below {@code offset}. */
  public long lengthBelow(long offset) {
    return numbers[countBelow(offset)] - start();
  }

  private int countBelow(long offset) {
    if (offset >= end()) {
      return count();
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
    for (int i = 0; i < count(); i++) {
      long skipped = Math.max(0, from - start(i));
      long until = Math.min(length(i), to - start(i));
      if (skipped < until) {
        pieces.add(new Extent(position(i) + skipped, until - skipped));
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
    for (int i = 0; i < count(); i++) {
      extents.add(get(i));
    }
    return List.copyOf(extents);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExtentList list
        && firstEntry == list.firstEntry
        && Arrays.equals(numbers, list.numbers);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(numbers);
  }

  @Override
  public String toString() {
    return toList().toString();
  }
}
