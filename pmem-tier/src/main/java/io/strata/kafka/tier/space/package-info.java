/**
 * Space in the pools: who gets it, who gives it up, and when there is too little.
 *
 * <p>Door: {@link io.strata.kafka.tier.space.PoolSpace}.
 */
@NullMarked
package io.strata.kafka.tier.space;

import org.jspecify.annotations.NullMarked;
