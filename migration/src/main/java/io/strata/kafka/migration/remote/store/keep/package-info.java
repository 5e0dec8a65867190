/**
 * Upkeep of a store: moves between levels, scrubbing, repair, and its inspection by tools.
 *
 * <p>Doors: {@link io.strata.kafka.migration.remote.store.keep.StoreTiers}, {@link
 * io.strata.kafka.migration.remote.store.keep.Scrubber}, {@link
 * io.strata.kafka.migration.remote.store.keep.StoreInspection}.
 */
@NullMarked
package io.strata.kafka.migration.remote.store.keep;

import org.jspecify.annotations.NullMarked;
