/**
 * One hot segment and the {@code FileChannel} that Kafka gets for it. Its bytes are in pool
 * extents, in the log file, or in both: the log file then has copies of what is in the pool, what
 * was evicted, which lies before the pool's part, and what has spilled, which lies behind it.
 *
 * <p>An append becomes durable:
 *
 * <ul>
 *   <li>in a pool on DAX when {@code Slot.commit} returns, which {@code SegmentWriter} calls;
 *   <li>in a pool that needs a force when {@code SegmentForcer.force} returns. {@code
 *       SegmentWriter} calls it before the acknowledgement if {@code SegmentSettings.forcesAppends}
 *       says so; otherwise Kafka's flush does, and {@code tier.space.PoolForcer} every 30 s;
 *   <li>in a pool in volatile memory never: a power failure takes it;
 *   <li>in the log file as in any file. With {@code forcesAppends}, {@code view.SpilledTail} forces
 *       it before the acknowledgement, and {@code tier.durable.DurableNames} its name.
 * </ul>
 *
 * <p>{@code config.StrataConfig.SpillForce#forces} makes {@code forcesAppends} of {@code
 * strata.durability} and {@code strata.spill.force}.
 *
 * <p>{@code SegmentWriter#writeWithoutLocking} spills what {@code writeToPool} leaves over: no
 * extent is free after {@code tier.space.PoolSpace#makeSpace}, the slot has no free extent entry,
 * or the write would leave a gap of more than 1 MiB. From then on all that lies beyond the pool's
 * part goes to the log file, until a move makes the segment whole again. A truncation spills too,
 * while a reader still sees the log file behind it. A new segment that gets no slot has not
 * spilled: {@code tier.Placement} has it begin in its log file, when {@code
 * tier.space.PoolSpace#place} finds no space or {@code Scarcity#passesOn} keeps it out of a pool
 * that is nearly all dirty.
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
