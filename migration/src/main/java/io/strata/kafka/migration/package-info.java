/**
 * Where segments are placed and how they move between tiers. Knows plugin-api alone: no files, no
 * pool, no Kafka. The remote tier is in packages of its own, below this one.
 *
 * <p>Public doors: {@link io.strata.kafka.migration.TopicPlacement}; {@link
 * io.strata.kafka.migration.TieredSegments}, which the broker's side implements, with {@link
 * io.strata.kafka.migration.MoveControl}, {@link io.strata.kafka.migration.MoveResult} and {@link
 * io.strata.kafka.migration.CorruptSegmentException}; {@link
 * io.strata.kafka.migration.MigrationEngine} with its {@link
 * io.strata.kafka.migration.MigrationSettings}, {@link
 * io.strata.kafka.migration.EngineEnvironment}, {@link io.strata.kafka.migration.EngineEvents} and
 * {@link io.strata.kafka.migration.MigrationStats} ({@link
 * io.strata.kafka.migration.FailureCause}); {@link io.strata.kafka.migration.PolicyRegistry};
 * {@link io.strata.kafka.migration.BurstPlan}.
 */
@NullMarked
package io.strata.kafka.migration;

import org.jspecify.annotations.NullMarked;
