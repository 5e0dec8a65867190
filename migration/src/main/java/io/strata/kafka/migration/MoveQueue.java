package io.strata.kafka.migration;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Moves that wait for a thread, and those that have one. What waits is the last plan's: the next
 * plan takes its place, so that nothing waits by what is not true any more, and no bound of the
 * queue holds up a drain until the next round.
 *
 * <p>Evictions first, since they cost nothing. Then copies down; copies up never take more than
 * half of the threads, and their turn comes after each three copies down, so that neither starves.
 * Among copies down the target that the fewest threads work for goes first, and where there are
 * several log directories, none gets all threads: a disk that hangs holds up only itself.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class MoveQueue {

  private static final int DOWN_BEFORE_UP = 3;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private final Deque<PlannedMove> evictions = new ArrayDeque<>();

  /** By target, the one first whose turn it is; none is empty. */
  @GuardedBy("lock")
  private final Map<Target, Deque<PlannedMove>> down = new LinkedHashMap<>();

  @GuardedBy("lock")
  private final Deque<PlannedMove> up = new ArrayDeque<>();

  /** By segment. */
  @GuardedBy("lock")
  private final Map<Long, PlannedMove> running = new HashMap<>();

  @GuardedBy("lock")
  private final Map<Target, Integer> runningTo = new HashMap<>();

  /** Segments with a move that has run since the plan that is being made was begun. */
  @GuardedBy("lock")
  private final Set<Long> begun = new HashSet<>();

  /** Segments with a move that runs and is the last one by settings that have been replaced. */
  @GuardedBy("lock")
  private final Set<Long> last = new HashSet<>();

  @GuardedBy("lock")
  private int directories = 1;

  @GuardedBy("lock")
  private int runningUp;

  @GuardedBy("lock")
  private int runningEvictions;

  @GuardedBy("lock")
  private int downSinceUp;

  @GuardedBy("lock")
  private int threads;

  @GuardedBy("lock")
  private boolean closed;

  MoveQueue(int threads) {
    this.threads = threads;
  }

  /** A plan is begun. Returns the moves that it has to count as under way: those that run. */
  List<PlannedMove> beginPlan() {
    lock.lock();
    try {
      begun.clear();
      begun.addAll(running.keySet());
      return List.copyOf(running.values());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Puts the plan in the place of what waits. Moves that have run since the plan was begun are not
   * the plan's to change: what it has of their segments was true before.
   *
   * @param logDirectories how many there are, from 1
   */
  void offer(List<PlannedMove> moves, int logDirectories) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      directories = logDirectories;
      List<PlannedMove> before = new ArrayList<>();
      down.values().forEach(before::addAll);
      forgetWaiting();
      for (PlannedMove piece : before) {
        if (begun.contains(piece.id())) {
          add(piece);
        }
      }
      for (PlannedMove move : moves) {
        if (!begun.contains(move.id())) {
          add(move);
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void add(PlannedMove move) {
    waitingLike(move).add(move);
  }

  @GuardedBy("lock")
  private Deque<PlannedMove> waitingLike(PlannedMove move) {
    return switch (move.move().kind()) {
      case EVICT -> evictions;
      case DESTAGE -> down.computeIfAbsent(move.target(), to -> new ArrayDeque<>());
      case PROMOTE -> up;
    };
  }

  /** Whether a target has as many threads as it may. */
  @GuardedBy("lock")
  private boolean hasItsThreads(Target target) {
    return directories > 1 && runningTo.getOrDefault(target, 0) >= Math.max(1, threads - 1);
  }

  /**
   * Waits for a move.
   *
   * @param worker the thread's number, from 0
   * @return empty when the thread is to end: it is one too many, or the queue is closed
   */
  Optional<PlannedMove> take(int worker) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!closed && worker < threads) {
        Optional<PlannedMove> next = next();
        if (next.isPresent()) {
          running.put(next.get().id(), next.get());
          runningTo.merge(next.get().target(), 1, Integer::sum);
          begun.add(next.get().id());
          return next;
        }
        changed.await();
      }
      return Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private Optional<PlannedMove> next() {
    if (!evictions.isEmpty()) {
      runningEvictions++;
      return Optional.of(evictions.remove());
    }
    Optional<Target> nextDown = leastBusyTarget();
    // Evictions under way free space for copies up.
    boolean mayGoUp =
        !up.isEmpty() && runningEvictions == 0 && runningUp < Math.max(1, threads / 2);
    if (mayGoUp && (nextDown.isEmpty() || downSinceUp >= DOWN_BEFORE_UP)) {
      downSinceUp = 0;
      runningUp++;
      return Optional.of(up.remove());
    }
    return nextDown.map(this::takeDown);
  }

  /** The target that the fewest threads work for, of those the one whose turn it is. */
  @GuardedBy("lock")
  private Optional<Target> leastBusyTarget() {
    Optional<Target> best = Optional.empty();
    int least = Integer.MAX_VALUE;
    for (Target target : down.keySet()) {
      int busy = runningTo.getOrDefault(target, 0);
      if (busy < least && !hasItsThreads(target)) {
        best = Optional.of(target);
        least = busy;
      }
    }
    return best;
  }

  @GuardedBy("lock")
  private PlannedMove takeDown(Target target) {
    downSinceUp++;
    Deque<PlannedMove> waiting = requireNonNull(down.remove(target));
    PlannedMove next = waiting.remove();
    if (!waiting.isEmpty()) {
      down.put(target, waiting);
    }
    return next;
  }

  /**
   * A move that was taken has ended.
   *
   * @param rest what is left of it after a piece: its turn comes after the others for its target
   */
  void done(PlannedMove move, Optional<PlannedMove> rest) {
    lock.lock();
    try {
      running.remove(move.id());
      runningTo.computeIfPresent(move.target(), (target, count) -> count > 1 ? count - 1 : null);
      switch (move.move().kind()) {
        case PROMOTE -> runningUp--;
        case EVICT -> runningEvictions--;
        default -> {
          // A target may have a thread more.
        }
      }
      if (!last.remove(move.id()) && !closed) {
        rest.ifPresent(this::add);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  int queued() {
    lock.lock();
    try {
      int count = evictions.size() + up.size();
      for (Deque<PlannedMove> waiting : down.values()) {
        count += waiting.size();
      }
      return count;
    } finally {
      lock.unlock();
    }
  }

  int running() {
    lock.lock();
    try {
      return running.size();
    } finally {
      lock.unlock();
    }
  }

  /** Forgets what waits, and has threads from {@code count} on end. */
  void reset(int count) {
    lock.lock();
    try {
      threads = count;
      forgetWaiting();
      last.addAll(running.keySet());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      forgetWaiting();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void forgetWaiting() {
    evictions.clear();
    up.clear();
    down.clear();
  }
}
