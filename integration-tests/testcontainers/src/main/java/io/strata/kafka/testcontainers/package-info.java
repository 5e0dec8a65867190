/**
 * A Kafka container with Strata, for tests of users: a broker with a full pool, a lost pool, a
 * spilled segment. The door is {@link io.strata.kafka.testcontainers.StrataKafkaContainer}.
 */
@NullMarked
package io.strata.kafka.testcontainers;

import org.jspecify.annotations.NullMarked;
