/**
 * Scenarios: files in YAML, every key of which can be overridden, and their values with units.
 *
 * <p>Doors: {@link io.strata.kafka.bench.scenario.ScenarioFile} reads one, {@link
 * io.strata.kafka.bench.scenario.Scenario} is one. All else that is public is a part of it.
 */
@NullMarked
package io.strata.kafka.bench.scenario;

import org.jspecify.annotations.NullMarked;
