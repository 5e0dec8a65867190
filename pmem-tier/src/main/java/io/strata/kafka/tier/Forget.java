package io.strata.kafka.tier;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolOwner;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Gives up the segments of a log directory that is gone for good.
 *
 * <p>Thread safety: used by one thread, with no broker running (the pool's lock sees to it).
 */
public final class Forget {

  private Forget() {}

  /**
   * The segments that the pool holds for a log directory.
   *
   * @param pool a pool's file
   * @param directory the identity of a log directory
   * @param really whether to free them; without it nothing is changed
   * @return their paths, relative to the log directory
   */
  public static List<String> run(Path pool, UUID directory, boolean really) throws IOException {
    List<String> forgotten = new ArrayList<>();
    try (Pool opened = Pool.open(pool, MemoryType.MAPPED, PoolOwner.ANY)) {
      for (Slot slot : opened.slots()) {
        if (slot.directoryId().equals(directory)) {
          forgotten.add(slot.relativePath());
          if (really) {
            var extents = slot.extents().toList();
            if (slot.state() == SlotState.LIVE) {
              slot.markDeleting();
            }
            slot.free();
            opened.release(extents);
          }
        }
      }
    }
    return forgotten;
  }
}
