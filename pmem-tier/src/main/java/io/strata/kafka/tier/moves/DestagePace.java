package io.strata.kafka.tier.moves;

import io.strata.kafka.migration.plan.MoveControl;
import io.strata.kafka.segment.CopyPace;
import io.strata.kafka.tier.spec.LogDiskPace;
import io.strata.kafka.tier.spec.MoveStage;
import java.util.function.DoubleSupplier;

/**
 * The pace of one copy into a log directory: what the engine allows, and what appends leave of the
 * disk.
 *
 * <p>Thread safety: used by the copying thread.
 */
final class DestagePace implements CopyPace {

  private final MoveControl control;
  private final MovePace steps;
  private final LogDiskPace disk;
  private final DoubleSupplier scarcity;

  /** Since when the copy has worked without a rest. */
  private long resumed;

  private long worked;

  DestagePace(MoveControl control, MoveStage.Hook hook, LogDiskPace disk, DoubleSupplier scarcity) {
    this.control = control;
    this.steps = new MovePace(control, hook, MoveStage.DESTAGE_COPIED);
    this.disk = disk;
    this.scarcity = scarcity;
    this.resumed = disk.nanos();
  }

  @Override
  public boolean stopped() {
    return steps.stopped();
  }

  @Override
  public long pieceBytes() {
    return disk.pieceBytes(control.pieceBytes(), scarcity.getAsDouble());
  }

  @Override
  public void before(long bytes) throws InterruptedException {
    rest();
    long asked = disk.nanos();
    steps.before(bytes);
    // To wait for a limit is no work of the disk.
    resumed += disk.nanos() - asked;
  }

  private void rest() throws InterruptedException {
    long since = disk.nanos() - resumed;
    if (disk.rest(since, scarcity, control::cancelled) > 0) {
      worked += since;
      resumed = disk.nanos();
    }
  }

  @Override
  public void reached(Step step) {
    steps.reached(step);
  }

  /** The copy has come to its end: rests for what the force has taken. */
  void ended(long bytes) throws InterruptedException {
    disk.copied(bytes, worked + disk.nanos() - resumed);
    rest();
  }
}
