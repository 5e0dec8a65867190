/**
 * Runs a scenario: creates its topics, leads the hosts through its phases, watches the brokers, and
 * adds up the figures.
 *
 * <p>Door: {@link io.strata.kafka.bench.run.Coordinator}.
 */
@NullMarked
package io.strata.kafka.bench.run;

import org.jspecify.annotations.NullMarked;
