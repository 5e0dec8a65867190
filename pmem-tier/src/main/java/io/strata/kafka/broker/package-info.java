/**
 * What the broker's operator sees of the tiers while it runs: metrics over JMX.
 *
 * <p>Public doors: {@link io.strata.kafka.broker.StrataMetrics}, which publishes; {@link
 * io.strata.kafka.broker.TierSource}, what it asks when JMX is read; {@link
 * io.strata.kafka.broker.EventCounters}, what the append and read paths count into; {@link
 * io.strata.kafka.broker.RemoteMetrics} and {@link io.strata.kafka.broker.RemoteStatusBean}, the
 * same for the remote tier.
 */
@NullMarked
package io.strata.kafka.broker;

import org.jspecify.annotations.NullMarked;
