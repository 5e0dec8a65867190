package io.strata.kafka.tier;

import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.SegmentEvents;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Passes a segment's events on, and names the segment when it spills.
 *
 * <p>Thread safety: as {@link SegmentEvents} asks; {@link #of} is called before the segment is
 * used.
 */
final class SpillNotice implements SegmentEvents {

  private final SegmentEvents counters;
  private final TierEvents events;
  private volatile @Nullable HotSegment segment;

  SpillNotice(SegmentEvents counters, TierEvents events) {
    this.counters = counters;
    this.events = events;
  }

  void of(HotSegment named) {
    segment = named;
  }

  @Override
  public void appended(long bytes, long nanos) {
    counters.appended(bytes, nanos);
  }

  @Override
  public void read(long bytes, long nanos) {
    counters.read(bytes, nanos);
  }

  @Override
  public void readAtHome(long bytes) {
    counters.readAtHome(bytes);
  }

  @Override
  public void spilled(long bytes, boolean first) {
    counters.spilled(bytes, first);
    HotSegment named = segment;
    if (first && named != null) {
      events.spilled(named.home(), named.slot().committedLength());
    }
  }

  @Override
  public void releaseFailed(Segment released, long bytes, IOException cause) {
    counters.releaseFailed(released, bytes, cause);
    events.backgroundFailure("give back " + bytes + " bytes of " + released.name(), cause);
  }
}
