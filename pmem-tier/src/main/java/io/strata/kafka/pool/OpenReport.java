package io.strata.kafka.pool;

import io.strata.kafka.pool.words.CheckFinding;
import java.util.List;

/**
 * The result of opening a pool for writing.
 *
 * @param repaired what was wrong with the superblock or the session line, and has been put right
 * @param damagedMoments words that stay as they are: the moments of which log directories are not
 *     known
 * @param bound whether the pool had no owner and has been bound to the opener
 * @param daxLost whether persisted bytes survived a power failure where the pool was used before,
 *     and do not here
 * @param powerLost whether the machine went down while the pool was open, and may have taken what
 *     was not forced (see {@link io.strata.kafka.memory.Durability#FORCE})
 * @param shortened the segments whose committed length was beyond the extents that are there, since
 *     these had not been forced. Others may have zeros where bytes had not been forced
 */
public record OpenReport(
    List<CheckFinding> repaired,
    List<CheckFinding> damagedMoments,
    boolean bound,
    boolean daxLost,
    boolean powerLost,
    List<Shortened> shortened) {

  /**
   * A segment that had grown, and not been forced since, when the power went.
   *
   * @param from its committed length before
   * @param to the end of the extents that are there, which is now its committed length
   */
  public record Shortened(int slot, String relativePath, long from, long to) {}
}
