/**
 * Space in the pools: who gets it, who gives it up, and when there is too little.
 *
 * <p>An eviction, from the decision to the free extents:
 *
 * <ol>
 *   <li>{@code PoolSpace.evict} takes the next of {@code CleanSegments} when an append, a new
 *       segment, a copy or the reserve needs space. An append that finds no extent entry free
 *       evicts a part of its own segment ({@code SegmentWriter}). {@code segment.Unspilling} drops
 *       what its segment has in the pool. All other evictions are the planner's, by {@code
 *       tier.moves.TierMoves.evict}; of a segment without bytes {@code EmptySegments} frees the
 *       slot.
 *   <li>{@code Segment.evict} frees the slot; {@code Segment.evictPart} drops extents of a segment
 *       that stays. Both hand the extents to {@code ReaderGate.retire}.
 *   <li>The thread that evicts, or the last reader that still sees the extents, calls {@code
 *       Pool.release}, which first makes zeros of them where the pool needs a force. There {@code
 *       HotTier} tries again every 5 s what fails.
 * </ol>
 *
 * <p>{@code tier.durable.SlotRelease} only removes the tag that is left.
 *
 * <p>Door: {@link io.strata.kafka.tier.space.PoolSpace}.
 */
@NullMarked
package io.strata.kafka.tier.space;

import org.jspecify.annotations.NullMarked;
