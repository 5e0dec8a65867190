package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import java.util.List;
import java.util.Optional;

/**
 * One segment of the store as the inventory knows it.
 *
 * @param number the segment's number in this process, never given twice
 * @param diskBytes what they take on disk, in whole blocks
 * @param copies where it is, the fastest level first; at least one
 */
public record KnownSegment(
    long number, SegmentInfo segment, long totalBytes, long diskBytes, List<StoredCopy> copies) {

  /** Copies the list. */
  public KnownSegment {
    copies = List.copyOf(copies);
    if (copies.isEmpty()) {
      throw new IllegalArgumentException(segment.key() + ": found no copy, expected one or two");
    }
  }

  public SegmentKey key() {
    return segment.key();
  }

  KnownSegment with(List<StoredCopy> others) {
    return new KnownSegment(number, segment, totalBytes, diskBytes, others);
  }

  Optional<StoredCopy> in(StoreDirectory directory) {
    return copies.stream().filter(c -> c.directory().equals(directory)).findFirst();
  }

  /** The copy that is read: the fastest that has the bytes; empty if the cold manager has them. */
  public Optional<StoredCopy> readable() {
    return copies.stream().filter(StoredCopy::hasLog).findFirst();
  }

  public boolean cold() {
    return copies.stream().anyMatch(StoredCopy::cold);
  }

  long bytesIn(StoredCopy copy) {
    return copy.hasLog() ? totalBytes : totalBytes - segment.bytes();
  }

  long diskBytesIn(StoredCopy copy) {
    return copy.hasLog() ? diskBytes : diskBytes - Manifest.diskBytes(segment.bytes());
  }

  /**
   * One copy of a segment: a directory of the store that has it.
   *
   * @param hasLog whether the segment's bytes are there; without them the cold manager has them
   * @param cold whether the cold manager has the bytes too
   * @param moving whether it was published by a move that is not confirmed yet
   * @param damaged whether a file of it was found not to be what its manifest says
   */
  public record StoredCopy(
      StoreDirectory directory, boolean hasLog, boolean cold, boolean moving, boolean damaged) {

    /** A copy that has all files, and nothing else is to be said of. */
    public static StoredCopy whole(StoreDirectory directory) {
      return new StoredCopy(directory, true, false, false, false);
    }

    public StoredCopy withLog(boolean now) {
      return new StoredCopy(directory, now, cold, moving, damaged);
    }

    public StoredCopy withCold() {
      return new StoredCopy(directory, hasLog, true, moving, damaged);
    }

    public StoredCopy confirmed() {
      return new StoredCopy(directory, hasLog, cold, false, damaged);
    }

    public StoredCopy withDamage(boolean now) {
      return new StoredCopy(directory, hasLog, cold, moving, now);
    }
  }
}
