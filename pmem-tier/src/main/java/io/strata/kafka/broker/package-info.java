/**
 * What the broker's operator sees of the hot tier while it runs: metrics over JMX.
 *
 * <p>Public doors: {@link io.strata.kafka.broker.StrataMetrics}, which publishes; {@link
 * io.strata.kafka.broker.TierSource}, what it asks when JMX is read; {@link
 * io.strata.kafka.broker.EventCounters}, what the append and read paths count into.
 */
@NullMarked
package io.strata.kafka.broker;

import org.jspecify.annotations.NullMarked;
