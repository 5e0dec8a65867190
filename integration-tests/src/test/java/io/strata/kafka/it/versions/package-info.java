/**
 * The one jar and what it is put beside: the releases of Kafka and of Strata, Kafka's own tests as
 * published, agents and class loaders in the broker's JVM. Open {@link
 * io.strata.kafka.it.versions.KafkaVersionsTest} first.
 */
@NullMarked
package io.strata.kafka.it.versions;

import org.jspecify.annotations.NullMarked;
