/**
 * Strata's door for Kafka: {@link io.strata.kafka.StrataReporter}, which a broker's {@code
 * metric.reporters} names.
 */
@NullMarked
package io.strata.kafka;

import org.jspecify.annotations.NullMarked;
