package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.plan.MoveControl;
import io.strata.kafka.migration.plan.MoveResult;
import io.strata.kafka.migration.remote.store.disk.WorkProgress;
import java.io.IOException;

/**
 * One level of the store: directories, or another manager. Segments move from one level to another
 * by what the levels do, and a move does not ask which kind a level is. {@link ColdCopies} has what
 * a directory keeps of a segment that the other manager has.
 */
public interface Level {

  /** Returns whether it has a segment's bytes, as far as is known. Does no I/O. */
  boolean has(KnownSegment entry);

  /** Returns what the store may take there, as far as is known; 0 where it takes what comes. */
  long capacityBytes();

  /**
   * Gets a segment's bytes from the other levels, which keep what they have.
   *
   * @param progress of this move
   * @throws io.strata.kafka.migration.CorruptSegmentException if they are not what the manifest
   *     says
   */
  MoveResult receive(KnownSegment entry, WorkProgress progress, MoveControl control)
      throws IOException, InterruptedException;
}
