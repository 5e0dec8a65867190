package io.strata.kafka.migration;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Moves that wait for a thread, and those that have one. Bounded by the bytes that they copy: what
 * does not fit is planned again in a later round, by what is true then.
 *
 * <p>Evictions first, since they cost nothing. Then copies down; copies up never take more than
 * half of the threads, and their turn comes after each three copies down, so that neither starves.
 * Among copies down the target that the fewest threads work for goes first, and where there are
 * several log directories, none gets all threads: a disk that hangs holds up only itself.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class MoveQueue {

  /**
   * So many bytes wait for one target, and on the way up; the last move may go beyond. A fast disk
   * takes them in a fraction of a second, and the next round comes when little is left.
   */
  static final long BYTES_AHEAD = 256 << 20;

  private static final int DOWN_BEFORE_UP = 3;

  /** Moves in order, and the bytes that they copy. */
  private static final class Waiting {
    private final Deque<PlannedMove> moves = new ArrayDeque<>();
    private long bytes;

    boolean isFull() {
      return bytes >= BYTES_AHEAD;
    }

    void add(PlannedMove move) {
      moves.add(move);
      bytes += move.copiedBytes();
    }

    PlannedMove take() {
      PlannedMove next = moves.remove();
      bytes -= next.copiedBytes();
      return next;
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private final Waiting evictions = new Waiting();

  /** By target, the one first whose turn it is; none is empty. */
  @GuardedBy("lock")
  private final Map<Target, Waiting> down = new LinkedHashMap<>();

  @GuardedBy("lock")
  private final Waiting up = new Waiting();

  /** By segment: all that wait or run. */
  @GuardedBy("lock")
  private final Map<Long, PlannedMove> inFlight = new HashMap<>();

  @GuardedBy("lock")
  private final Map<Target, Integer> running = new HashMap<>();

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
        if (inFlight.containsKey(move.id())) {
          continue;
        }
        Waiting waiting = waitingFor(move);
        if (waiting.isFull()) {
          more = true;
        } else {
          inFlight.put(move.id(), move);
          waiting.add(move);
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private Waiting waitingFor(PlannedMove move) {
    return switch (move.move().kind()) {
      case EVICT -> evictions;
      case DESTAGE -> down.computeIfAbsent(move.target(), target -> new Waiting());
      case PROMOTE -> up;
    };
  }

  /** Whether a target has as many threads as it may. */
  @GuardedBy("lock")
  private boolean hasItsThreads(Target target) {
    return directories > 1 && running.getOrDefault(target, 0) >= Math.max(1, threads - 1);
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
    if (!evictions.moves.isEmpty()) {
      runningEvictions++;
      return Optional.of(evictions.take());
    }
    Optional<Target> nextDown = leastBusyTarget();
    // Evictions under way free space for copies up.
    boolean mayGoUp =
        !up.moves.isEmpty() && runningEvictions == 0 && runningUp < Math.max(1, threads / 2);
    if (mayGoUp && (nextDown.isEmpty() || downSinceUp >= DOWN_BEFORE_UP)) {
      downSinceUp = 0;
      runningUp++;
      return Optional.of(up.take());
    }
    return nextDown.map(this::takeDown);
  }

  /** The target that the fewest threads work for, of those the one whose turn it is. */
  @GuardedBy("lock")
  private Optional<Target> leastBusyTarget() {
    Optional<Target> best = Optional.empty();
    int least = Integer.MAX_VALUE;
    for (Target target : down.keySet()) {
      int busy = running.getOrDefault(target, 0);
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
    Waiting waiting = requireNonNull(down.remove(target));
    PlannedMove next = waiting.take();
    if (!waiting.moves.isEmpty()) {
      down.put(target, waiting);
    }
    return next;
  }

  /**
   * A move that was taken has ended.
   *
   * @param leavesMore whether it has copied a piece, and the segment is to be planned again
   */
  void done(PlannedMove move, boolean leavesMore) {
    lock.lock();
    try {
      more |= leavesMore;
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
      int ready = evictions.moves.size() + up.moves.size();
      for (Map.Entry<Target, Waiting> each : down.entrySet()) {
        ready += hasItsThreads(each.getKey()) ? 0 : each.getValue().moves.size();
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
      return queuedWithoutLocking();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private int queuedWithoutLocking() {
    int count = evictions.moves.size() + up.moves.size();
    for (Waiting waiting : down.values()) {
      count += waiting.moves.size();
    }
    return count;
  }

  int running() {
    lock.lock();
    try {
      return inFlight.size() - queuedWithoutLocking();
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
    forget(evictions);
    forget(up);
    down.values().forEach(this::forget);
    down.clear();
  }

  @GuardedBy("lock")
  private void forget(Waiting waiting) {
    while (!waiting.moves.isEmpty()) {
      inFlight.remove(waiting.take().id());
    }
  }
}
