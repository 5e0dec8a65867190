/**
 * Moves of a segment between its pool, another pool and its log file, and what the planner sees of
 * the tier.
 *
 * <p>Door: {@link io.strata.kafka.tier.moves.TierMoves}.
 */
@NullMarked
package io.strata.kafka.tier.moves;

import org.jspecify.annotations.NullMarked;
