/**
 * The remote tier: Kafka's {@code RemoteStorageManager} (KIP-405) over directories on SSD and HDD.
 * All methods may be called by any number of threads, unless their class says otherwise.
 *
 * <p>A read: {@code SegmentStream}, {@code StoreReads}, then {@code store.LogReads#fill}, or {@code
 * ColdPieces#load} for the cold manager. Both have {@code store.layout.ChunkChecksums#check} verify
 * each chunk before a byte of it is handed on.
 *
 * <p>A deleted topic: Kafka asks once for each segment. {@code store.SegmentStore#delete} removes
 * the bytes that the cold manager has, and every copy in the directories, by way of their trash.
 * {@code PendingDeletions} notes in the log directories what cannot be done, and {@code
 * Housekeeping} tries it again. A copy that Kafka never asks to delete stays. {@code strata remote
 * scrub --bootstrap-server … --remove-unneeded} removes it if Kafka's own records say that its
 * deletion has begun, or that it was copied again.
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
