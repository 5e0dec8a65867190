package io.strata.kafka.tier.files;

import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.SegmentNames;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The segments that this process knows: those with bytes in a pool, and those all of whose bytes
 * are in the log file that have an open channel. Finds them by tag, by inode, by number, and by the
 * directory of their log file.
 *
 * <p>An inode may be another file's after its deletion. It leads to a segment only while a
 * descriptor of ours is open on that segment's file ({@link TieredSegment#isHeld}), and then that
 * is the segment's.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class SegmentRegistry {

  private final ConcurrentMap<SegmentTag, TieredSegment> byTag = new ConcurrentHashMap<>();

  /** At least those that are held; an entry of another means nothing. */
  private final ConcurrentMap<Object, TieredSegment> byInode = new ConcurrentHashMap<>();

  private final ConcurrentMap<Long, TieredSegment> byId = new ConcurrentHashMap<>();

  /**
   * Immutable lists, by number in each, so that every run iterates in the same order. A list of one
   * or two takes least memory by its collector.
   */
  private final ConcurrentMap<Path, List<TieredSegment>> byDirectory = new ConcurrentHashMap<>();

  private final AtomicLong ids = new AtomicLong();

  /** The segments that have changed since the last look, each once, however often it changed. */
  private final Queue<TieredSegment> changed = new ConcurrentLinkedQueue<>();

  /** The directories in which other segments are listed than at the last look. */
  private final Set<Path> relisted = ConcurrentHashMap.newKeySet();

  /** A number for a segment, given once in this process. */
  public long nextId() {
    return ids.incrementAndGet();
  }

  /** Adds a segment that is not among the changed ones. Called after the change. */
  void changed(TieredSegment segment) {
    changed.add(segment);
  }

  /** Another segment is listed in a directory. Called after that, and before {@link #changed}. */
  void relisted(Path directory) {
    relisted.add(directory);
  }

  /**
   * Takes the segments that came, went or changed; one thread at a time. A change from here on adds
   * its segment again, so the next look at the segment misses none.
   */
  public Set<TieredSegment> takeChanges() {
    Set<TieredSegment> taken = new LinkedHashSet<>();
    for (TieredSegment next = changed.poll(); next != null; next = changed.poll()) {
      next.lookedAt();
      taken.add(next);
    }
    return taken;
  }

  /** Takes the directories whose segments are others, likewise. */
  public Set<Path> takeRelisted() {
    Set<Path> taken = new LinkedHashSet<>();
    boolean unused = relisted.removeIf(taken::add);
    return taken;
  }

  /** Returns whether the segment is known still. */
  public boolean has(TieredSegment segment) {
    return byId.get(segment.id()) == segment;
  }

  /** Adds a segment in a pool, unless its tag is known: then the known one is returned. */
  public TieredSegment add(TieredSegment segment) {
    SegmentTag tag = segment.tag();
    TieredSegment known = byTag.putIfAbsent(tag, segment);
    if (known != null) {
      return known;
    }
    segment.addTag(tag);
    byInode.put(segment.fileKey(), segment);
    byId.put(segment.id(), segment);
    index(segment);
    return segment;
  }

  /**
   * Adds a segment that needs no tag and on which a channel is open.
   *
   * @return the segment that is known of that file now: another one if another thread was faster
   */
  public TieredSegment addUnpooled(TieredSegment segment) {
    TieredSegment known =
        byInode.compute(
            segment.fileKey(),
            (key, other) -> other == null || isLeftOver(other) ? indexed(segment) : other);
    return known == null ? segment : known;
  }

  private TieredSegment indexed(TieredSegment segment) {
    if (byId.put(segment.id(), segment) == null) {
      index(segment);
    }
    return segment;
  }

  /** Returns whether an entry is of an earlier file with the same inode, or as good as closed. */
  private static boolean isLeftOver(TieredSegment entry) {
    return entry.inPool() || !entry.isHeld();
  }

  /** Notes that the log file's tag may name this copy of the segment from now on. */
  public void addTag(SegmentTag tag, TieredSegment segment) {
    byTag.put(tag, segment);
    segment.addTag(tag);
  }

  /** Notes that the log file's tag does not name this copy any more. */
  public void removeTag(SegmentTag tag, TieredSegment segment) {
    byTag.remove(tag, segment);
    segment.removeTag(tag);
  }

  /** Forgets all; while recovery alone knows of them. */
  public void clear() {
    byTag.clear();
    byInode.clear();
    byId.clear();
    byDirectory.clear();
  }

  public Optional<TieredSegment> find(SegmentTag tag) {
    return Optional.ofNullable(byTag.get(tag));
  }

  /** The segment of an untagged file, if a descriptor of ours is open on it. */
  public Optional<TieredSegment> findInLogFile(Object fileKey) {
    return Optional.ofNullable(byInode.get(fileKey))
        .filter(known -> !known.inPool() && known.isHeld());
  }

  public Optional<TieredSegment> find(long id) {
    return Optional.ofNullable(byId.get(id));
  }

  /** Forgets a segment. */
  public void remove(TieredSegment segment) {
    segment.tags().forEach(tag -> removeTag(tag, segment));
    byInode.remove(segment.fileKey(), segment);
    byId.remove(segment.id());
    unindex(segment);
  }

  /**
   * Keeps a segment known until {@link TieredSegment#moveEnds}, whether a channel is open on it or
   * not: a second object that is made for its file would not see where it is moved. The caller
   * holds its file from before until then.
   *
   * @return false if it is not known any more
   */
  public boolean moveBegins(TieredSegment segment) {
    TieredSegment found =
        byInode.computeIfPresent(
            segment.fileKey(),
            (key, known) -> {
              if (known == segment) {
                segment.moveBegins();
              }
              return known;
            });
    return found == segment;
  }

  /** Forgets a segment that has no tag and needs none, when no channel is open on it. */
  public void removeIfIdle(TieredSegment segment) {
    TieredSegment unused =
        byInode.compute(segment.fileKey(), (key, known) -> withoutIdle(segment, known));
  }

  private @Nullable TieredSegment withoutIdle(
      TieredSegment segment, @Nullable TieredSegment known) {
    if (segment.inPool()
        || !segment.tags().isEmpty()
        || segment.moving()
        || segment.segment().openChannels() > 0) {
      return known;
    }
    byId.remove(segment.id());
    unindex(segment);
    return known == segment ? null : known;
  }

  /** Notes that the log file has another path. */
  public void moved(TieredSegment segment, Path newLogFile) {
    if (newLogFile.equals(segment.logFile())) {
      return;
    }
    unindex(segment);
    segment.movedTo(newLogFile);
    if (byId.containsKey(segment.id())) {
      index(segment);
    }
  }

  /** The directory of a log file: the object that the other segments there have, if any has. */
  Path directoryOf(Path logFile) {
    Path directory = Directories.of(logFile);
    return in(directory).stream()
        .map(TieredSegment::directory)
        .filter(directory::equals)
        .findFirst()
        .orElse(directory);
  }

  /** The segments whose log file is in {@code directory}, in the order in which they came. */
  public List<TieredSegment> in(Path directory) {
    return byDirectory.getOrDefault(directory, List.of());
  }

  /** Returns whether a newer segment of a segment's partition is known, and has records. */
  public boolean hasRecordsBehind(Path segment) {
    OptionalLong offset = SegmentNames.offsetOf(segment);
    return offset.isPresent()
        && in(Directories.of(segment)).stream()
            .anyMatch(other -> other.isLive() && isNewer(other, offset.getAsLong()));
  }

  private static boolean isNewer(TieredSegment segment, long offset) {
    return segment.segment().size() > 0 && segment.offset().orElse(offset) > offset;
  }

  /** All segments, in pools and in the log file. */
  public Collection<TieredSegment> all() {
    return byId.values();
  }

  /** The segments with bytes in a pool, or a slot at least. */
  public List<TieredSegment> inPools() {
    return byId.values().stream().filter(TieredSegment::inPool).toList();
  }

  /** Returns how many segments have bytes in a pool, or a slot at least. */
  public int size() {
    int count = 0;
    for (TieredSegment segment : byId.values()) {
      count += segment.inPool() ? 1 : 0;
    }
    return count;
  }

  private void index(TieredSegment segment) {
    Path in = segment.directory();
    byDirectory.compute(in, (directory, segments) -> with(segments, segment));
    relisted(in);
    segment.changed();
  }

  private void unindex(TieredSegment segment) {
    Path in = segment.directory();
    byDirectory.computeIfPresent(in, (directory, segments) -> without(segments, segment));
    relisted(in);
    segment.changed();
  }

  private static List<TieredSegment> with(
      @Nullable List<TieredSegment> segments, TieredSegment segment) {
    return Stream.concat(Stream.ofNullable(segments).flatMap(List::stream), Stream.of(segment))
        .sorted(Comparator.comparingLong(TieredSegment::id))
        .collect(Collectors.toUnmodifiableList());
  }

  private static @Nullable List<TieredSegment> without(
      List<TieredSegment> segments, TieredSegment segment) {
    List<TieredSegment> others =
        segments.stream()
            .filter(other -> other != segment)
            .collect(Collectors.toUnmodifiableList());
    return others.isEmpty() ? null : others;
  }
}
