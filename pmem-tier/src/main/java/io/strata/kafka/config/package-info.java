/**
 * The {@code strata.*} keys, declared once with their text, and what Strata reads of the broker's
 * own {@code server.properties}.
 *
 * <p>{@code BrokerMigration} hands the values of {@code strata.migration.*} to {@code
 * MigrationEngine}, at the start and at each change; each of its rounds hands them to {@code
 * Planner}.
 *
 * <p>Public doors: {@link io.strata.kafka.config.StrataKeys}, the catalogue; {@link
 * io.strata.kafka.config.StrataConfig}, its checked values; {@link
 * io.strata.kafka.config.BrokerProperties} and {@link io.strata.kafka.config.CommandLineArguments},
 * which find them; {@link io.strata.kafka.config.key.ConfigProblem}, what is wrong with them;
 * {@link io.strata.kafka.config.key.MetaProperties}, the identity of a log directory. Nothing here
 * writes a file or logs.
 */
@NullMarked
package io.strata.kafka.config;

import org.jspecify.annotations.NullMarked;
