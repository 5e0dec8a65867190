/**
 * Everything of Kafka that Strata uses and Kafka does not publish. Kafka may move or remove it in
 * any release, so no other package links to such a class, and nothing that a broker needs hangs on
 * one:
 *
 * <table>
 *   <caption>What is looked up here</caption>
 *   <tr><th>class</th><th>of Kafka</th><th>without it</th></tr>
 *   <tr><td>{@link io.strata.kafka.unpublished.KafkaRelease}</td><td>the resource {@code
 *       kafka/kafka-version.properties}</td><td>the log does not say that a release is
 *       untested</td></tr>
 *   <tr><td>{@link io.strata.kafka.unpublished.BrokerRegistry}</td><td>{@code
 *       KafkaYammerMetrics}</td><td>the metrics are in JMX, under the same names, and reporters that
 *       read Kafka's registry do not find them</td></tr>
 *   <tr><td>{@link io.strata.kafka.unpublished.ConfigurationCall}</td><td>names of methods of {@code
 *       DynamicBrokerConfig}</td><td>a change that cannot be used is stored, left out and warned of,
 *       instead of refused; the warning does not say at which level it is stored</td></tr>
 *   <tr><td>{@link io.strata.kafka.unpublished.StoredConfiguration}</td><td>the format of {@code
 *       __cluster_metadata}</td><td>after a restart without the reporter in {@code
 *       metric.reporters}, the settings are those of the broker's file, with a warning</td></tr>
 *   <tr><td>{@link io.strata.kafka.unpublished.RemoteMetadataRecords}</td><td>the format of {@code
 *       __remote_log_metadata}</td><td>{@code strata remote scrub --bootstrap-server} says that it
 *       cannot compare</td></tr>
 * </table>
 *
 * <p>A test resolves every reference of the jar against each supported release, and allows
 * references to unpublished classes in this package alone.
 */
@NullMarked
package io.strata.kafka.unpublished;

import org.jspecify.annotations.NullMarked;
