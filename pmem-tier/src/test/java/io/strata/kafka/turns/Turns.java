package io.strata.kafka.turns;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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

  /** Who shares a lock, by lock: as often as it has it. */
  private final IdentityHashMap<Object, List<Thread>> shares = new IdentityHashMap<>();

  /** The lock that a side of one belongs to. */
  private final IdentityHashMap<Object, Object> locksOfSides = new IdentityHashMap<>();

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

    /** Whether it keeps the turn. */
    private boolean keeps;

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
      if (!keeps && random.nextInt(oneIn) == 0) {
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

  /**
   * Does something that other threads would wait for by other means than these: the turn stays
   * where it is.
   */
  static void keepingTheTurn(Runnable work) {
    if (Thread.currentThread() instanceof Actor self && !self.keeps) {
      self.keeps = true;
      try {
        work.run();
      } finally {
        self.keeps = false;
      }
    } else {
      work.run();
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
    List<Thread> sharing = shares.getOrDefault(lock, List.of());
    if (!sharing.isEmpty()) {
      return false;
    }
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

  private boolean share(Object lock) {
    Hold hold = holds.get(lock);
    if (hold != null && hold.owner() != Thread.currentThread()) {
      return false;
    }
    shares.computeIfAbsent(lock, any -> new ArrayList<>()).add(Thread.currentThread());
    return true;
  }

  private void shareNoMore(Object lock) {
    if (!shares.getOrDefault(lock, List.of()).remove(Thread.currentThread())) {
      throw new IllegalMonitorStateException(lock + " is not shared by this thread");
    }
  }

  private Object lockOf(Object side) {
    Object lock = locksOfSides.get(side);
    if (lock == null) {
      throw new IllegalMonitorStateException(side + " was taken from its lock somewhere else");
    }
    return lock;
  }

  /** In the place of {@link ReentrantReadWriteLock#readLock}. */
  public static ReentrantReadWriteLock.ReadLock readLock(ReentrantReadWriteLock lock) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().locksOfSides.put(lock.readLock(), lock);
    }
    return lock.readLock();
  }

  /** In the place of {@link ReentrantReadWriteLock#writeLock}. */
  public static ReentrantReadWriteLock.WriteLock writeLock(ReentrantReadWriteLock lock) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().locksOfSides.put(lock.writeLock(), lock);
    }
    return lock.writeLock();
  }

  /** In the place of {@link ReentrantReadWriteLock.ReadLock#lock}. */
  public static void lock(ReentrantReadWriteLock.ReadLock side) {
    if (Thread.currentThread() instanceof Actor self) {
      self.step();
      while (!self.turns().share(self.turns().lockOf(side))) {
        self.give();
      }
    }
  }

  /** In the place of {@link ReentrantReadWriteLock.ReadLock#tryLock()}. */
  public static boolean tryLock(ReentrantReadWriteLock.ReadLock side) {
    if (Thread.currentThread() instanceof Actor self) {
      self.step();
      return self.turns().share(self.turns().lockOf(side));
    }
    return true;
  }

  /** In the place of {@link ReentrantReadWriteLock.ReadLock#unlock}. */
  public static void unlock(ReentrantReadWriteLock.ReadLock side) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().shareNoMore(self.turns().lockOf(side));
      self.step();
    }
  }

  /** In the place of {@link ReentrantReadWriteLock.WriteLock#lock}. */
  public static void lock(ReentrantReadWriteLock.WriteLock side) {
    if (Thread.currentThread() instanceof Actor self) {
      enter(self.turns().lockOf(side));
    }
  }

  /** In the place of {@link ReentrantReadWriteLock.WriteLock#unlock}. */
  public static void unlock(ReentrantReadWriteLock.WriteLock side) {
    if (Thread.currentThread() instanceof Actor self) {
      exit(self.turns().lockOf(side));
    }
  }

  // A map holds a lock of its own while it computes, and what it calls may give the turn away.

  /** In the place of {@link ConcurrentMap#compute}. */
  public static <K, V> @Nullable V compute(
      ConcurrentMap<K, V> map, K key, BiFunction<? super K, ? super V, ? extends V> value) {
    enter(map);
    try {
      return map.compute(key, value);
    } finally {
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#computeIfPresent}. */
  public static <K, V> @Nullable V computeIfPresent(
      ConcurrentMap<K, V> map, K key, BiFunction<? super K, ? super V, ? extends V> value) {
    enter(map);
    try {
      return map.computeIfPresent(key, value);
    } finally {
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#computeIfAbsent}. */
  public static <K, V> V computeIfAbsent(
      ConcurrentMap<K, V> map, K key, Function<? super K, ? extends V> value) {
    enter(map);
    try {
      return map.computeIfAbsent(key, value);
    } finally {
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#put}. */
  public static <K, V> @Nullable V put(ConcurrentMap<K, V> map, K key, V value) {
    enter(map);
    try {
      return map.put(key, value);
    } finally {
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#putIfAbsent}. */
  public static <K, V> @Nullable V putIfAbsent(ConcurrentMap<K, V> map, K key, V value) {
    enter(map);
    try {
      return map.putIfAbsent(key, value);
    } finally {
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#remove(Object)}. */
  public static <K, V> @Nullable V remove(ConcurrentMap<K, V> map, K key) {
    enter(map);
    try {
      return map.remove(key);
    } finally {
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#remove(Object, Object)}. */
  public static <K, V> boolean remove(ConcurrentMap<K, V> map, K key, V value) {
    enter(map);
    try {
      return map.remove(key, value);
    } finally {
      exit(map);
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
