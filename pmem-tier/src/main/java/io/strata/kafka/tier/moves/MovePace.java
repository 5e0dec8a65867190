package io.strata.kafka.tier.moves;

import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.segment.CopyPace;
import io.strata.kafka.segment.CopyResult;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.MoveStage;
import java.util.Optional;

/**
 * Stands between the engine and the copying of a segment: passes on its control, and says what came
 * of the copy.
 */
final class MovePace implements CopyPace {

  private final MoveControl control;
  private final MoveStage.Hook hook;
  private final MoveStage copied;

  MovePace(MoveControl control, MoveStage.Hook hook, MoveStage copied) {
    this.control = control;
    this.hook = hook;
    this.copied = copied;
  }

  @Override
  public boolean stopped() {
    return control.cancelled();
  }

  @Override
  public void before(long bytes) throws InterruptedException {
    control.beforeCopying(bytes);
  }

  @Override
  public void reached(Step step) {
    if (step == Step.COPIED) {
      hook.reached(copied);
    } else if (copied == MoveStage.DESTAGE_COPIED) {
      hook.reached(step == Step.FORCED ? MoveStage.DESTAGE_FORCED : MoveStage.DESTAGE_VERIFIED);
    }
  }

  /** Returns what came of a copy that did not come to its end; empty for one that did. */
  static Optional<MoveResult> ended(CopyResult copied, TieredSegment segment)
      throws CorruptSegmentException {
    return switch (copied.outcome()) {
      case COPIED -> Optional.empty();
      case CHANGED -> Optional.of(MoveResult.cancelled("it was changed or deleted meanwhile"));
      case STOPPED -> Optional.of(MoveResult.cancelled("the engine stops"));
      case TARGET_FULL ->
          Optional.of(MoveResult.targetFull("the pool's space is in too many pieces"));
      case CORRUPT ->
          throw new CorruptSegmentException(
              segment.logFile() + ": " + copied.problem() + ", in " + segment.segment().name());
    };
  }
}
