package io.strata.kafka.turns;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
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
 * <p>What the threads see is sequentially consistent. What they would be allowed to see is asked of
 * {@link Order}: two accesses that nothing orders fail the play, though each thread has seen what
 * it should.
 *
 * <p>Thread safety: the state is the thread's whose turn it is.
 */
public final class Turns {

  /** More mean that the threads wait for each other for ever. */
  private static final int MOST_STEPS = 200_000;

  /** An access to a field or an atomic that others need not see, and that publishes nothing. */
  static final int PLAIN = 0;

  /** An access that publishes what comes before it. */
  static final int ORDERED = 1;

  /** An access that others see, and that publishes nothing but itself. */
  static final int ALONE = 2;

  /** Added to one of those where the turn stays. */
  static final int STAYS = 4;

  private static final AtomicLong MILLIS = new AtomicLong();
  private static final Object WHOLE = "whole";

  private final SplittableRandom random;
  private final int oneIn;
  private final List<Actor> actors = new ArrayList<>();
  private final IdentityHashMap<Object, Hold> holds = new IdentityHashMap<>();

  /** Who shares a lock, by lock: as often as it has it. */
  private final IdentityHashMap<Object, List<Thread>> shares = new IdentityHashMap<>();

  /** The lock that a side of one belongs to. */
  private final IdentityHashMap<Object, Object> locksOfSides = new IdentityHashMap<>();

  /** The atomics that are not {@link #ORDERED}. */
  private final IdentityHashMap<Object, Integer> weakened = new IdentityHashMap<>();

  private final Play play;
  private final Order order;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private int steps;
  private long trace;

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
    private final int number;
    private final Semaphore turn = new Semaphore(0);
    private boolean ended;

    /** Whether it keeps the turn. */
    private boolean keeps;

    Actor(Callable<?> part, int number) {
      this.part = part;
      this.number = number;
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

    private void access(Object object, String field, int kind, boolean reads, boolean writes) {
      if ((kind & STAYS) == 0) {
        step();
      }
      switch (kind & ~STAYS) {
        case PLAIN ->
            order
                .access(number, object, field, 0, 1, writes)
                .ifPresent(other -> race(object.getClass().getSimpleName() + " " + field, other));
        case ORDERED -> {
          if (reads) {
            order.acquire(number, object, field);
          }
          if (writes) {
            order.release(number, object, field);
          }
        }
        default -> {
          // Seen by all, and orders nothing.
        }
      }
    }

    private void bytes(Object memory, long from, long to, boolean write) {
      order
          .access(number, memory, "bytes", from, to, write)
          .filter(other -> !play.mayRace(number, other))
          .ifPresent(other -> race("bytes %d to %d".formatted(from, to), other));
    }

    private void race(String what, int other) {
      failure.compareAndSet(
          null,
          new AssertionError(
              "threads %d and %d race for %s: nothing orders their accesses"
                  .formatted(other, number, what)));
      throw new Over();
    }

    private void step() {
      if (!keeps) {
        trace = 31 * trace + number + 1;
        if (random.nextInt(oneIn) == 0) {
          give();
        }
      }
    }
  }

  private Turns(Play play, int parts, long seed) {
    this.play = play;
    this.order = new Order(parts);
    this.random = new SplittableRandom(seed);
    this.oneIn = 2 << random.nextInt(5);
  }

  /**
   * Plays a play under a seed.
   *
   * @return a number that says who did how many steps in which order
   * @throws AssertionError when a part or the end fails
   */
  static long play(Play play, long seed) throws Exception {
    List<Callable<?>> parts = play.parts();
    Turns turns = new Turns(play, parts.size(), seed);
    turns.run(parts);
    Throwable failed = turns.failure.get();
    if (failed != null) {
      throw new AssertionError("seed " + seed + ": " + failed, failed);
    }
    play.end();
    return turns.trace;
  }

