package io.strata.kafka.tier;

import io.strata.kafka.migration.MoveControl;
import io.strata.kafka.segment.CopyPace;

/** Between the engine's control of a move and the copying of a segment. */
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
}
