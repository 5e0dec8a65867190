/**
 * Moves of a segment between its pool, another pool and its log file, and what the planner sees of
 * the tier.
 *
 * <p>{@code DestageMove} refuses a copy that would fill the disk of the log directory; the
 * migration engine then waits before the next try.
 *
 * <p>Door: {@link io.strata.kafka.tier.moves.TierMoves}.
 */
@NullMarked
package io.strata.kafka.tier.moves;

import org.jspecify.annotations.NullMarked;
