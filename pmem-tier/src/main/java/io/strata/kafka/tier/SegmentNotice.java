package io.strata.kafka.tier;

import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.SegmentEvents;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Passes what happens to one segment on to those who count and to the tier.
 *
 * <p>Thread safety: as {@link SegmentEvents} asks; {@link #of} is called before the segment is
 * used.
 */
final class SegmentNotice implements SegmentEvents {

  /** What a tier does about its segments. */
  interface Listener {
    /** It has been appended to or truncated; called without a lock, must be quick. */
    void changed(TieredSegment segment);

    /** It is about to be appended to; called without a lock. */
    void appending(TieredSegment segment) throws IOException;

    /** An append to its log file is acknowledged next; called without a lock. */
    void forcedInLogFile(TieredSegment segment) throws IOException;

    /** It is about to be truncated; called without a lock. */
    void truncating(TieredSegment segment) throws IOException;

    /** No channel is open on it. */
    void idle(TieredSegment segment);
  }

  private final SegmentEvents counters;
  private final TierEvents events;
  private final Traffic traffic;
  private final Listener listener;
  private volatile @Nullable TieredSegment segment;

  SegmentNotice(SegmentEvents counters, TierEvents events, Traffic traffic, Listener listener) {
    this.counters = counters;
    this.events = events;
    this.traffic = traffic;
    this.listener = listener;
  }

  void of(TieredSegment named) {
    segment = named;
  }

  /** Whether it is, by its names, a segment of the replica that the broker serves. */
  boolean isCurrent() {
    TieredSegment named = segment;
    return named != null && named.isCurrent();
  }

  @Override
  public void appended(long bytes, long nanos) {
    counters.appended(bytes, nanos);
    TieredSegment named = segment;
    if (named != null) {
      named.disk().appended(bytes, nanos, !named.needsTag() || named.segment().spilled());
    }
  }

  @Override
  public void read(long bytes, long nanos) {
    counters.read(bytes, nanos);
    TieredSegment named = segment;
    if (named != null) {
      named.changed();
      traffic.read(named.residence(), bytes);
    }
  }

  @Override
  public void readInLogFile(long bytes) {
    counters.readInLogFile(bytes);
    TieredSegment named = segment;
    if (named != null && !named.inLogFile()) {
      traffic.readTailInLogFile(named.residence(), bytes);
    }
  }

  @Override
  public void spilled(long bytes, boolean first) {
    TieredSegment named = segment;
    if (named == null || named.inLogFile()) {
      // Nothing of it is in a pool: it is appended to as any file is.
      return;
    }
    counters.spilled(bytes, first);
    // Also when the log file has refused the bytes: then no append follows.
    named.changed();
    traffic.spilled(named.residence(), bytes, first);
    if (first) {
      events.spilled(named.logFile(), named.segment().bytesInPool());
    }
  }

  @Override
  public void evicted(long bytes, boolean atOnce) {
    TieredSegment named = segment;
    if (named != null) {
      named.residence().ifPresent(in -> traffic.evicted(in, bytes, atOnce));
    }
  }

  @Override
  public void appending() throws IOException {
    TieredSegment named = segment;
    if (named != null) {
      listener.appending(named);
    }
  }

  @Override
  public void forcedInLogFile() throws IOException {
    TieredSegment named = segment;
    if (named != null) {
      listener.forcedInLogFile(named);
    }
  }

  @Override
  public void truncating() throws IOException {
    TieredSegment named = segment;
    if (named != null) {
      listener.truncating(named);
    }
  }

  @Override
  public void changed() {
    TieredSegment named = segment;
    if (named != null) {
      named.changed();
      listener.changed(named);
    }
  }

  @Override
  public void idle() {
    TieredSegment named = segment;
    if (named != null) {
      listener.idle(named);
    }
  }

  @Override
  public void leftCache(Segment left, IOException cause) {
    counters.leftCache(left, cause);
    events.leftCache(left.name(), cause);
  }

  @Override
  public void releaseFailed(Segment released, long bytes, IOException cause) {
    counters.releaseFailed(released, bytes, cause);
    events.backgroundFailure("give back " + bytes + " bytes of " + released.name(), cause);
  }
}
