package io.strata.kafka.api;

import static java.util.Objects.requireNonNull;

import java.util.Comparator;

/**
 * Names one segment of one partition: what is the same on every replica and in every tier.
 *
 * <p>Immutable and safe for use by any thread. The order is by topic, partition and base offset: in
 * a partition, oldest first.
 *
 * @param topic the topic's name, not empty
 * @param partition the partition's number, from 0
 * @param baseOffset the offset in the name of the segment's file, from 0: no record in the segment
 *     has a lower one
 */
public record SegmentId(String topic, int partition, long baseOffset)
    implements Comparable<SegmentId> {

  private static final Comparator<SegmentId> ORDER =
      Comparator.comparing(SegmentId::topic)
          .thenComparingInt(SegmentId::partition)
          .thenComparingLong(SegmentId::baseOffset);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if the topic is empty or a number negative
   */
  public SegmentId {
    requireNonNull(topic);
    if (topic.isEmpty() || partition < 0 || baseOffset < 0) {
      throw new IllegalArgumentException(
          "topic '%s', partition %s, base offset %s: expected a name and numbers from 0"
              .formatted(topic, partition, baseOffset));
    }
  }

  @Override
  public int compareTo(SegmentId other) {
    return ORDER.compare(this, other);
  }

  /** For messages: {@code topic-partition@baseOffset}. */
  @Override
  public String toString() {
    return topic + "-" + partition + "@" + baseOffset;
  }
}
