/**
 * Metrics, status and the log: the view that an operator has of the tiers of a running broker.
 *
 * <p>Public doors: {@link io.strata.kafka.metrics.StrataMetrics}, which publishes; {@link
 * io.strata.kafka.metrics.LocalSample}, what it reads of the local tiers; {@link
 * io.strata.kafka.metrics.EventCounters}, what the append and read paths count into; {@link
 * io.strata.kafka.metrics.StatusMXBean}, what the command line asks; and the logs {@link
 * io.strata.kafka.metrics.TierLog} and {@link io.strata.kafka.metrics.MigrationLog}.
 */
@NullMarked
package io.strata.kafka.metrics;

import org.jspecify.annotations.NullMarked;
