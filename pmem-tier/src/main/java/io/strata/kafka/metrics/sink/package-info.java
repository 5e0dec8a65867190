/**
 * Where metrics are published: Kafka's registry, and JMX.
 *
 * <p>Door: {@link io.strata.kafka.metrics.sink.MetricSink}.
 */
@NullMarked
package io.strata.kafka.metrics.sink;

import org.jspecify.annotations.NullMarked;
