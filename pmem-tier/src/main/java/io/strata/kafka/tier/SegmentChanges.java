package io.strata.kafka.tier;

import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What has changed since the last look: the segments, each once, however often it changes, and the
 * directories in which other segments are listed than before.
 *
 * <p>Thread safety: any number of threads add; one at a time takes.
 */
final class SegmentChanges {

  private final Queue<TieredSegment> changed = new ConcurrentLinkedQueue<>();
  private final Set<Path> relisted = ConcurrentHashMap.newKeySet();

  /** Adds a segment that was not in here. Called after the change. */
  void add(TieredSegment segment) {
    changed.add(segment);
  }

  /** A segment came into a directory, or left it. Called after that, and before {@link #add}. */
  void relisted(Path directory) {
    relisted.add(directory);
  }

  /**
   * Takes all segments that there are. A change from here on adds its segment again, so whoever
   * looks at the segment next misses none.
   */
  Set<TieredSegment> take() {
    Set<TieredSegment> taken = new LinkedHashSet<>();
    for (TieredSegment next = changed.poll(); next != null; next = changed.poll()) {
      next.lookedAt();
      taken.add(next);
    }
    return taken;
  }

  /** Takes all directories that there are, likewise. */
  Set<Path> takeRelisted() {
    Set<Path> taken = new LinkedHashSet<>();
    boolean unused = relisted.removeIf(taken::add);
    return taken;
  }
}
