package io.strata.kafka.tier;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.segment.Residence;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Which clean segments of each pool give way next.
 *
 * <p>An entry may be stale: whoever takes one asks the segment itself. A segment may be in here
 * twice for a while, which does no harm.
 *
 * <p>Thread safety: all methods may be called by any thread; lock-free.
 */
final class CleanSegments {

  private final Map<Pool, Waiting> byPool = new ConcurrentHashMap<>();

  /** The segments of one pool, and about how much of its room they take. */
  private static final class Waiting {
    private final Queue<TieredSegment> segments = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();

    void add(TieredSegment segment, Residence in) {
      segments.add(segment);
      bytes.addAndGet(in.roomBytes());
    }

    Optional<TieredSegment> take() {
      Optional<TieredSegment> next = Optional.ofNullable(segments.poll());
      next.flatMap(TieredSegment::residence).ifPresent(in -> bytes.addAndGet(-in.roomBytes()));
      return next;
    }
  }

  /** Puts a segment at the end of its pool's queue. */
  void add(TieredSegment segment) {
    segment.residence().ifPresent(in -> waiting(in.pool()).add(segment, in));
  }

  /** Takes the segment that gives way first. */
  Optional<TieredSegment> take(Pool pool) {
    return waiting(pool).take();
  }

  /** About how much room of a pool could be had from them: exact after each planning round. */
  long bytes(Pool pool) {
    return Math.max(0, waiting(pool).bytes.get());
  }

  /** Replaces all queues; in the order given. */
  void replace(Iterable<TieredSegment> inOrder) {
    Map<Pool, Waiting> fresh = new ConcurrentHashMap<>();
    for (TieredSegment segment : inOrder) {
      segment
          .residence()
          .ifPresent(in -> fresh.computeIfAbsent(in.pool(), id -> new Waiting()).add(segment, in));
    }
    for (Pool pool : byPool.keySet()) {
      fresh.computeIfAbsent(pool, id -> new Waiting());
    }
    byPool.putAll(fresh);
  }

  private Waiting waiting(Pool pool) {
    return byPool.computeIfAbsent(pool, id -> new Waiting());
  }
}
