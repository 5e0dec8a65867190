/**
 * What the broker's operator sees of the tiers while it runs: metrics, status and the log.
 *
 * <p>Public doors: {@link io.strata.kafka.metrics.StrataMetrics}, which publishes; {@link
 * io.strata.kafka.metrics.TierSampler}, what it reads of the local tiers; {@link
 * io.strata.kafka.metrics.EventCounters}, what the append and read paths count into; {@link
 * io.strata.kafka.metrics.StatusMXBean}, what the command line asks; and the logs {@link
 * io.strata.kafka.metrics.TierLog}, {@link io.strata.kafka.metrics.MigrationLog} and {@link
 * io.strata.kafka.metrics.RemoteLog}.
 */
@NullMarked
package io.strata.kafka.metrics;

import org.jspecify.annotations.NullMarked;
