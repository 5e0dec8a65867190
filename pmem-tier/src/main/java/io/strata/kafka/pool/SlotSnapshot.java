package io.strata.kafka.pool;

import java.util.Set;
import java.util.UUID;

/**
 * A slot as another process found it: of one moment, and perhaps no longer so. Immutable and safe
 * for use by any thread.
 *
 * @param index of the slot
 * @param generation the slot's generation
 * @param state LIVE or DELETING
 * @param committedLength bytes of the segment that are in the pool
 * @param cleanLength how many of its first bytes are durable in the log file, too
 * @param flags durable facts
 * @param truncations tells whether extents may have been taken from the segment since
 * @param directoryId of the log directory
 * @param relativePath of the segment when it was created, relative to its log directory
 * @param createdAtMillis creation time in milliseconds since the epoch
 * @param extents where the bytes are
 */
public record SlotSnapshot(
    int index,
    long generation,
    SlotState state,
    long committedLength,
    long cleanLength,
    Set<SlotFlag> flags,
    long truncations,
    UUID directoryId,
    String relativePath,
    long createdAtMillis,
    ExtentList extents) {

  /** Whether the segment is written through: its log file has all bytes. */
  public boolean isCached() {
    return flags.contains(SlotFlag.CACHED);
  }
}
