/**
 * Where segments are placed and how they move between tiers. Knows plugin-api alone: no files, no
 * pool, no Kafka.
 *
 * <p>Public door: {@link io.strata.kafka.migration.TopicPlacement}.
 */
@NullMarked
package io.strata.kafka.migration;

import org.jspecify.annotations.NullMarked;
