package io.strata.kafka.pool.space;

/**
 * A contiguous, aligned piece of a pool.
 *
 * @param position in the pool's memory, in bytes
 * @param length in bytes: 64 KiB to 64 MiB, a power of two
 */
public record Extent(long position, long length) {}
