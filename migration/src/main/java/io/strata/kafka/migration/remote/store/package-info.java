/**
 * The store of the remote tier: a segment is copied, found, deleted in directories of several
 * levels. Knows no Kafka: the command line uses it without Kafka's classes. All methods of this
 * package and of its rooms may be called by any number of threads, unless their class says
 * otherwise.
 *
 * <p>Door: {@link io.strata.kafka.migration.remote.store.SegmentStore}. Rooms: {@code layout},
 * {@code disk}, this package, {@code keep}.
 */
@NullMarked
package io.strata.kafka.migration.remote.store;

import org.jspecify.annotations.NullMarked;
