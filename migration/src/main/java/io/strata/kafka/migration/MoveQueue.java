package io.strata.kafka.migration;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.Move;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.Plan.PlannedMove.Target;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Moves that wait for a thread, and those that have one. The waiting moves are the last plan's: the
 * next plan takes their place, so that nothing waits for a reason that has gone, and no bound of
 * the queue holds up a drain until the next round.
 *
 * <p>Evictions first, since they cost nothing. Then copies down; copies up never take more than
 * half of the threads, and their turn comes after each three copies down, so that neither starves.
 * Among copies down the target that the fewest threads work for goes first. Where there are several
 * log directories, the moves of none get all threads, wherever they go, and from three threads on
 * those to no target do: a disk that hangs holds up only itself.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class MoveQueue {

  private static final int DOWN_BEFORE_UP = 3;

  @GuardedBy("this")
  private final Deque<PlannedMove> evictions = new ArrayDeque<>();

  /** The moves by lane, the one first whose turn it is; none is empty. */
  @GuardedBy("this")
  private final Map<Lane, Deque<PlannedMove>> down = new LinkedHashMap<>();

  @GuardedBy("this")
  private final Deque<PlannedMove> up = new ArrayDeque<>();

  /** The moves by segment; as many as there are threads at most. */
  @GuardedBy("this")
  private final Map<Long, PlannedMove> running = new HashMap<>();

  /** Segments with a move that has run since the plan that is being made was begun. */
  @GuardedBy("this")
  private final Set<Long> begun = new HashSet<>();

  /** Segments with a move that runs and is the last one by settings that have been replaced. */
  @GuardedBy("this")
  private final Set<Long> last = new HashSet<>();

  @GuardedBy("this")
  private int directories = 1;

  @GuardedBy("this")
  private int downSinceUp;

  @GuardedBy("this")
  private int threads;

  @GuardedBy("this")
  private boolean closed;

  /** Moves to one target of the segments of one log directory, whose disk all of them need. */
  private record Lane(Target target, String logDirectory) {
    static Lane of(PlannedMove move) {
      return new Lane(move.target(), move.move().segment().logDirectory());
    }
  }

  MoveQueue(int threads) {
    this.threads = threads;
  }

  /** A plan is begun. Returns the moves that it has to count as under way: those that run. */
  synchronized List<PlannedMove> beginPlan() {
    begun.clear();
    begun.addAll(running.keySet());
    return List.copyOf(running.values());
  }

  /**
   * Puts the plan in the place of what waits. Moves that have run since the plan was begun are not
   * the plan's to change: what it has of their segments was true before.
   *
   * @param logDirectories how many there are, from 1
   */
  synchronized void offer(List<PlannedMove> moves, int logDirectories) {
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
    notifyAll();
  }

  @GuardedBy("this")
  private void add(PlannedMove move) {
    Deque<PlannedMove> waiting =
        switch (move.kind()) {
          case EVICT -> evictions;
          case DESTAGE -> down.computeIfAbsent(Lane.of(move), lane -> new ArrayDeque<>());
          case PROMOTE -> up;
        };
    waiting.add(move);
  }

  /**
   * Waits for a move.
   *
   * @param worker the thread's number, from 0
   * @return empty when the thread is to end: it is one too many, or the queue is closed
   */
  synchronized Optional<PlannedMove> take(int worker) throws InterruptedException {
    while (!closed && worker < threads) {
      Optional<PlannedMove> next = next();
      if (next.isPresent()) {
        running.put(next.get().id(), next.get());
        begun.add(next.get().id());
        return next;
      }
      wait();
    }
    return Optional.empty();
  }

  @GuardedBy("this")
  private Optional<PlannedMove> next() {
    Optional<PlannedMove> eviction = firstThatMayRun(evictions);
    if (eviction.isPresent()) {
      return eviction;
    }
    Optional<Lane> nextDown = leastBusyLane();
    // Evictions under way free space for copies up.
    boolean mayGoUp =
        !up.isEmpty()
            && running(move -> move.kind() == Move.Kind.EVICT) == 0
            && running(move -> move.kind() == Move.Kind.PROMOTE) < Math.max(1, threads / 2);
    if (mayGoUp && (nextDown.isEmpty() || downSinceUp >= DOWN_BEFORE_UP)) {
      Optional<PlannedMove> next = firstThatMayRun(up);
      if (next.isPresent()) {
        downSinceUp = 0;
        return next;
      }
    }
    return nextDown.map(this::takeDown);
  }

  @GuardedBy("this")
  private Optional<PlannedMove> firstThatMayRun(Deque<PlannedMove> waiting) {
    for (Iterator<PlannedMove> moves = waiting.iterator(); moves.hasNext(); ) {
      PlannedMove move = moves.next();
      if (mayRun(Lane.of(move))) {
        moves.remove();
        return Optional.of(move);
      }
    }
    return Optional.empty();
  }

  /**
   * None of several directories gets the last thread, and no target does. Two threads may both work
   * for one target: a directory that hangs would else hold up the moves of others to it.
   */
  @GuardedBy("this")
  private boolean mayRun(Lane lane) {
    return directories == 1
        || (busy(lane.logDirectory()) < Math.max(1, threads - 1)
            && busy(lane.target()) < Math.max(2, threads - 1));
  }

  /** Threads that work in a log directory. */
  private long busy(String logDirectory) {
    return running(move -> Lane.of(move).logDirectory().equals(logDirectory));
  }

  /** Threads that work for a target. */
  private long busy(Target target) {
    return running(
        move ->
            target.logDirectory().isEmpty()
                ? move.target().equals(target)
                : move.target().logDirectory().equals(target.logDirectory()));
  }

  private synchronized long running(Predicate<PlannedMove> which) {
    return running.values().stream().filter(which).count();
  }

  /**
   * Chooses among the lanes that may run: the fewest threads work for its target, then in its log
   * directory; then it is its turn.
   */
  @GuardedBy("this")
  private Optional<Lane> leastBusyLane() {
    Optional<Lane> best = Optional.empty();
    long least = Long.MAX_VALUE;
    long leastInDirectory = Long.MAX_VALUE;
    for (Lane lane : down.keySet()) {
      long busy = busy(lane.target());
      long inDirectory = busy(lane.logDirectory());
      if (mayRun(lane) && (busy < least || (busy == least && inDirectory < leastInDirectory))) {
        best = Optional.of(lane);
        least = busy;
        leastInDirectory = inDirectory;
      }
    }
    return best;
  }

  @GuardedBy("this")
  private PlannedMove takeDown(Lane lane) {
    downSinceUp++;
    Deque<PlannedMove> waiting = requireNonNull(down.remove(lane));
    PlannedMove next = waiting.remove();
    if (!waiting.isEmpty()) {
      down.put(lane, waiting);
    }
    return next;
  }

  /**
   * A move that was taken has ended.
   *
   * @param rest what is left of it after a piece: its turn comes after the others for its target
   */
  synchronized void done(PlannedMove move, Optional<PlannedMove> rest) {
    running.remove(move.id());
    if (!last.remove(move.id()) && !closed) {
      rest.ifPresent(this::add);
    }
    notifyAll();
  }

  synchronized int queued() {
    return evictions.size() + up.size() + down.values().stream().mapToInt(Deque::size).sum();
  }

  synchronized int running() {
    return running.size();
  }

  /** Forgets what waits, and has threads from {@code count} on end. */
  synchronized void reset(int count) {
    threads = count;
    forgetWaiting();
    last.addAll(running.keySet());
    notifyAll();
  }

  synchronized void close() {
    closed = true;
    forgetWaiting();
    notifyAll();
  }

  @GuardedBy("this")
  private void forgetWaiting() {
    evictions.clear();
    up.clear();
    down.clear();
  }
}
