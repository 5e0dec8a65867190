package io.strata.kafka.pool.words;

import io.strata.kafka.pool.space.ExtentList;
import java.util.UUID;

/**
 * A slot as it was found at one moment, and perhaps no longer is; that of an empty segment when it
 * was free.
 *
 * @param committedLength bytes of the segment that are in the pool
 * @param cleanLength how many of its first bytes are durable in the log file too
 * @param flags durable facts, a bit for each; see {@link #has}
 * @param truncations shows whether extents may have been taken from the segment since
 * @param relativePath of the segment when it was created, relative to its log directory
 */
public record SlotSnapshot(
    int index,
    SlotState state,
    long generation,
    long committedLength,
    long cleanLength,
    int flags,
    long truncations,
    UUID directoryId,
    String relativePath,
    long createdAtMillis,
    ExtentList extents) {

  private static final UUID NO_DIRECTORY = new UUID(0, 0);

  static SlotSnapshot free(int index, long generation) {
    return new SlotSnapshot(
        index, SlotState.FREE, generation, 0, 0, 0, 0, NO_DIRECTORY, "", 0, ExtentList.EMPTY);
  }

  /** Returns whether the flag is set. */
  public boolean has(SlotFlag flag) {
    return (flags & flag.bit()) != 0;
  }
}
