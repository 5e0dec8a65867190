/**
 * Strata's doors for Kafka: {@link io.strata.kafka.StrataReporter}, which a broker's {@code
 * metric.reporters} names; {@link io.strata.kafka.nio.StrataFileSystemProvider}, which its command
 * line names; {@link io.strata.kafka.migration.remote.StrataRemoteStorageManager}, which {@code
 * remote.log.storage.manager.class.name} names.
 *
 * <p>Where to begin: {@code segment} with an append, its durability and its spilling; {@code
 * tier.space} with space and who frees it; {@code tier} with a deleted topic (its remote copies:
 * {@code migration.remote}) and a full log directory; {@code config} with a key; {@code broker}
 * with a refused start; {@code migration.remote} with a read of the remote store.
 */
@NullMarked
package io.strata.kafka;

import org.jspecify.annotations.NullMarked;
