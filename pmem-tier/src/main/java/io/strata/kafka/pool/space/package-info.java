/**
 * The free map of a pool, the extents that are taken from it, and the bytes in them.
 *
 * <p>Doors: {@link io.strata.kafka.pool.space.BuddyAllocator} and {@link
 * io.strata.kafka.pool.space.ExtentBytes}. This package knows the layout and the memory alone.
 */
@NullMarked
package io.strata.kafka.pool.space;

import org.jspecify.annotations.NullMarked;
