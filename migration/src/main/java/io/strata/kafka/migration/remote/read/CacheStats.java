package io.strata.kafka.migration.remote.read;

/**
 * What the chunk cache holds at one moment. Counts are since the broker started.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param capacityBytes its bound
 * @param usedBytes what it holds
 * @param hits chunks found
 * @param misses chunks not found
 * @param evictions chunks evicted
 */
public record CacheStats(
    long capacityBytes, long usedBytes, long hits, long misses, long evictions) {}
