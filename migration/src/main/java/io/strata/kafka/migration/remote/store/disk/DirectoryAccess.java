package io.strata.kafka.migration.remote.store.disk;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Keeps one directory of the store apart from the others: it has threads of its own, a bounded
 * number, so that one that hangs takes nothing away from the rest, and its own health.
 *
 * <p>A call that has not come back for a while has the directory asked for its identity. If that
 * does not come back either, the directory is <em>suspended</em>: all calls that wait end, and new
 * ones fail at once, until {@link #ask} finds that it answers. The identity may be in memory while
 * the disk hangs, so that a read that takes longer still suspends the directory too, until that
 * read has come back.
 */
public abstract class DirectoryAccess {

  /** Kafka reads with ten threads by default. */
  private static final int READS = 32;

  /** Kafka copies with ten threads by default; moves, deletions and the upkeep have some too. */
  private static final int WRITES = 24;

  /** Reads without a waiting caller: one that hangs takes no thread from those with one. */
  private static final int AHEAD = 4;

  /** A call that hangs in the kernel for ever must not hide that the directory is back. */
  private static final int PROBES = 32;

  /** While so many hang, one more begins now and then: another file system may be mounted there. */
  private static final int HANGING_PROBES = 4;

  /** After so many times the patience, while that many hang; after each that hangs it doubles. */
  private static final int NOW_AND_THEN = 12;

  /** So often: all probes together last for more than a day, and are an hour apart in the end. */
  private static final int DOUBLINGS = 6;

  /** The longest that something brief may take, in patiences. */
  private static final int BRIEF = 3;

  /** So often a directory answers before the calls that hang in it count for ever no more. */
  private static final int ANSWERS = 12;

  /**
   * Whose threads do the work.
   *
   * @param threads makes them; empty: the callers' own, which wait for a directory that hangs
   * @param patience after so long without an answer a directory is asked for its identity, and
   *     after so long again it is suspended
   * @param nanoTime as {@link System#nanoTime}: shows how long work that may take hours has made no
   *     progress
   */
  public record Threads(Optional<ThreadFactory> threads, Duration patience, LongSupplier nanoTime) {

    public static final Threads NONE =
        new Threads(Optional.empty(), Duration.ofSeconds(5), System::nanoTime);
  }

  private record Lanes(Deadlines reads, Deadlines ahead, Deadlines writes, Deadlines probes) {
    Lanes(ThreadFactory factory) {
      this(
          new Deadlines("strata-remote-read", READS, factory),
          new Deadlines("strata-remote-ahead", AHEAD, factory),
          new Deadlines("strata-remote-write", WRITES, factory),
          new Deadlines("strata-remote-probe", PROBES, factory));
    }

    Stream<Deadlines> all() {
      return Stream.of(reads, ahead, writes, probes);
    }
  }

  private final String name;
  private final Duration patience;
  private final LongSupplier nanoTime;
  private final Optional<Lanes> lanes;

  /** Lets one call ask, of those that wait for one that does not come back. */
  private final ReentrantLock asking = new ReentrantLock();

  /** Why nothing is asked of the directory for now; empty: it is in use. */
  private volatile Optional<String> suspended = Optional.empty();

  /** Why no copy goes there for now; empty: one may. */
  private volatile Optional<String> unwritable = Optional.empty();

  /** Why copies go elsewhere for a while, where another directory takes them. */
  public final CopyBackOff copies;

  /** Reads that have run out of their time and have not come back. */
  private final Set<Timed<?>> hanging = ConcurrentHashMap.newKeySet();

  /** The time of the last probe that began while others hung. */
  private final AtomicLong lastProbe;

  /** How many probes hung when one came back last. */
  private volatile int hungAtAnswer;

  private final AtomicInteger answers = new AtomicInteger();

  /** Makes the calls of a directory. */
  protected DirectoryAccess(String name, Threads threads) {
    this.name = name;
    patience = threads.patience();
    nanoTime = threads.nanoTime();
    lastProbe = new AtomicLong(nanoTime.getAsLong());
    copies = new CopyBackOff(nanoTime);
    lanes = threads.threads().map(Lanes::new);
  }

  /** Throws if a directory is not the store's, or cannot be read: is asked whether it answers. */
  protected abstract void probe() throws StoreUnavailableException;

  @Override
  public final String toString() {
    return name;
  }

  /**
   * Reads a little in the directory. When that takes long the directory is suspended.
   *
   * @param what names it in messages
   * @throws StoreUnavailableException if the directory is suspended, or is by now
   * @throws TimeLimitException if all of its threads read, and none comes back
   */
  public <T> T read(String what, Deadlines.Work<T> work) throws IOException, InterruptedException {
    return read(what, Deadlines.FOREVER, work);
  }

  /** As the other one; the caller waits for so long at the longest. */
  @CanIgnoreReturnValue
  public <T> T read(String what, Duration limit, Deadlines.Work<T> work)
      throws IOException, InterruptedException {
    checkInUse();
    Timed<T> timed = new Timed<>(work);
    Deadlines.Check check =
        left -> {
          askAgain(left);
          if (timed.isOverdue()) {
            hangs(what, timed);
          }
        };
    return watch(Lanes::reads, what, limit, true, check, timed::run);
  }

  /**
   * Does a read without waiting for it. Does nothing while as many are under way as the directory
   * has threads for that, while it is suspended, and where it has no threads.
   */
  public void readAhead(Runnable work) {
    if (lanes.isPresent() && !isSuspended()) {
      boolean unused = lanes.get().ahead().tryStart(work);
    }
  }

  private void hangs(String what, Timed<?> timed) throws StoreUnavailableException {
    hanging.add(timed);
    if (timed.ended) {
      hanging.remove(timed); // Just now.
      return;
    }
    answers.set(0);
    suspend(
        """
        %s: %s has not come back within %d ms, though the directory answers: its disk hangs, or a \
        part of it. Nothing is asked of it until that has come back; look at its disk\
        """
            .formatted(name, what, patience.toMillis() * BRIEF));
    checkInUse();
  }

  /** Work that has its time from when it begins. */
  private final class Timed<T> {
    private final Deadlines.Work<T> work;
    private volatile boolean begun;
    private volatile boolean ended;

    /** How often the caller's thread has looked at its time since it has begun. */
    private int looks;

    Timed(Deadlines.Work<T> work) {
      this.work = work;
    }

    T run(Deadlines.Control control) throws IOException, InterruptedException {
      begun = true;
      try {
        return work.run(control);
      } finally {
        ended = true;
        hanging.remove(this);
      }
    }

    boolean isOverdue() {
      looks += begun ? 1 : 0;
      return looks >= BRIEF;
    }
  }

  /** Does what changes the directory, or may take its time while the directory answers. */
  @CanIgnoreReturnValue
  public <T> T write(String what, Deadlines.Work<T> work) throws IOException, InterruptedException {
    return write(what, left -> {}, work);
  }

  /**
   * Returns how to do what may take hours, and so long at the longest to come further.
   *
   * @param end is notified when no thread is at work on it any more, however late
   */
  public WorkProgress progress(Duration longest, Consumer<WorkProgress> end) {
    return new WorkProgress(this, longest, nanoTime, end);
  }

  /** As the other one; the check is run each time that the directory was asked and has answered. */
  @CanIgnoreReturnValue
  public <T> T write(String what, Deadlines.Check check, Deadlines.Work<T> work)
      throws IOException, InterruptedException {
    checkInUse();
    Deadlines.Check both =
        left -> {
          askAgain(left);
          check.run(left);
        };
    return watch(Lanes::writes, what, Deadlines.FOREVER, false, both, work);
  }

  /**
   * As {@link #write(String, Deadlines.Work)}, of a small thing that has its time: the part of the
   * directory that it is about may hang while the rest answers. When that takes long new copies go
   * elsewhere until a visit has written there.
   *
   * @throws TimeLimitException if it takes longer
   */
  @CanIgnoreReturnValue
  public <T> T brief(String what, Deadlines.Work<T> work) throws IOException, InterruptedException {
    checkInUse();
    return release(what, work);
  }

  /**
   * As {@link #brief}, and of a suspended directory too: releases what this process has of it. The
   * caller goes on when the directory is suspended still, and the work ends when it answers.
   */
  @CanIgnoreReturnValue
  <T> T release(String what, Deadlines.Work<T> work) throws IOException, InterruptedException {
    Timed<T> timed = new Timed<>(work);
    AtomicInteger looks = new AtomicInteger();
    Deadlines.Check check =
        unlimited -> {
          askAgain(unlimited);
          boolean overdue = timed.isOverdue();
          if (looks.incrementAndGet() >= BRIEF) {
            String late =
                "%s: not done within %d ms, though the directory answers: look at its disk"
                    .formatted(what, patience.toMillis() * BRIEF);
            if (overdue) {
              unwritable(late);
            }
            throw new TimeLimitException(late);
          }
        };
    return watch(Lanes::writes, what, Deadlines.FOREVER, false, check, timed::run);
  }

  private <T> T watch(
      Function<Lanes, Deadlines> lane,
      String what,
      Duration limit,
      boolean isShort,
      Deadlines.Check check,
      Deadlines.Work<T> work)
      throws IOException, InterruptedException {
    return lanes.isPresent()
        ? lane.apply(lanes.get()).watch(what, patience, limit, isShort, check, work)
        : work.run(Deadlines.Control.PATIENT);
  }

  /** Asks the directory whether it is there: it is in use from now on, or suspended. */
  public void ask() throws StoreUnavailableException, InterruptedException {
    ask(patience);
  }

  /** As {@link #ask()}; when the limit is over before its patience, that says nothing. */
  private void ask(Duration limit) throws StoreUnavailableException, InterruptedException {
    boolean whole = limit.compareTo(patience) >= 0;
    try {
      probe(whole ? patience : limit);
      if (!hanging.isEmpty() && answers.incrementAndGet() < ANSWERS) {
        checkInUse();
      }
      // A thread may hang for ever, in a mount that is not the directory's any more, say.
      hanging.clear();
      resume();
    } catch (StoreUnavailableException e) {
      suspend(String.valueOf(e.getMessage()));
      throw e;
    } catch (IOException e) {
      if (whole) {
        suspend(
            """
            %s did not answer within %s ms: its file system hangs. Nothing is asked of it until it \
            answers; look at its mount\
            """
                .formatted(name, patience.toMillis()));
        checkInUse();
      }
    }
  }

  private void probe(Duration limit) throws IOException, InterruptedException {
    // A directory that answers is asked as often as a caller wants to know.
    if (isSuspended() && hungProbes() >= HANGING_PROBES) {
      long now = nanoTime.getAsLong();
      long last = lastProbe.get();
      if (now - last < pauseNanos() || !lastProbe.compareAndSet(last, now)) {
        throw new TimeLimitException(name + ": earlier questions have not come back");
      }
    }
    Deadlines.Work<Boolean> work =
        control -> {
          try {
            probe();
          } finally {
            hungAtAnswer = hungProbes();
          }
          return true;
        };
    boolean unused =
        lanes.isPresent()
            ? lanes.get().probes().call("asking " + name + " for its identity", limit, work)
            : work.run(Deadlines.Control.PATIENT);
  }

  private int hungProbes() {
    return lanes.map(own -> own.probes().stuck()).orElse(0);
  }

  private long pauseNanos() {
    int since = hungProbes() - Math.max(HANGING_PROBES, hungAtAnswer);
    return (patience.toNanos() * NOW_AND_THEN) << Math.max(0, Math.min(DOUBLINGS, since));
  }

  /** The first waiter finds out for all. */
  private void askAgain(Duration limit) throws IOException, InterruptedException {
    if (asking.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
      try {
        checkInUse();
        ask(limit);
      } finally {
        asking.unlock();
      }
    }
  }

  /** Nothing is asked of it until {@link #resume}; {@code reason} is the whole sentence. */
  public void suspend(String reason) {
    suspended = Optional.of(reason);
  }

  public void resume() {
    suspended = Optional.empty();
  }

  public boolean isSuspended() {
    return suspended.isPresent();
  }

  /** It can be read, and new copies go elsewhere; {@code reason} is the whole sentence. */
  public void unwritable(String reason) {
    unwritable = Optional.of(reason);
  }

  public void writable() {
    unwritable = Optional.empty();
  }

  /** Throws if something was found wrong with the directory. Does no I/O. */
  public void checkInUse() throws StoreUnavailableException {
    check(suspended);
  }

  /** Throws too, if new copies may not go here. */
  public void checkWritable() throws StoreUnavailableException {
    check(suspended);
    check(unwritable);
  }

  private static void check(Optional<String> reason) throws StoreUnavailableException {
    if (reason.isPresent()) {
      throw new StoreUnavailableException(reason.get());
    }
  }

  /** Threads that hang in the directory; those that read ahead never count: no caller waits. */
  public int stuck() {
    return lanes.stream().flatMap(Lanes::all).mapToInt(Deadlines::stuck).sum();
  }

  /** Begins no call any more; those under way are stopped, and not waited for. */
  public void close() {
    lanes.stream().flatMap(Lanes::all).forEach(Deadlines::close);
  }

  /**
   * Sends copies past a directory in which one has failed by the directory's fault: for a while,
   * and after the next failure for twice as long, until one succeeds. It only gives the others
   * precedence: a copy that no other directory takes goes there all the same, since the fault may
   * be that of one topic's files.
   */
  public static final class CopyBackOff {

    private static final Duration FIRST = Duration.ofSeconds(30);
    private static final Duration LONGEST = Duration.ofMinutes(8);

    private final LongSupplier nanoTime;

    @GuardedBy("this")
    private Optional<Failure> last = Optional.empty();

    /** The failure that began the pause. */
    private record Failure(String reason, long since, Duration pause) {}

    CopyBackOff(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
    }

    /**
     * A copy has failed by the directory's fault, or hangs: begins a pause, which failures of
     * copies that were under way then do not make longer.
     */
    public synchronized void failed(String reason) {
      if (reason().isEmpty()) {
        Duration pause = last.map(failure -> failure.pause.multipliedBy(2)).orElse(FIRST);
        last =
            Optional.of(
                new Failure(
                    reason, nanoTime.getAsLong(), pause.compareTo(LONGEST) < 0 ? pause : LONGEST));
      }
    }

    public synchronized void succeeded() {
      last = Optional.empty();
    }

    public synchronized Optional<String> reason() {
      return last.filter(failure -> nanoTime.getAsLong() - failure.since < failure.pause.toNanos())
          .map(Failure::reason);
    }
  }

  /**
   * A directory of the store cannot be used now: unmounted, read-only, or not the store's any more.
   */
  public static final class StoreUnavailableException extends IOException {
    private static final long serialVersionUID = 1L;

    public StoreUnavailableException(String message) {
      super(message);
    }
  }
}
