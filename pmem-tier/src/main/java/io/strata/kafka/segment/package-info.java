/**
 * One hot segment and the {@code FileChannel} that Kafka gets for it. Its bytes are in pool
 * extents, in the log file, or in both. The log file then has copies of the pool's part; before
 * them what was evicted, and behind them what has spilled.
 *
 * <p>An append becomes durable:
 *
 * <ul>
 *   <li>in a pool on DAX when {@code Slot.commit} returns, which {@code SegmentWriter} calls;
 *   <li>in a pool that needs a force when {@code Slot.force} returns. {@code
 *       SegmentWriter#forceAppend} has {@code SegmentForcer} call it before the acknowledgement if
 *       {@code SegmentSettings.forcesAppends} says so; Kafka's flush does in any case. {@code
 *       tier.space.PoolForcer} forces every 30 s what is left;
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
 * part goes to the log file, until a move makes the segment whole again, in another slot or from
 * there on ({@code Unspilling}), or a truncation cuts that part off. A truncation too has a segment
 * spill, while a reader of before still looks in its log file. A new segment that gets no slot is
 * not counted as spilled: {@code tier.Placement} has it begin in its log file when {@code
 * tier.space.PoolSpace#place} finds no space in any tier, or {@code Scarcity#passesOn} passes it
 * on: some of the new ones, where four fifths of a tier are dirty.
 *
 * <p>Public doors: {@code Segment} (shared by all channels on it), {@link
 * io.strata.kafka.segment.view.SegmentTag} (what ties the log file to its slot), {@link
 * io.strata.kafka.segment.SegmentSettings} and {@link io.strata.kafka.segment.SegmentEvents}; for
 * moves {@link io.strata.kafka.segment.view.Residence}, {@link io.strata.kafka.segment.CopyPace},
 * {@link io.strata.kafka.segment.CopyResult} and {@link io.strata.kafka.segment.SpaceMaker}. This
 * package knows the pool, but not log directories, configuration or Kafka.
 */
@NullMarked
package io.strata.kafka.segment;

import org.jspecify.annotations.NullMarked;
