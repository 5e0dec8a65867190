/**
 * The engine that moves segments between tiers: one thread plans, others move. The engine knows
 * plugin-api alone: no files, no pool, no Kafka. {@code FileStatus}, {@code Reads} and {@code
 * RateLimit} are for the remote tier and the modules above. They throw {@code NoSpaceException}, by
 * which {@code Mover} knows that the target is full. The remote tier is in packages of its own,
 * below this one.
 *
 * <p>Door: {@link io.strata.kafka.migration.MigrationEngine}, with its {@link
 * io.strata.kafka.migration.EngineEnvironment} and {@link io.strata.kafka.migration.EngineEvents}.
 */
@NullMarked
package io.strata.kafka.migration;

import org.jspecify.annotations.NullMarked;
