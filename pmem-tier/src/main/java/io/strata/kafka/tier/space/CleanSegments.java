package io.strata.kafka.tier.space;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.tier.files.TieredSegment;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Which segments of each pool are evicted next: all of the clean ones, and of others what is clean.
 *
 * <p>An entry may be stale: the caller asks the segment itself. A segment may be in here twice for
 * a while, which does no harm.
 *
 * <p>Thread safety: all methods may be called by any thread; lock-free.
 */
final class CleanSegments {

  private final Map<Pool, Waiting> byPool = new ConcurrentHashMap<>();

  /** A segment, and how much its eviction would have freed when it was added. */
  private record Entry(TieredSegment segment, long bytes) {}

  /** The segments of one pool, and about how much of its space their eviction frees. */
  private static final class Waiting {
    private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();

    void add(TieredSegment segment) {
      Entry entry = new Entry(segment, Evictions.evictableBytes(segment));
      entries.add(entry);
      bytes.addAndGet(entry.bytes());
    }

    Optional<TieredSegment> take() {
      Optional<Entry> next = Optional.ofNullable(entries.poll());
      next.ifPresent(entry -> bytes.addAndGet(-entry.bytes()));
      return next.map(Entry::segment);
    }
  }

  /** Puts a segment at the end of its pool's queue. */
  void add(TieredSegment segment) {
    segment.residence().ifPresent(in -> waiting(in.pool()).add(segment));
  }

  /** Takes the segment that is evicted first. */
  Optional<TieredSegment> take(Pool pool) {
    return waiting(pool).take();
  }

  /** About how much space of a pool could be had from them: exact after each planning round. */
  long bytes(Pool pool) {
    return Math.max(0, waiting(pool).bytes.get());
  }

  /** Replaces all queues; in the order given. */
  void replace(Iterable<TieredSegment> inOrder) {
    Map<Pool, Waiting> fresh = new ConcurrentHashMap<>();
    for (TieredSegment segment : inOrder) {
      segment
          .residence()
          .ifPresent(in -> fresh.computeIfAbsent(in.pool(), id -> new Waiting()).add(segment));
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
