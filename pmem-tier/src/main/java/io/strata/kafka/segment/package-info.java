/**
 * One hot segment and the {@code FileChannel} that Kafka gets for it: bytes in pool extents, at the
 * log file, or head in the pool and tail in the log file.
 *
 * <p>{@code SegmentWriter} makes an append durable, and spills it when {@code tier.space.PoolSpace}
 * finds no space.
 *
 * <p>Public doors: {@code Segment} (shared by all channels on it), {@link
 * io.strata.kafka.segment.view.SegmentTag} (what ties the log file to its slot), {@link
 * io.strata.kafka.segment.SegmentSettings} and {@link io.strata.kafka.segment.SegmentEvents}; for
 * moves {@link io.strata.kafka.segment.view.Residence}, {@link io.strata.kafka.segment.CopyPace},
 * {@link io.strata.kafka.segment.CopyResult}, {@link io.strata.kafka.segment.SpaceMaker} and {@link
 * io.strata.kafka.segment.view.Reads}. This package knows the pool, but not log directories,
 * configuration or Kafka.
 */
@NullMarked
package io.strata.kafka.segment;

import org.jspecify.annotations.NullMarked;
