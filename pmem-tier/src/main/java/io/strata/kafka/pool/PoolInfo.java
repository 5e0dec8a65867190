package io.strata.kafka.pool;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.words.PoolOwner;
import java.nio.file.Path;
import java.util.UUID;

/**
 * The identity of a pool.
 *
 * @param type how its bytes are reached in this process
 * @param owner whose it is; what is absent is not bound yet
 * @param size of the file in bytes
 * @param dataPosition where the extents begin, in bytes
 * @param dataSize bytes there are for extents
 * @param slotCount segments that it can hold at a time
 */
public record PoolInfo(
    Path path,
    UUID id,
    MemoryType type,
    Durability durability,
    PoolOwner owner,
    long size,
    long dataPosition,
    long dataSize,
    int slotCount,
    long createdAtMillis,
    int layoutVersion) {}
