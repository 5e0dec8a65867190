/**
 * Space in the pools: who gets it, who gives it up, and when there is too little.
 *
 * <p>{@code PoolSpace} chooses the segment to evict. {@code Segment.evict} frees its slot and hands
 * the extents to the segment's gate: they are given back by the thread that evicts, or by the last
 * reader that still sees them.
 *
 * <p>Door: {@link io.strata.kafka.tier.space.PoolSpace}.
 */
@NullMarked
package io.strata.kafka.tier.space;

import org.jspecify.annotations.NullMarked;
