package io.strata.kafka.tier;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.SegmentTag;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A segment of the tier and where its home is now.
 *
 * <p>Thread safety: the home's path may be read by any thread; it is changed by the thread that
 * renames, under the locks of {@link HotTier}.
 */
final class HotSegment {

  private final Pool pool;
  private final Slot slot;
  private final Segment segment;
  private final SegmentTag tag;
  private final AtomicLong shownMillis;
  private volatile Path home;

  HotSegment(Pool pool, Slot slot, Segment segment, Path home) {
    this.pool = pool;
    this.slot = slot;
    this.segment = segment;
    this.tag = segment.tag();
    this.shownMillis = new AtomicLong(segment.lastChangeMillis());
    this.home = home;
  }

  Pool pool() {
    return pool;
  }

  Slot slot() {
    return slot;
  }

  Segment segment() {
    return segment;
  }

  SegmentTag tag() {
    return tag;
  }

  /** Where home was when it was last opened or renamed through the provider. */
  Path home() {
    return home;
  }

  /**
   * When the segment last changed, if home's modification time does not show that yet; whoever gets
   * an answer is to see to it.
   */
  OptionalLong takeChange() {
    long changed = segment.lastChangeMillis();
    return shownMillis.getAndSet(changed) == changed
        ? OptionalLong.empty()
        : OptionalLong.of(changed);
  }

  void movedTo(Path newHome) {
    home = newHome;
  }
}
