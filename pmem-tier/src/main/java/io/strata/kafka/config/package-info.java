/**
 * The {@code strata.*} keys, declared once with their text, and what Strata reads of the broker's
 * own {@code server.properties}.
 *
 * <p>{@code MigrationKeys.read} makes {@code MigrationSettings} of {@code strata.migration.*}. The
 * settings have two readers:
 *
 * <ul>
 *   <li>{@code MigrationEngine}, from {@code broker.BrokerMigration}. Each of its rounds hands them
 *       to {@code Planner}, where {@code PlannedTier} makes marks of the thresholds.
 *   <li>{@code tier.HotTier}, from {@code broker.BrokerTier}. Its {@code tier.space.Scarcity} says
 *       by the thresholds how scarce space is: {@code PoolSpace} places new segments lower for it,
 *       and copies go faster.
 * </ul>
 *
 * <p>A change on a live broker reaches both through {@code StrataReporter}, {@code
 * LiveConfiguration} and {@code BrokerMigration.reconfigure}. The keys of the remote tier, {@code
 * rsm.config.migration.*}, go by {@code RemoteConfig} and {@code MoverRole} to an engine of its
 * own.
 *
 * <p>Public doors: {@link io.strata.kafka.config.StrataKeys}, the catalogue; {@link
 * io.strata.kafka.config.StrataConfig}, its checked values; {@link
 * io.strata.kafka.config.BrokerProperties} and {@link io.strata.kafka.config.CommandLineArguments},
 * which find them; {@link io.strata.kafka.config.key.ConfigProblem}, what is wrong with them;
 * {@link io.strata.kafka.config.key.MetaProperties}, the cluster that a log directory is of.
 * Nothing here writes a file or logs.
 */
@NullMarked
package io.strata.kafka.config;

import org.jspecify.annotations.NullMarked;
