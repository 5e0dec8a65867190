/**
 * What the broker's operator sees of the tiers while it runs: metrics over JMX.
 *
 * <p>Public doors: {@link io.strata.kafka.metrics.StrataMetrics}, which publishes; {@link
 * io.strata.kafka.metrics.TierSource}, what it asks when JMX is read; {@link
 * io.strata.kafka.metrics.EventCounters}, what the append and read paths count into; {@link
 * io.strata.kafka.metrics.RemoteMetrics} and {@link io.strata.kafka.metrics.RemoteStatusBean}, the
 * same for the remote tier.
 */
@NullMarked
package io.strata.kafka.metrics;

import org.jspecify.annotations.NullMarked;
