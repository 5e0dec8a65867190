package io.strata.kafka.tier.moves;

import io.strata.kafka.memory.calls.PageCache;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
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

  /** A disk of 80 MB/s writes so many bytes in 26 ms. */
  static final long WRITTEN_OUT_BYTES = 2 << 20;

  private final MoveControl control;
  private final MovePace steps;
  private final LogDiskPace disk;
  private final DoubleSupplier scarcity;
  private final PageCache.WriteOut out;

  /** The bytes that have been written, and not written out. */
  private long unwrittenFrom;

  private long unwrittenTo;

  /** Since when the copy has worked without a rest. */
  private long resumed;

  private long worked;

  DestagePace(
      MoveControl control,
      MoveStage.Hook hook,
      LogDiskPace disk,
      DoubleSupplier scarcity,
      PageCache.WriteOut out) {
    this.control = control;
    this.steps = new MovePace(control, hook, MoveStage.DESTAGE_COPIED);
    this.disk = disk;
    this.scarcity = scarcity;
    this.out = out;
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

  /**
   * Keeps in the disk's queue only as much as the disk writes in a moment. Kafka's calls beside a
   * copy wait behind that: the first store to a page of an index, for the journal's commit.
   */
  @Override
  public void written(long position, long length) {
    if (position != unwrittenTo) {
      unwrittenFrom = position;
    }
    unwrittenTo = position + length;
    if (unwrittenTo - unwrittenFrom >= WRITTEN_OUT_BYTES) {
      out.range(unwrittenFrom, unwrittenTo - unwrittenFrom);
      unwrittenFrom = unwrittenTo;
    }
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
