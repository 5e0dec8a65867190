/**
 * The remote tier: Kafka's {@code RemoteStorageManager} (KIP-405) over directories on SSD and HDD.
 * All methods may be called by any number of threads, unless their class says otherwise.
 *
 * <p>Public doors: {@link io.strata.kafka.migration.remote.StrataRemoteStorageManager}, which Kafka
 * creates; {@link io.strata.kafka.migration.remote.RemoteEnvironment}, which the broker's side
 * implements, with {@link io.strata.kafka.migration.remote.RemoteSettings} and {@link
 * io.strata.kafka.migration.remote.RemoteStats}. The package {@code store} and its rooms never use
 * this one.
 */
@NullMarked
package io.strata.kafka.migration.remote;

import org.jspecify.annotations.NullMarked;
