package io.strata.kafka.segment;

import java.io.IOException;

/**
 * Notes what is read from one segment, and passes all events on.
 *
 * <p>Thread safety: as {@link SegmentEvents} asks.
 */
final class ReadEvents implements SegmentEvents {

  private final SegmentEvents next;
  private final Reads reads;
  private final SegmentSettings settings;

  ReadEvents(SegmentEvents next, Reads reads, SegmentSettings settings) {
    this.next = next;
    this.reads = reads;
    this.settings = settings;
  }

  @Override
  public void appended(long bytes, long nanos) {
    next.appended(bytes, nanos);
  }

  @Override
  public void read(long bytes, long nanos) {
    reads.add(bytes, settings.clock().millis());
    next.read(bytes, nanos);
  }

  @Override
  public void readInLogFile(long bytes) {
    next.readInLogFile(bytes);
  }

  @Override
  public void spilled(long bytes, boolean first) {
    next.spilled(bytes, first);
  }

  @Override
  public void releaseFailed(Segment segment, long bytes, IOException cause) {
    next.releaseFailed(segment, bytes, cause);
  }
}
