package io.strata.kafka.migration.remote.read;

/**
 * What was read ahead since the broker started.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param bytes read
 * @param usedBytes of those, what was asked for later
 * @param wastedBytes of those, what left the cache unused
 */
public record ReadAheadStats(long bytes, long usedBytes, long wastedBytes) {}
