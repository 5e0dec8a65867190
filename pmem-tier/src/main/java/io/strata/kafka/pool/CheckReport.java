package io.strata.kafka.pool;

import io.strata.kafka.pool.words.CheckFinding;
import java.util.List;
import java.util.Optional;

/**
 * The result of checking a pool.
 *
 * @param info what the pool is; empty when its superblock cannot be read
 * @param liveSlots sound slots that hold a segment
 * @param deletingSlots sound slots whose deletion was begun
 * @param freeSlots sound slots that are free
 * @param usedBytes bytes in the extents of sound slots
 */
public record CheckReport(
    Optional<PoolInfo> info,
    int liveSlots,
    int deletingSlots,
    int freeSlots,
    long usedBytes,
    List<CheckFinding> findings) {

  /** Returns whether nothing was found. */
  public boolean clean() {
    return findings.isEmpty();
  }

  /**
   * Returns whether the pool can be opened for writing as it is: nothing worse than a warning was
   * found.
   */
  public boolean usable() {
    return findings.stream()
        .noneMatch(finding -> finding.severity() == CheckFinding.Severity.ERROR);
  }
}
