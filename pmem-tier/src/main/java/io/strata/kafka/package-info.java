/**
 * Strata's doors for Kafka: {@link io.strata.kafka.StrataReporter}, which a broker's {@code
 * metric.reporters} names; {@link io.strata.kafka.nio.StrataFileSystemProvider}, which its command
 * line names; {@link io.strata.kafka.migration.remote.StrataRemoteStorageManager}, which {@code
 * remote.log.storage.manager.class.name} names.
 */
@NullMarked
package io.strata.kafka;

import org.jspecify.annotations.NullMarked;
