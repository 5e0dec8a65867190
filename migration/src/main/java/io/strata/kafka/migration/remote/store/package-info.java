/**
 * The store on disk: directories in levels, a directory for each segment, a manifest in each. Knows
 * no Kafka: the command line uses it without Kafka's classes.
 */
@NullMarked
package io.strata.kafka.migration.remote.store;

import org.jspecify.annotations.NullMarked;
