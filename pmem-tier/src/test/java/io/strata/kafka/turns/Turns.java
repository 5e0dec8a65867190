package io.strata.kafka.turns;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Has threads run one at a time. Rewritten classes ({@link TurnsLoader}) call the static methods;
 * each is a point at which the seed may give the turn to another thread.
 *
 * <p>What is tried is sequentially consistent: that a field is volatile is not.
 *
 * <p>Thread safety: the state is the thread's whose turn it is.
 */
public final class Turns {

  /** More mean that the threads wait for each other for ever. */
  private static final int MOST_STEPS = 200_000;

  private final SplittableRandom random;
  private final int oneIn;
  private final List<Actor> actors = new ArrayList<>();
  private final IdentityHashMap<Object, Hold> holds = new IdentityHashMap<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private int steps;

  /** Who has a lock or a monitor, and how often. */
  private record Hold(Thread owner, int count) {}

  /** Ends the other threads when one has failed. */
  private static final class Over extends Error {
    private static final long serialVersionUID = 1;

    Over() {
      super("another thread has failed", null, false, false);
    }
  }

  private final class Actor extends Thread {
    private final Callable<?> part;
    private final Semaphore turn = new Semaphore(0);
    private boolean ended;

    Actor(Callable<?> part) {
      this.part = part;
      setDaemon(true);
    }

    @Override
    public void run() {
      turn.acquireUninterruptibly();
      try {
        if (failure.get() == null) {
          part.call();
        }
      } catch (Over over) {
        // The failure is another one's.
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      }
      ended = true;
      List<Actor> left = others(this);
      if (!left.isEmpty()) {
        left.get(random.nextInt(left.size())).turn.release();
      }
    }

    private void give() {
      if (failure.get() == null && ++steps > MOST_STEPS) {
        failure.set(new IllegalStateException("no end after " + steps + " steps"));
      }
      List<Actor> others = others(this);
      if (failure.get() == null && !others.isEmpty()) {
        others.get(random.nextInt(others.size())).turn.release();
        turn.acquireUninterruptibly();
      }
      if (failure.get() != null) {
        throw new Over();
      }
    }

    private Turns turns() {
      return Turns.this;
    }

    private void step() {
      if (random.nextInt(oneIn) == 0) {
        give();
      }
    }
  }

  private Turns(long seed) {
    this.random = new SplittableRandom(seed);
    this.oneIn = 2 << random.nextInt(5);
  }

  /**
   * Plays a play under a seed.
   *
   * @throws AssertionError when a part or the end fails
   */
  static void play(Play play, long seed) throws Exception {
    Turns turns = new Turns(seed);
    turns.run(play.parts());
    Throwable failed = turns.failure.get();
    if (failed != null) {
      throw new AssertionError("seed " + seed + ": " + failed, failed);
    }
    play.end();
  }

  private void run(List<Callable<?>> parts) throws InterruptedException {
    parts.forEach(part -> actors.add(new Actor(part)));
    actors.forEach(Thread::start);
    actors.get(random.nextInt(actors.size())).turn.release();
    for (Actor actor : actors) {
      actor.join();
    }
  }

  private List<Actor> others(Actor self) {
    return actors.stream().filter(actor -> actor != self && !actor.ended).toList();
  }

  /** The turn may go to another thread here. */
  public static void step() {
    if (Thread.currentThread() instanceof Actor self) {
      self.step();
    }
  }

  /** In the place of a monitor's beginning. */
  public static void enter(Object monitor) {
    if (Thread.currentThread() instanceof Actor self) {
      self.step();
      while (!self.turns().take(monitor)) {
        self.give();
      }
    }
  }

  private boolean take(Object lock) {
    Hold hold = holds.getOrDefault(lock, new Hold(Thread.currentThread(), 0));
    if (hold.owner() != Thread.currentThread()) {
      return false;
    }
    holds.put(lock, new Hold(hold.owner(), hold.count() + 1));
    return true;
  }

  /** In the place of a monitor's end. */
  public static void exit(Object monitor) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().leave(monitor);
      self.step();
    }
  }

  private void leave(Object lock) {
    Hold hold = holds.get(lock);
    if (hold == null || hold.owner() != Thread.currentThread()) {
      throw new IllegalMonitorStateException(String.valueOf(hold));
    }
    if (hold.count() == 1) {
      holds.remove(lock);
    } else {
      holds.put(lock, new Hold(hold.owner(), hold.count() - 1));
    }
  }

  /** In the place of {@link ReentrantLock#lock}. */
  public static void lock(ReentrantLock lock) {
    enter(lock);
  }

  /** In the place of {@link ReentrantLock#unlock}. */
  public static void unlock(ReentrantLock lock) {
    exit(lock);
  }

  /** In the place of {@link ReentrantLock#tryLock()}. */
  public static boolean tryLock(ReentrantLock lock) {
    if (Thread.currentThread() instanceof Actor self) {
      self.step();
      return self.turns().take(lock);
    }
    return true;
  }
}
