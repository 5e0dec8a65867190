package io.strata.kafka.tier;

import io.strata.kafka.pool.Pool;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Which clean segments of each pool give way next.
 *
 * <p>An entry may be stale: whoever takes one asks the segment itself. A segment may be in here
 * twice for a while, which does no harm.
 *
 * <p>Thread safety: all methods may be called by any thread; lock-free.
 */
final class CleanSegments {

  private final Map<UUID, Queue<TieredSegment>> byPool = new ConcurrentHashMap<>();

  /** Puts a segment at the end of its pool's queue. */
  void add(TieredSegment segment) {
    segment.residence().ifPresent(in -> queue(in.pool()).add(segment));
  }

  /** Takes the segment that gives way first. */
  Optional<TieredSegment> take(Pool pool) {
    return Optional.ofNullable(queue(pool).poll());
  }

  /** Replaces all queues; in the order given. */
  void replace(Iterable<TieredSegment> inOrder) {
    Map<UUID, Queue<TieredSegment>> fresh = new ConcurrentHashMap<>();
    for (TieredSegment segment : inOrder) {
      segment
          .residence()
          .ifPresent(
              in ->
                  fresh
                      .computeIfAbsent(in.pool().info().id(), id -> new ConcurrentLinkedQueue<>())
                      .add(segment));
    }
    for (UUID pool : byPool.keySet()) {
      fresh.computeIfAbsent(pool, id -> new ConcurrentLinkedQueue<>());
    }
    byPool.putAll(fresh);
  }

  private Queue<TieredSegment> queue(Pool pool) {
    return byPool.computeIfAbsent(pool.info().id(), id -> new ConcurrentLinkedQueue<>());
  }
}
