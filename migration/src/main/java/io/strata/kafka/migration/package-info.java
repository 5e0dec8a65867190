/**
 * Where segments are placed and how they move between tiers. Knows plugin-api alone: no files, no
 * pool, no Kafka.
 *
 * <p>Public doors: {@link io.strata.kafka.migration.TopicPlacement}; {@link
 * io.strata.kafka.migration.TieredSegments}, which the broker's side implements.
 */
@NullMarked
package io.strata.kafka.migration;

import org.jspecify.annotations.NullMarked;
