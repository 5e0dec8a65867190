/**
 * What others implement against: names and views of segments, usage of pools, and the placement
 * policy. No I/O, no Kafka classes.
 *
 * <p>Public doors: {@link io.strata.kafka.api.PlacementPolicy} to implement; {@link
 * io.strata.kafka.api.SegmentName}, {@link io.strata.kafka.api.SegmentId}, {@link
 * io.strata.kafka.api.SegmentView} and {@link io.strata.kafka.api.TierUsage} to read.
 */
@NullMarked
package io.strata.kafka.api;

import org.jspecify.annotations.NullMarked;
