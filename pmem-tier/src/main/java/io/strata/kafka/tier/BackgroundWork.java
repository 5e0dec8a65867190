package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Does work off the append path, by {@link BackgroundThreads}: again after a failure, and never
 * ended by one.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class BackgroundWork {

  private static final long RETRY_SECONDS = 5;

  /** How often something is tried that is worth a few attempts. */
  static final int ATTEMPTS = 10;

  private final TierCounts counts;
  private final BackgroundThreads threads;

  /**
   * By these threads.
   *
   * @param threads shut down by {@link #close}
   */
  BackgroundWork(TierCounts counts, BackgroundThreads threads) {
    this.counts = counts;
    this.threads = threads;
  }

  /** Has something done every {@code millis} milliseconds, on the pools' thread. */
  void every(long millis, String what, Runnable work) {
    every(millis, threads.pools(), what, work);
  }

  /** As {@link #every(long, String, Runnable)}, on a thread of choice. */
  @SuppressWarnings("FutureReturnValueIgnored")
  void every(long millis, BackgroundThreads.Lane lane, String what, Runnable work) {
    lane.executor()
        .scheduleWithFixedDelay(unfailing(what, work), millis, millis, TimeUnit.MILLISECONDS);
  }

  /** The threads. */
  BackgroundThreads threads() {
    return threads;
  }

  /**
   * Does the work again next time, whatever happens this time: an executor silently forgets work
   * that has thrown, be it for want of memory.
   */
  private Runnable unfailing(String what, Runnable work) {
    return () -> {
      try {
        work.run();
      } catch (RuntimeException | Error e) {
        report(what, e);
      }
    };
  }

  private void report(String what, Throwable cause) {
    try {
      counts.failed(what, cause instanceof Exception e ? e : new ExecutionException(cause));
    } catch (RuntimeException | Error nobodyToReportTo) {
      // The next time, then.
      return;
    }
  }

  /** Has something done soon, once, on the thread of a file's or a directory's disk. */
  void soon(Path path, String what, Work work) {
    soon(threads.of(path), what, work);
  }

  /** As {@link #soon(Path, String, Work)}, on a thread of choice. */
  void soon(BackgroundThreads.Lane lane, String what, Work work) {
    execute(
        lane,
        () -> {
          try {
            work.run();
          } catch (IOException | RuntimeException | Error e) {
            report(what, e);
          }
        });
  }

  /** Counts and reports a failure in the background. */
  void failed(String what, Exception cause) {
    counts.failed(what, cause);
  }

  /** Something that may fail. */
  interface Work {
    void run() throws IOException;
  }

  /** Has something done to a segment soon, and again after a failure, so many times at most. */
  void retrying(String what, TieredSegment segment, int attempts, Work work) {
    Runnable task =
        () -> {
          try {
            work.run();
          } catch (IOException | RuntimeException | Error e) {
            report(what + " " + segment.logFile(), e);
            if (attempts > 1) {
              retryingLater(what, segment, attempts - 1, work);
            }
          }
        };
    execute(threads.of(segment.logFile()), task);
  }

  private static void execute(BackgroundThreads.Lane lane, Runnable task) {
    unlessClosing(() -> lane.executor().execute(task));
  }

  private static void unlessClosing(Runnable submission) {
    try {
      submission.run();
    } catch (RejectedExecutionException closing) {
      // What is not done now is done by the next opening.
      return;
    }
  }

  /** As {@link #retrying}, in a while. */
  @SuppressWarnings("FutureReturnValueIgnored")
  void retryingLater(String what, TieredSegment segment, int attempts, Work work) {
    ScheduledExecutorService thread = threads.of(segment.logFile()).executor();
    unlessClosing(
        () ->
            thread.schedule(
                () -> retrying(what, segment, attempts, work), RETRY_SECONDS, TimeUnit.SECONDS));
  }

  /** Waits for what is under way, and ends the threads. */
  void close() {
    threads.close();
  }
}
