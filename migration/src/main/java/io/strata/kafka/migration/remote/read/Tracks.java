package io.strata.kafka.migration.remote.read;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Finds the {@link Track} that a stream goes on with. Several readers may be in one segment; those
 * that nobody has seen for a while are forgotten.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class Tracks {

  private static final long MEMORY_NANOS = Duration.ofSeconds(60).toNanos();
  private static final long LATELY_NANOS = Duration.ofSeconds(15).toNanos();
  private static final long COUNT_NANOS = Duration.ofMillis(100).toNanos();
  private static final int MOST_SEGMENTS = 4096;
  private static final int MOST_IN_SEGMENT = 8;

  private static final class Segment {
    private final List<Track> tracks = new ArrayList<>();
    private long touchedNanos;
  }

  private final LongSupplier nanoTime;

  /** By the key of the first chunk; the one touched last is at the end. */
  @GuardedBy("this")
  private final Map<ChunkKey, Segment> segments = new LinkedHashMap<>();

  @GuardedBy("this")
  private int active;

  @GuardedBy("this")
  private long countedNanos;

  Tracks(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    countedNanos = nanoTime.getAsLong();
  }

  /** The track that a stream from {@code start} on goes on with, or a new one. */
  synchronized Track begin(ChunkSource source, long start) {
    Segment segment = touch(source);
    Optional<Track> known = nearest(segment.tracks, start);
    known.ifPresent(Track::takeUp);
    return known.orElseGet(() -> add(segment, new Track(source, start)));
  }

  /** Each track is asked once: its reader may move meanwhile. */
  private static Optional<Track> nearest(List<Track> tracks, long start) {
    Optional<Track> nearest = Optional.empty();
    long best = Long.MAX_VALUE;
    for (Track track : tracks) {
      long distance = track.distance(start).orElse(Long.MAX_VALUE);
      if (distance < best) {
        best = distance;
        nearest = Optional.of(track);
      }
    }
    return nearest;
  }

  /** The track of a reader that is expected at a segment's begin. */
  synchronized Track expect(ChunkSource source, long run) {
    Segment segment = touch(source);
    Track track =
        segment.tracks.stream()
            .filter(t -> t.distance(0).isPresent())
            .findFirst()
            .orElseGet(() -> add(segment, new Track(source, 0)));
    track.comesFrom(run);
    return track;
  }

  /** About how many readers that read on were seen lately. */
  synchronized int active() {
    long now = nanoTime.getAsLong();
    if (now - countedNanos > COUNT_NANOS) {
      countedNanos = now;
      forget();
      active = 0;
      for (Segment segment : segments.values()) {
        boolean lately = now - segment.touchedNanos <= LATELY_NANOS;
        active +=
            !lately ? 0 : (int) segment.tracks.stream().filter(t -> t.runChunks() > 0).count();
      }
    }
    return active;
  }

  @GuardedBy("this")
  private Segment touch(ChunkSource source) {
    forget();
    ChunkKey key = source.key(0);
    Segment segment = Optional.ofNullable(segments.remove(key)).orElseGet(Segment::new);
    segment.touchedNanos = nanoTime.getAsLong();
    segments.put(key, segment);
    return segment;
  }

  @GuardedBy("this")
  private Track add(Segment segment, Track track) {
    if (segment.tracks.size() == MOST_IN_SEGMENT) {
      Track unused = segment.tracks.remove(0);
    }
    segment.tracks.add(track);
    return track;
  }

  @GuardedBy("this")
  private void forget() {
    long now = nanoTime.getAsLong();
    for (Iterator<Segment> eldest = segments.values().iterator(); eldest.hasNext(); ) {
      Segment segment = eldest.next();
      boolean old = now - segment.touchedNanos > MEMORY_NANOS;
      if (!old && segments.size() < MOST_SEGMENTS) {
        return;
      }
      eldest.remove();
    }
  }
}
