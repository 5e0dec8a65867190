/**
 * The tier of hot segments as Kafka's calls meet it: a file is opened, renamed, deleted, placed.
 * The rooms below hold what each of these leads to.
 *
 * <p>A deleted topic: Kafka first renames each partition's directory to {@code -delete}. {@code
 * Renames.directory} then flags the slots {@code ORPHANED} and ends their moves. Later Kafka
 * deletes each file: {@code HotTier.delete} flags the slot {@code DELETING} and unlinks the file,
 * and {@code SlotRelease.freeAfterUnlink} frees the extents when no channel and no reader is left,
 * the slot when the unlinking is durable. {@code RecoveryRule} ends what a crash has left. The
 * copies of the remote tier: {@code migration.remote}.
 *
 * <p>A full log directory: {@code space.LogDiskReserve#claim} ends a copy before it begins. If the
 * disk fills during a copy, {@code segment.Copying#copyToLogFile} drops what it has written, unless
 * spilled bytes lie behind it, and the pool keeps its own. After either, {@code
 * migration.Mover#failed} has the directory wait. New segments go on in the pool until it is full;
 * then appends spill into what the disk has left, and after that Kafka gets the system's exception.
 *
 * <p>Door: {@link io.strata.kafka.tier.HotTier}. Rooms, lowest first: {@code spec}, {@code
 * directory}, {@code files}, {@code durable}, {@code space}, {@code moves}, {@code start}, this
 * package, {@code offline}. All paths in them are the JDK's own, never the provider's.
 */
@NullMarked
package io.strata.kafka.tier;

import org.jspecify.annotations.NullMarked;
