package io.strata.kafka.tier;

import io.strata.kafka.segment.SegmentTag;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The segments whose bytes are in the pools, by tag and by the directory of their home.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class SegmentRegistry {

  private final ConcurrentMap<SegmentTag, HotSegment> byTag = new ConcurrentHashMap<>();
  private final ConcurrentMap<Path, Set<HotSegment>> byDirectory = new ConcurrentHashMap<>();

  /** Adds the segment, unless its tag is known: then the known one is returned. */
  HotSegment add(HotSegment segment) {
    HotSegment known = byTag.putIfAbsent(segment.tag(), segment);
    if (known != null) {
      return known;
    }
    index(segment);
    return segment;
  }

  Optional<HotSegment> find(SegmentTag tag) {
    return Optional.ofNullable(byTag.get(tag));
  }

  void remove(HotSegment segment) {
    byTag.remove(segment.tag(), segment);
    unindex(segment);
  }

  /** Notes that home has another path. */
  void moved(HotSegment segment, Path newHome) {
    if (newHome.equals(segment.home())) {
      return;
    }
    unindex(segment);
    segment.movedTo(newHome);
    index(segment);
  }

  /** The segments whose home is in {@code directory}. */
  List<HotSegment> in(Path directory) {
    return List.copyOf(byDirectory.getOrDefault(directory, Set.of()));
  }

  Collection<HotSegment> all() {
    return byTag.values();
  }

  int size() {
    return byTag.size();
  }

  private void index(HotSegment segment) {
    byDirectory.compute(
        directoryOf(segment),
        (directory, segments) -> {
          Set<HotSegment> in = segments == null ? ConcurrentHashMap.newKeySet() : segments;
          in.add(segment);
          return in;
        });
  }

  private void unindex(HotSegment segment) {
    byDirectory.computeIfPresent(
        directoryOf(segment), (directory, segments) -> without(segments, segment));
  }

  private static @Nullable Set<HotSegment> without(Set<HotSegment> segments, HotSegment segment) {
    segments.remove(segment);
    return segments.isEmpty() ? null : segments;
  }

  private static Path directoryOf(HotSegment segment) {
    Path parent = segment.home().getParent();
    return parent == null ? segment.home() : parent;
  }
}
