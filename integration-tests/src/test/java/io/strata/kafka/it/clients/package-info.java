/**
 * Clients and tools that are not Strata's: producers and consumers in other languages, Kafka
 * Streams, Kafka Connect, Kafka's own tools, Prometheus, and {@code strata-bench}. Open {@link
 * io.strata.kafka.it.clients.ClientsTest} first.
 */
@NullMarked
package io.strata.kafka.it.clients;

import org.jspecify.annotations.NullMarked;
