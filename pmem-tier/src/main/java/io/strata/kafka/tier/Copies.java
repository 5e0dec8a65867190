package io.strata.kafka.tier;

import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.MoveResult;
import io.strata.kafka.segment.CopyResult;
import io.strata.kafka.segment.Residence;
import java.io.IOException;
import java.util.Optional;

/**
 * Copies of segments that nobody reads: nothing of the segment itself is lost with them.
 *
 * <p>Thread safety: stateless.
 */
final class Copies {

  private Copies() {}

  /** Frees the slot, durably, and gives its extents back. */
  static void free(Residence copy) throws IOException {
    copy.pool().release(copy.free());
  }

  /** What a copy that did not come to its end means; empty for one that did. */
  static Optional<MoveResult> ended(CopyResult copied, TieredSegment segment)
      throws CorruptSegmentException {
    return switch (copied.outcome()) {
      case COPIED -> Optional.empty();
      case CHANGED -> Optional.of(MoveResult.cancelled("it was changed or deleted meanwhile"));
      case STOPPED -> Optional.of(MoveResult.cancelled("the engine stops"));
      case NO_SPACE -> Optional.of(MoveResult.noSpace("the pool's space is in too many pieces"));
      case CORRUPT ->
          throw new CorruptSegmentException(
              segment.logFile() + ": " + copied.problem() + ", in " + segment.segment().name());
    };
  }
}
