package io.strata.kafka.tier;

import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The segments that have changed since somebody last looked: each once, however often it changes.
 *
 * <p>Thread safety: any number of threads add; one at a time takes.
 */
final class SegmentChanges {

  private final Queue<TieredSegment> changed = new ConcurrentLinkedQueue<>();

  /** Adds a segment that was not in here. Called after the change. */
  void add(TieredSegment segment) {
    changed.add(segment);
  }

  /**
   * Takes all that there are. A change from here on adds its segment again, so whoever looks at the
   * segment next misses none.
   */
  Set<TieredSegment> take() {
    Set<TieredSegment> taken = new LinkedHashSet<>();
    for (TieredSegment next = changed.poll(); next != null; next = changed.poll()) {
      next.lookedAt();
      taken.add(next);
    }
    return taken;
  }
}
