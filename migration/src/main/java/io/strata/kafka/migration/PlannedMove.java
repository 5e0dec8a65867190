package io.strata.kafka.migration;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;

/**
 * A move that the planner lets through.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param move what is done
 * @param target where it goes to
 * @param roomBytes what it takes of a target tier's space; 0 for the log directories and for
 *     evictions
 * @param evictAfter whether the upper copy is evicted as soon as the lower one is durable
 */
record PlannedMove(Move move, Target target, long roomBytes, boolean evictAfter) {

  /** Checks that nothing is null. */
  PlannedMove {
    requireNonNull(move);
    requireNonNull(target);
  }

  /** The bytes that it copies at most; 0 for an eviction. */
  long copiedBytes() {
    SegmentView segment = move.segment();
    return switch (move.kind()) {
      case EVICT -> 0;
      case DESTAGE -> target.logDirectory().isEmpty() ? segment.bytes() : segment.dirtyBytes();
      case PROMOTE -> segment.bytes();
    };
  }

  long id() {
    return move.segment().id();
  }
}
