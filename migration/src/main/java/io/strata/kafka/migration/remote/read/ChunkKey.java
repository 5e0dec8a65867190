package io.strata.kafka.migration.remote.read;

/**
 * Which chunk: a remote segment's id (a UUID, never used twice) and the chunk's number in it.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param idHigh the id's first eight bytes
 * @param idLow the id's last eight bytes
 * @param number from 0
 */
public record ChunkKey(long idHigh, long idLow, int number) {}
