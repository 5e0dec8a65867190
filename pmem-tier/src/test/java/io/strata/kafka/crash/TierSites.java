package io.strata.kafka.crash;

import java.util.Set;

/** The places of the tier at which something is made durable. Stateless. */
final class TierSites {

  /** Who makes something durable for others: classes, or single methods of a class. */
  private static final Set<String> HELPERS =
      Set.of(
          "SlotWords",
          "ExtentBytes",
          "Directories",
          "Interrupts",
          "Residence",
          "CopySlots.free",
          "Slot.force",
          "Slot.forceBytes",
          "Slot.set",
          "Slot.clear",
          "Slot.orphan",
          "Slot.changeFlags",
          "Slot.free",
          "Slot.markDeleting",
          "Slot.publishExtent",
          "Slot.grow",
          "Slot.growFor",
          "Slot.commit",
          "Slot.forceTruncation",
          "Pool.force",
          "Pool.forceSlots",
          "Pool.release",
          "Pool.zeroDurably",
          "Session.write",
          "Superblocks.write",
          "PoolOpener.forceTable",
          "DurableNames.forceEntries",
          "DurableNames.force",
          "DurableNames.forceDirectory",
          "UnsyncedRenames",
          "LogFile",
          "DurableNames.makeDurable",
          "DurableNames.makeDurableIfThere",
          "SpilledTail.truncate",
          "SpilledTail.force",
          "Segment",
          "SegmentWriter.set",
          "SegmentWriter.clear",
          "SegmentWriter.orphan",
          "SegmentWriter.free",
          "SegmentWriter.release",
          "SegmentWriter.markDeleting",
          "SegmentWriter.exclusively",
          "SegmentForcer.force",
          "SegmentForcer.forceOnce");

  /** Who uses the tier; what is behind them is a machine in which this one was cut. */
  private static final Set<String> OUTSIDE = Set.of("crash.SimWorld", "crash.Workload");

  private TierSites() {}

  /** None of them met yet. */
  static StackSites create() {
    return new StackSites(HELPERS, Set.of("crash."), OUTSIDE);
  }
}
