package io.strata.kafka.segment;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;

/** Channels that are opened and closed while the segment is deleted. */
@Param(name = "channel", gen = IntGen.class, conf = "0:2")
public final class LifetimeOperations {

  private final AtomicInteger ends = new AtomicInteger();
  private final Lifetime lifetime = new Lifetime(SegmentEvents.NONE);
  private final boolean[] open = new boolean[3];
  private final Object[] descriptors = {new Object(), new Object(), new Object()};
  private boolean deleted;

  /** Opens a channel that is not open. */
  @Operation
  public String open(@Param(name = "channel") int channel) {
    synchronized (open) {
      if (open[channel]) {
        return "open";
      }
      try {
        lifetime.channelOpened("s", descriptors[channel]);
      } catch (IOException e) {
        return "deleted";
      }
      open[channel] = true;
      return "opened";
    }
  }

  /** Closes one, as any thread may: an interrupt closes channels in threads that hold locks. */
  @Operation
  public String close(@Param(name = "channel") int channel) {
    synchronized (open) {
      if (!open[channel]) {
        return "closed";
      }
      open[channel] = false;
    }
    lifetime.channelCloses(descriptors[channel]);
    lifetime.channelClosed();
    return "closed now";
  }

  /** The end, once. */
  @Operation(nonParallelGroup = "delete")
  public void delete() {
    if (!deleted) {
      deleted = true;
      lifetime.close();
      lifetime.whenUnused(
          () -> {
            int unused = ends.incrementAndGet();
          });
    }
  }

  /** The bytes went once, if and only if the segment was deleted and no channel is open. */
  @Validate
  public void validate() {
    int expected = deleted && lifetime.channels() == 0 ? 1 : 0;
    if (ends.get() != expected) {
      throw new IllegalStateException(ends + " ends, expected " + expected);
    }
  }
}
