/**
 * The free map of a pool and the extents that are taken from it.
 *
 * <p>Door: {@link io.strata.kafka.pool.space.BuddyAllocator}. This package knows the layout alone.
 */
@NullMarked
package io.strata.kafka.pool.space;

import org.jspecify.annotations.NullMarked;
