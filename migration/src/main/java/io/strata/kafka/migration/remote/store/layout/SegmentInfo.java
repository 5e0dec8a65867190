package io.strata.kafka.migration.remote.store.layout;

import java.util.Collections;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Kafka's description of a remote segment (its {@code RemoteLogSegmentMetadata}), so that the store
 * can be read without Kafka's metadata.
 *
 * @param key which segment
 * @param endOffset its last offset
 * @param maxTimestampMillis the largest timestamp of its records
 * @param brokerId the broker that copied it
 * @param eventTimestampMillis when it began to
 * @param bytes the segment's length
 * @param leaderEpochs the leader epochs of its records, each with its first offset
 * @param transactionIndexEmpty whether it has no transaction index
 */
public record SegmentInfo(
    SegmentKey key,
    long endOffset,
    long maxTimestampMillis,
    int brokerId,
    long eventTimestampMillis,
    int bytes,
    NavigableMap<Integer, Long> leaderEpochs,
    boolean transactionIndexEmpty) {

  /**
   * Copies the map.
   *
   * @throws IllegalArgumentException if the offsets or the length are out of range
   */
  public SegmentInfo {
    leaderEpochs = Collections.unmodifiableNavigableMap(new TreeMap<>(leaderEpochs));
    if (endOffset < key.startOffset() || bytes < 0) {
      throw new IllegalArgumentException(
          """
          %s: found end offset %s and %s bytes, expected an end that is not before the start, and \
          no negative length\
          """
              .formatted(key, endOffset, bytes));
    }
  }
}
