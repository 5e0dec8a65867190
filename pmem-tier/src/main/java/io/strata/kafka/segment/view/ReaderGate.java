package io.strata.kafka.segment.view;

import com.google.errorprone.annotations.CheckReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Detects when the last reader that may have seen something is gone, without a lock on the readers'
 * way and without a wait on the writer's.
 *
 * <p>Readers are counted in one of two counters, by the parity of an epoch. A thread that takes
 * something out of readers' sight publishes the new state first and then hands the rest to {@link
 * #retire}. That moves the epoch on: later readers count in the other counter and see the new
 * state, and when the old counter reaches 0, no reader uses the old state. While the old counter is
 * draining the epoch stays, and what is retired meanwhile waits for the next move.
 *
 * <p>Why no reader is missed: a reader increments a counter and then reads the epoch again; the
 * retiring thread moves the epoch and then reads the counter. These are sequentially consistent, so
 * either the reader sees the move (and goes to the other counter), or its increment is seen. The
 * same holds at the exit between the counter and {@link #draining}.
 *
 * <p>Thread safety: all methods may be called by any number of threads. {@link #enter} and {@link
 * #exit} are lock-free, but for the exit that finds something to release.
 */
public final class ReaderGate {

  /** Both counters, that of the odd epochs in the upper half. */
  private final AtomicLong readers = new AtomicLong();

  /** Written under the monitor, read by anyone. */
  private volatile int epoch;

  /** Whether something waits for readers; written under the monitor, read by anyone. */
  private volatile boolean draining;

  /** Waits for the counter of the epoch before this one. */
  @GuardedBy("this")
  private List<Runnable> retired = List.of();

  /** Waits for the epoch to move. */
  @GuardedBy("this")
  private List<Runnable> waiting = List.of();

  /**
   * Lets the calling thread in. The published state that it reads from now on stays as it is until
   * {@link #exit}.
   *
   * @return the token for {@link #exit}
   */
  @CheckReturnValue
  public int enter() {
    while (true) {
      int parity = epoch & 1;
      readers.addAndGet(one(parity));
      if ((epoch & 1) == parity) {
        return parity;
      }
      exit(parity);
    }
  }

  /**
   * Lets the thread out. The last one out of a retired epoch runs what was retired.
   *
   * @param token what {@link #enter} returned
   */
  public void exit(int token) {
    if (count(readers.addAndGet(-one(token)), token) == 0 && draining) {
      for (Runnable release : drained()) {
        release.run();
      }
    }
  }

  /**
   * Runs {@code release} once no reader is inside that entered before now: at once in this thread,
   * or later in the thread of such a reader. Never waits.
   *
   * @param release must not throw, and must not call this gate
   * @return whether it has run in this call. {@code false} says nothing: it may have run in another
   *     thread already
   */
  public boolean retire(Runnable release) {
    synchronized (this) {
      if (waiting.isEmpty()) {
        waiting = new ArrayList<>(1);
      }
      waiting.add(release);
    }
    boolean ran = false;
    for (Runnable ready : drained()) {
      ready.run();
      ran |= ready == release;
    }
    return ran;
  }

  /** Moves the epoch as far as the counters let it, and takes out what has become free to run. */
  private synchronized List<Runnable> drained() {
    List<Runnable> ready = new ArrayList<>();
    while (true) {
      if (retired.isEmpty()) {
        if (waiting.isEmpty()) {
          draining = false;
          return ready;
        }
        retired = waiting;
        waiting = List.of();
        // Before the epoch and the counter: a reader that leaves from now on looks here.
        draining = true;
        epoch = epoch + 1;
      }
      if (count(readers.get(), (epoch - 1) & 1) != 0) {
        return ready;
      }
      ready.addAll(retired);
      retired = List.of();
    }
  }

  private static long one(int parity) {
    return 1L << (parity * Integer.SIZE);
  }

  private static int count(long both, int parity) {
    return (int) (both >>> (parity * Integer.SIZE));
  }
}