  private void run(List<Callable<?>> parts) throws InterruptedException {
    parts.forEach(part -> actors.add(new Actor(part, actors.size())));
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
   * In the place of the clock, in milliseconds: what is done next is done later, however fast the
   * machine is.
   */
  public static long millis() {
    return MILLIS.incrementAndGet();
  }

  /** In the place of {@link InstantSource#millis}. */
  public static long millis(InstantSource unused) {
    return millis();
  }

  /** Before a field is read. */
  public static void read(Object object, String field, int kind) {
    if (Thread.currentThread() instanceof Actor self) {
      self.access(object, field, kind, true, false);
    }
  }

  /** Before a field is written. */
  public static void write(Object object, String field, int kind) {
    if (Thread.currentThread() instanceof Actor self) {
      self.access(object, field, kind, false, true);
    }
  }

  /** Before a method of an atomic; {@code index} is -1 where it has no elements. */
  public static void atomic(Object atomic, int index, String method, int kind) {
    if (Thread.currentThread() instanceof Actor self) {
      int weaker = self.turns().weakened.getOrDefault(atomic, ORDERED) | (kind & STAYS);
      boolean writes = !method.equals("get");
      self.access(atomic, "[" + index + "]", weaker, !method.equals("set"), writes);
    }
  }

  /** An atomic is of another kind from now on. */
  public static void weaken(Object atomic, int kind) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().weakened.put(atomic, kind);
    }
  }

  /** What has been published through an object is seen. */
  public static void acquire(Object object) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().order.acquire(self.number, object, WHOLE);
    }
  }

  /** As {@link #acquire}, whatever part of the object it was published through. */
  public static void acquireAll(Object object) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().order.acquireAll(self.number, object);
    }
  }

  /** All until now is published through an object. */
  public static void release(Object object) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().order.release(self.number, object, WHOLE);
    }
  }

  /** Bytes of a memory are loaded. */
  public static void load(Object memory, long from, long length) {
    if (Thread.currentThread() instanceof Actor self) {
      self.bytes(memory, from, from + length, false);
    }
  }

  /** Bytes of a memory are stored. */
  public static void store(Object memory, long from, long length) {
    if (Thread.currentThread() instanceof Actor self) {
      self.bytes(memory, from, from + length, true);
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
    if (Thread.currentThread() instanceof Actor self && self.turns().failure.get() == null) {
      // Once another thread has failed: what is thrown here comes here again, since the compiler's
      // handler of a synchronized block covers itself.
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
    acquire(lock);
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
      // For the other side alone: those that share a lock see nothing of each other by that.
      release(side);
      self.turns().shareNoMore(self.turns().lockOf(side));
      self.step();
    }
  }

  /** In the place of {@link ReentrantReadWriteLock.WriteLock#lock}. */
  public static void lock(ReentrantReadWriteLock.WriteLock side) {
    if (Thread.currentThread() instanceof Actor self) {
      ReentrantReadWriteLock lock = (ReentrantReadWriteLock) self.turns().lockOf(side);
      enter(lock);
      acquire(lock);
      acquire(lock.readLock());
    }
  }

  /** In the place of {@link ReentrantReadWriteLock.WriteLock#unlock}. */
  public static void unlock(ReentrantReadWriteLock.WriteLock side) {
    if (Thread.currentThread() instanceof Actor self) {
      Object lock = self.turns().lockOf(side);
      release(lock);
      exit(lock);
    }
  }

  // A map holds a lock of its own while it computes, and what it calls may give the turn away.

  private static void see(ConcurrentMap<?, ?> map, Object key) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().order.acquire(self.number, map, key);
    }
  }

  private static void show(ConcurrentMap<?, ?> map, Object key) {
    if (Thread.currentThread() instanceof Actor self) {
      self.turns().order.release(self.number, map, key);
    }
  }

  /** In the place of {@link ConcurrentMap#get}. */
  public static <K, V> @Nullable V get(ConcurrentMap<K, V> map, K key) {
    step();
    see(map, key);
    return map.get(key);
  }

  /** In the place of {@link ConcurrentMap#getOrDefault}. */
  public static <K, V> V getOrDefault(ConcurrentMap<K, V> map, K key, V otherwise) {
    step();
    see(map, key);
    return map.getOrDefault(key, otherwise);
  }

  /** In the place of {@link ConcurrentMap#containsKey}. */
  public static <K> boolean containsKey(ConcurrentMap<K, ?> map, K key) {
    step();
    see(map, key);
    return map.containsKey(key);
  }

  /** In the place of {@link ConcurrentMap#compute}. */
  public static <K, V> @Nullable V compute(
      ConcurrentMap<K, V> map, K key, BiFunction<? super K, ? super V, ? extends V> value) {
    enter(map);
    see(map, key);
    try {
      return map.compute(key, value);
    } finally {
      show(map, key);
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#computeIfPresent}. */
  public static <K, V> @Nullable V computeIfPresent(
      ConcurrentMap<K, V> map, K key, BiFunction<? super K, ? super V, ? extends V> value) {
    enter(map);
    see(map, key);
    try {
      return map.computeIfPresent(key, value);
    } finally {
      show(map, key);
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#computeIfAbsent}. */
  public static <K, V> V computeIfAbsent(
      ConcurrentMap<K, V> map, K key, Function<? super K, ? extends V> value) {
    enter(map);
    see(map, key);
    try {
      return map.computeIfAbsent(key, value);
    } finally {
      show(map, key);
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#put}. */
  public static <K, V> @Nullable V put(ConcurrentMap<K, V> map, K key, V value) {
    enter(map);
    see(map, key);
    try {
      return map.put(key, value);
    } finally {
      show(map, key);
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#putIfAbsent}. */
  public static <K, V> @Nullable V putIfAbsent(ConcurrentMap<K, V> map, K key, V value) {
    enter(map);
    see(map, key);
    try {
      return map.putIfAbsent(key, value);
    } finally {
      show(map, key);
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#remove(Object)}. */
  public static <K, V> @Nullable V remove(ConcurrentMap<K, V> map, K key) {
    enter(map);
    see(map, key);
    try {
      return map.remove(key);
    } finally {
      show(map, key);
      exit(map);
    }
  }

  /** In the place of {@link ConcurrentMap#remove(Object, Object)}. */
  public static <K, V> boolean remove(ConcurrentMap<K, V> map, K key, V value) {
    enter(map);
    see(map, key);
    try {
      return map.remove(key, value);
    } finally {
      show(map, key);
      exit(map);
    }
  }

  /** In the place of {@link ReentrantLock#lock}. */
  public static void lock(ReentrantLock lock) {
    enter(lock);
    acquire(lock);
  }

  /** In the place of {@link ReentrantLock#unlock}. */
  public static void unlock(ReentrantLock lock) {
    release(lock);
    exit(lock);
  }

  /** In the place of {@link ReentrantLock#tryLock()}. */
  public static boolean tryLock(ReentrantLock lock) {
    if (Thread.currentThread() instanceof Actor self) {
      self.step();
      boolean taken = self.turns().take(lock);
      if (taken) {
        acquire(lock);
      }
      return taken;
    }
    return true;
  }
}
