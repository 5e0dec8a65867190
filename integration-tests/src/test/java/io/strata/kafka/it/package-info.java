/**
 * Stock Apache Kafka brokers in their own JVMs, with and without Strata, and what must hold on
 * them. The doors of the harness are {@link io.strata.kafka.it.StockBroker}, {@link
 * io.strata.kafka.it.Pools} and {@link io.strata.kafka.it.RecordLedger}.
 */
@NullMarked
package io.strata.kafka.it;

import org.jspecify.annotations.NullMarked;
