/**
 * What all rooms stand on: stock brokers in their own JVMs, with and without Strata, their files
 * and pools, and records of which each is known. Open {@link
 * io.strata.kafka.it.harness.StockBroker} first, then {@link io.strata.kafka.it.harness.Tiers} and
 * {@link io.strata.kafka.it.harness.RecordLedger}.
 */
@NullMarked
package io.strata.kafka.it.harness;

import org.jspecify.annotations.NullMarked;
