/**
 * The store on disk: directories in levels, a directory for each segment, a manifest in each. Knows
 * no Kafka: the command line uses it without Kafka's classes. All methods may be called by any
 * number of threads, unless their class says otherwise.
 *
 * <p>Public doors, for a broker: {@link io.strata.kafka.migration.remote.store.SegmentStore},
 * opened with {@link io.strata.kafka.migration.remote.store.StoreOptions}; {@link
 * io.strata.kafka.migration.remote.store.StoreTiers}, which moves segments; {@link
 * io.strata.kafka.migration.remote.store.StoreUpkeep}, {@link
 * io.strata.kafka.migration.remote.store.Scrubber} and {@link
 * io.strata.kafka.migration.remote.store.CopyRepair}; {@link
 * io.strata.kafka.migration.remote.store.OtherManager}, which others implement. For tools: {@link
 * io.strata.kafka.migration.remote.store.StoreInspection} and the scrubber.
 */
@NullMarked
package io.strata.kafka.migration.remote.store;

import org.jspecify.annotations.NullMarked;
