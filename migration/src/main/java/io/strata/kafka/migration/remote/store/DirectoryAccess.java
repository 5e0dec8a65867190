package io.strata.kafka.migration.remote.store;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.migration.remote.calls.CallControl;
import io.strata.kafka.migration.remote.calls.Deadlines;
import io.strata.kafka.migration.remote.calls.TimeLimitException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps one directory of the store apart from the others: it has threads of its own, a bounded
 * number, so that one that hangs takes nothing away from the rest, and its own health.
 *
 * <p>A call that has not come back for a while has the directory asked for its identity. If that
 * does not come back either, the directory is <em>suspended</em>: all calls that wait end, and new
 * ones fail at once, until {@link #ask} finds that it answers.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class DirectoryAccess {

  /** Kafka reads with ten threads by default; read-ahead has some, too. */
  private static final int READS = 32;

  /** Kafka copies with ten threads by default; moves, deletions and the upkeep have some, too. */
  private static final int WRITES = 24;

  /** One that hangs in the kernel for ever must not hide that the directory is back. */
  private static final int PROBES = 4;

  /** What is brief may take so often the time after which the directory is asked. */
  private static final int BRIEF = 3;

  /** Looks whether a directory is the store's, and can be read. */
  @FunctionalInterface
  interface Probe {
    /**
     * Looks.
     *
     * @throws StoreUnavailableException if it is not, or cannot be
     */
    void run() throws StoreUnavailableException;
  }

  /**
   * Whose threads do the work.
   *
   * @param threads makes them; empty: the callers' own, which wait for a directory that hangs
   * @param patience after so long without an answer a directory is asked for its identity, and
   *     after so long again it is suspended
   */
  public record Threads(Optional<ThreadFactory> threads, Duration patience) {

    /** The callers' own. */
    public static final Threads NONE = new Threads(Optional.empty(), Duration.ofSeconds(5));

    /** Checks that nothing is null. */
    public Threads {
      requireNonNull(threads);
      requireNonNull(patience);
    }
  }

  private record Lanes(Deadlines reads, Deadlines writes, Deadlines probes) {
    List<Deadlines> all() {
      return List.of(reads, writes, probes);
    }
  }

  private final String name;
  private final Probe probe;
  private final Duration patience;
  private final Optional<Lanes> lanes;

  /** Of the calls that wait for one that does not come back, one asks. */
  private final ReentrantLock asking = new ReentrantLock();

  /** Why nothing is asked of the directory for now; empty: it is in use. */
  private volatile Optional<String> suspended = Optional.empty();

  /** Why no copy goes there for now; empty: one may. */
  private volatile Optional<String> unwritable = Optional.empty();

  DirectoryAccess(String name, Probe probe, Threads threads) {
    this.name = requireNonNull(name);
    this.probe = requireNonNull(probe);
    patience = threads.patience();
    lanes =
        threads
            .threads()
            .map(
                factory ->
                    new Lanes(
                        new Deadlines("strata-remote-read", READS, factory),
                        new Deadlines("strata-remote-write", WRITES, factory),
                        new Deadlines("strata-remote-probe", PROBES, factory)));
  }

  /**
   * Reads in the directory. It may take as long as the directory answers; whoever has less time
   * interrupts.
   *
   * @param what names it in messages
   * @throws StoreUnavailableException if the directory is suspended, or is by now
   * @throws TimeLimitException if all of its threads read, and none comes back: a disk that hangs
   *     while its identity is in the page cache
   */
  public <T> T read(String what, Deadlines.Work<T> work) throws IOException, InterruptedException {
    checkInUse();
    return lanes.isPresent()
        ? lanes.get().reads().watchShort(what, patience, this::askAgain, work)
        : work.run(CallControl.PATIENT);
  }

  /** As {@link #read}, of what changes the directory, or takes long. */
  public <T> T write(String what, Deadlines.Work<T> work) throws IOException, InterruptedException {
    checkInUse();
    return lanes.isPresent()
        ? lanes.get().writes().watch(what, patience, this::askAgain, work)
        : work.run(CallControl.PATIENT);
  }

  /**
   * As {@link #write}, of a small thing that has its time: the part of the directory that it is
   * about may hang while the rest answers.
   *
   * @throws TimeLimitException if it takes longer
   */
  public <T> T brief(String what, Deadlines.Work<T> work) throws IOException, InterruptedException {
    checkInUse();
    if (lanes.isEmpty()) {
      return work.run(CallControl.PATIENT);
    }
    int[] left = {BRIEF};
    return lanes
        .get()
        .writes()
        .watch(
            what,
            patience,
            () -> {
              askAgain();
              left[0]--;
              if (left[0] == 0) {
                throw new TimeLimitException(
                    what
                        + ": not done within "
                        + patience.toMillis() * BRIEF
                        + " ms, though the directory answers: look at its file system");
              }
            },
            work);
  }

  /**
   * Asks the directory whether it is there: it is in use from now on, or suspended.
   *
   * @throws StoreUnavailableException if it is not
   */
  public void ask() throws StoreUnavailableException, InterruptedException {
    try {
      if (lanes.isPresent()) {
        boolean unused =
            lanes
                .get()
                .probes()
                .call(
                    "asking " + name + " for its identity",
                    patience,
                    control -> {
                      probe.run();
                      return true;
                    });
      } else {
        probe.run();
      }
      suspended = Optional.empty();
    } catch (StoreUnavailableException e) {
      suspend(String.valueOf(e.getMessage()));
      throw e;
    } catch (IOException e) {
      suspend(
          name
              + " did not answer within "
              + patience.toMillis()
              + " ms: its file system hangs. Nothing is asked of it until it answers; "
              + "look at its mount");
      checkInUse();
    }
  }

  /** Of those who wait, the first finds out for all. */
  private void askAgain() throws IOException, InterruptedException {
    asking.lockInterruptibly();
    try {
      checkInUse();
      ask();
    } finally {
      asking.unlock();
    }
  }

  /**
   * The directory does not answer, or has gone: nothing is asked of it until {@link #resume}, so
   * that nobody hangs on it.
   *
   * @param reason the whole sentence
   */
  public void suspend(String reason) {
    suspended = Optional.of(reason);
  }

  /** The directory answers again. */
  public void resume() {
    suspended = Optional.empty();
  }

  /** Whether nothing is asked of it for now. */
  public boolean isSuspended() {
    return suspended.isPresent();
  }

  /**
   * The directory can be read and not be written to: new copies go elsewhere.
   *
   * @param reason the whole sentence
   */
  public void unwritable(String reason) {
    unwritable = Optional.of(reason);
  }

  /** The directory can be written to again. */
  public void writable() {
    unwritable = Optional.empty();
  }

  /**
   * Checks that nothing was found wrong with the directory, without any I/O.
   *
   * @throws StoreUnavailableException if something was
   */
  void checkInUse() throws StoreUnavailableException {
    check(suspended);
  }

  /**
   * Checks that new copies may go here, without any I/O.
   *
   * @throws StoreUnavailableException if they may not
   */
  void checkWritable() throws StoreUnavailableException {
    check(suspended);
    check(unwritable);
  }

  private static void check(Optional<String> reason) throws StoreUnavailableException {
    if (reason.isPresent()) {
      throw new StoreUnavailableException(reason.get());
    }
  }

  /** Threads that hang in the directory. */
  public int stuck() {
    return lanes.stream().flatMap(l -> l.all().stream()).mapToInt(Deadlines::stuck).sum();
  }

  /** Begins no call any more; those under way are stopped, and not waited for. */
  void close() {
    lanes.stream().flatMap(l -> l.all().stream()).forEach(Deadlines::close);
  }
}
