package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.Move;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Moves that wait for a thread, and those that have one. Bounded: what does not fit is planned
 * again in a later round, by what is true then.
 *
 * <p>Evictions first, since they cost nothing. Then copies down; copies up never take more than
 * half of the threads, and their turn comes after each three copies down, so that neither starves.
 * Among copies down the target that the fewest threads work for goes first, and where there are
 * several log directories, none gets all threads or the whole queue: a disk that hangs holds up
 * only itself.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class MoveQueue {

  private static final int EVICTIONS = 1024;
  private static final int LEAST_DOWN = 16;
  private static final int LEAST_UP = 8;
  private static final int DOWN_BEFORE_UP = 3;
  private static final int LEAST_SHARE = 2;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private final Deque<PlannedMove> evictions = new ArrayDeque<>();

  @GuardedBy("lock")
  private final Deque<PlannedMove> down = new ArrayDeque<>();

  @GuardedBy("lock")
  private final Deque<PlannedMove> up = new ArrayDeque<>();

  /** By segment: all that wait or run. */
  @GuardedBy("lock")
  private final Map<Long, PlannedMove> inFlight = new HashMap<>();

  @GuardedBy("lock")
  private final Map<Target, Integer> running = new HashMap<>();

  /** By target: copies down that wait. */
  @GuardedBy("lock")
  private final Map<Target, Integer> waitingDown = new HashMap<>();

  @GuardedBy("lock")
  private int directories = 1;

  /** Whether the last plan held more than was taken. */
  @GuardedBy("lock")
  private boolean more;

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

  /**
   * Adds what fits.
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
      more = false;
      for (PlannedMove move : moves) {
        Deque<PlannedMove> queue = queueOf(move);
        if (inFlight.containsKey(move.id())) {
          continue;
        }
        if (queue.size() >= boundOf(move) || hasItsShare(move)) {
          more = true;
        } else {
          inFlight.put(move.id(), move);
          queue.add(move);
          if (move.move().kind() == Move.Kind.DESTAGE) {
            waitingDown.merge(move.target(), 1, Integer::sum);
          }
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private Deque<PlannedMove> queueOf(PlannedMove move) {
    return switch (move.move().kind()) {
      case EVICT -> evictions;
      case DESTAGE -> down;
      case PROMOTE -> up;
    };
  }

  /** Whether a target has as much of the queue as is left for each. */
  @GuardedBy("lock")
  private boolean hasItsShare(PlannedMove move) {
    return directories > 1
        && move.move().kind() == Move.Kind.DESTAGE
        && waitingDown.getOrDefault(move.target(), 0)
            >= Math.max(LEAST_SHARE, boundOf(move) / directories);
  }

  /** Whether a target has as many threads as it may. */
  @GuardedBy("lock")
  private boolean hasItsThreads(Target target) {
    return directories > 1 && running.getOrDefault(target, 0) >= Math.max(1, threads - 1);
  }

  @GuardedBy("lock")
  private int boundOf(PlannedMove move) {
    return switch (move.move().kind()) {
      case EVICT -> EVICTIONS;
      case DESTAGE -> Math.max(LEAST_DOWN, 4 * threads);
      case PROMOTE -> Math.max(LEAST_UP, 2 * threads);
    };
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
          running.merge(next.get().target(), 1, Integer::sum);
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
    // Evictions under way free space for copies up.
    Optional<PlannedMove> nextDown = leastBusyTarget();
    // Evictions under way free space for copies up.
    boolean mayGoUp =
        !up.isEmpty() && runningEvictions == 0 && runningUp < Math.max(1, threads / 2);
    if (mayGoUp && (nextDown.isEmpty() || downSinceUp >= DOWN_BEFORE_UP)) {
      downSinceUp = 0;
      runningUp++;
      return Optional.of(up.remove());
    }
    nextDown.ifPresent(this::takeDown);
    return nextDown;
  }

  /** The first copy down for the target that the fewest threads work for. */
  @GuardedBy("lock")
  private Optional<PlannedMove> leastBusyTarget() {
    Optional<PlannedMove> best = Optional.empty();
    int least = Integer.MAX_VALUE;
    for (PlannedMove move : down) {
      int busy = running.getOrDefault(move.target(), 0);
      if (busy < least && !hasItsThreads(move.target())) {
        best = Optional.of(move);
        least = busy;
      }
    }
    return best;
  }

  @GuardedBy("lock")
  private void takeDown(PlannedMove taken) {
    downSinceUp++;
    waitingDown.computeIfPresent(taken.target(), (target, count) -> count > 1 ? count - 1 : null);
    for (Iterator<PlannedMove> moves = down.iterator(); moves.hasNext(); ) {
      if (moves.next().id() == taken.id()) {
        moves.remove();
        break;
      }
    }
  }

  /** A move that was taken has ended. */
  void done(PlannedMove move) {
    lock.lock();
    try {
      inFlight.remove(move.id());
      running.computeIfPresent(move.target(), (target, count) -> count > 1 ? count - 1 : null);
      switch (move.move().kind()) {
        case PROMOTE -> runningUp--;
        case EVICT -> runningEvictions--;
        default -> {
          // A target may have a thread more.
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the last plan held more than was taken, and the threads have little left to do. */
  boolean wantsMore() {
    lock.lock();
    try {
      if (!more || closed) {
        return false;
      }
      int ready = evictions.size() + up.size();
      for (PlannedMove move : down) {
        ready += hasItsThreads(move.target()) ? 0 : 1;
      }
      return ready <= threads;
    } finally {
      lock.unlock();
    }
  }

  /** All that wait or run. */
  List<PlannedMove> inFlight() {
    lock.lock();
    try {
      return List.copyOf(inFlight.values());
    } finally {
      lock.unlock();
    }
  }

  int queued() {
    lock.lock();
    try {
      return evictions.size() + down.size() + up.size();
    } finally {
      lock.unlock();
    }
  }

  int running() {
    lock.lock();
    try {
      return inFlight.size() - evictions.size() - down.size() - up.size();
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
    for (Deque<PlannedMove> queue : List.of(evictions, down, up)) {
      queue.forEach(move -> inFlight.remove(move.id()));
      queue.clear();
    }
    waitingDown.clear();
  }
}
