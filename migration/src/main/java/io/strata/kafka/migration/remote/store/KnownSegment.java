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
 * @param segment what Kafka says of it
 * @param totalBytes the bytes of all its files
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

  /** Returns the bytes of a copy's files. */
  long bytesIn(StoredCopy copy) {
    return copy.hasLog() ? totalBytes : totalBytes - segment.bytes();
  }

  /** Returns what a copy takes of its directory. */
  long diskBytesIn(StoredCopy copy) {
    return copy.hasLog() ? diskBytes : diskBytes - Manifest.diskBytes(segment.bytes());
  }
}
