/**
 * One hot segment and the {@code FileChannel} that Kafka gets for it: bytes in pool extents, at
 * home, or head in the pool and tail at home.
 *
 * <p>Public doors: {@code Segment} (shared by all channels on it), {@link
 * io.strata.kafka.segment.SegmentTag} (what ties home to its slot), {@link
 * io.strata.kafka.segment.SegmentSettings} and {@link io.strata.kafka.segment.SegmentEvents}. This
 * package knows the pool, and nothing of log directories, configuration or Kafka.
 */
@NullMarked
package io.strata.kafka.segment;

import org.jspecify.annotations.NullMarked;
