package io.strata.kafka.turns;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which accesses happen before which others, as the Java memory model has it: the order that locks,
 * volatile fields and atomics make between threads. Two accesses to the same place, one of them a
 * write, that no such order covers are a race, whichever came first in this play.
 *
 * <p>Vector clocks: each thread counts what it has published, and knows up to where it has seen
 * what the others have.
 *
 * <p>Thread safety: none.
 */
final class Order {

  /** By thread, what it has seen of each. */
  private final int[][] clocks;

  /** What has been published through an object, by its part. */
  private final IdentityHashMap<Object, Map<Object, int[]>> published = new IdentityHashMap<>();

  private final IdentityHashMap<Object, Map<String, List<Access>>> accesses =
      new IdentityHashMap<>();

  /** An access of one thread to a place, when it had published so often. */
  private record Access(int thread, int at, long from, long to, boolean write) {

    boolean meets(Access other) {
      return from < other.to && other.from < to && (write || other.write);
    }

    /** Whether a race with the other one would be one with this one too. */
    boolean covers(Access other) {
      return from <= other.from && other.to <= to && (write || !other.write);
    }
  }

  Order(int threads) {
    clocks = new int[threads][threads];
    for (int thread = 0; thread < threads; thread++) {
      clocks[thread][thread] = 1;
    }
  }

  private static void join(int[] clock, int[] other) {
    for (int i = 0; i < clock.length; i++) {
      clock[i] = Math.max(clock[i], other[i]);
    }
  }

  private int[] of(Object object, Object part) {
    return published
        .computeIfAbsent(object, any -> new HashMap<>())
        .computeIfAbsent(part, any -> new int[clocks.length]);
  }

  /** A thread sees what has been published through a part of an object. */
  void acquire(int thread, Object object, Object part) {
    join(clocks[thread], of(object, part));
  }

  /** A thread sees what has been published through any part of an object. */
  void acquireAll(int thread, Object object) {
    published.getOrDefault(object, Map.of()).values().forEach(clock -> join(clocks[thread], clock));
  }

  /** A thread publishes what it has done and seen through a part of an object. */
  void release(int thread, Object object, Object part) {
    join(of(object, part), clocks[thread]);
    clocks[thread][thread]++;
  }

  /**
   * Notes an access.
   *
   * @return the thread that it races with
   */
  Optional<Integer> access(
      int thread, Object object, String part, long from, long to, boolean write) {
    Access access = new Access(thread, clocks[thread][thread], from, to, write);
    List<Access> before =
        accesses
            .computeIfAbsent(object, any -> new HashMap<>())
            .computeIfAbsent(part, any -> new ArrayList<>());
    Optional<Integer> other =
        before.stream()
            .filter(one -> access.meets(one) && !happensBefore(one, thread))
            .map(Access::thread)
            .findFirst();
    before.removeIf(one -> access.covers(one) && happensBefore(one, thread));
    before.add(access);
    return other;
  }

  private boolean happensBefore(Access access, int thread) {
    return access.thread() == thread || clocks[thread][access.thread()] >= access.at();
  }
}
