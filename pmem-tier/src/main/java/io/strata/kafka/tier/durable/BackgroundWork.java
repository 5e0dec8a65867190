package io.strata.kafka.tier.durable;

import io.strata.kafka.tier.directory.LogDirectories;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.LogDiskPace;
import io.strata.kafka.tier.spec.TierCounts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Does a tier's work off the append path, again after a failure, and never ended by one. The pools
 * have a thread, and each log directory has one, so that a disk that hangs holds up nothing but
 * itself.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class BackgroundWork {

  private static final long RETRY_SECONDS = 5;

  /** How often something is tried that is worth a few attempts. */
  static final int ATTEMPTS = 10;

  /** How long a disk is waited for at the end. */
  public static final int CLOSE_SECONDS = 10;

  private final TierCounts counts;
  private final Lane pools;
  private final Map<Path, Lane> byDirectory = new LinkedHashMap<>();

  /**
   * The thread, the disk and the queues of one log directory, or of the pools.
   *
   * @param executor its thread
   * @param disk its disk
   * @param created segments whose log files are new
   * @param renamedIn directories with renames that are not durable yet
   * @param changed segments whose log files have older modification times
   */
  public record Lane(
      ScheduledExecutorService executor,
      LogDiskPace disk,
      Queue<TieredSegment> created,
      Set<Path> renamedIn,
      Queue<TieredSegment> changed) {

    private static Lane of(TierParts parts) {
      return new Lane(
          parts.background().get(),
          new LogDiskPace(parts.time()),
          new ConcurrentLinkedQueue<>(),
          ConcurrentHashMap.newKeySet(),
          new ConcurrentLinkedQueue<>());
    }
  }

  /**
   * For these log directories.
   *
   * @param parts makes the threads, which {@link #close} shuts down
   */
  public BackgroundWork(TierCounts counts, LogDirectories logDirectories, TierParts parts) {
    this.counts = counts;
    this.pools = Lane.of(parts);
    logDirectories.all().forEach(each -> byDirectory.put(each.path(), Lane.of(parts)));
  }

  /** The lane for what concerns no log directory. */
  public Lane pools() {
    return pools;
  }

  /** The lane of the log directory that a file is in; that of the pools outside of all. */
  public Lane of(Path file) {
    for (Map.Entry<Path, Lane> each : byDirectory.entrySet()) {
      if (file.startsWith(each.getKey())) {
        return each.getValue();
      }
    }
    return pools;
  }

  /** The disk that a file is on. */
  public LogDiskPace disk(Path file) {
    return of(file).disk();
  }

  /** All lanes. */
  public List<Lane> lanes() {
    List<Lane> all = new ArrayList<>(byDirectory.values());
    all.add(pools);
    return all;
  }

  /** Has something done every {@code millis} milliseconds, on a lane's thread. */
  @SuppressWarnings("FutureReturnValueIgnored")
  public void every(long millis, Lane lane, String what, Runnable work) {
    lane.executor()
        .scheduleWithFixedDelay(unfailing(what, work), millis, millis, TimeUnit.MILLISECONDS);
  }

  /**
   * Does the work again next time, whatever happens this time: an executor silently forgets work
   * that has thrown, even an {@link OutOfMemoryError}.
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
  public void soon(Path path, String what, Work work) {
    soon(of(path), what, work);
  }

  /** As {@link #soon(Path, String, Work)}, on a thread of choice. */
  public void soon(Lane lane, String what, Work work) {
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
  public interface Work {
    void run() throws IOException;
  }

  /** Has something done to a segment soon, and again after a failure, so many times at most. */
  void retrying(String what, TieredSegment segment, int attempts, Work work) {
    execute(
        of(segment.logFile()),
        () -> {
          try {
            work.run();
          } catch (IOException | RuntimeException | Error e) {
            report(what + " " + segment.logFile(), e);
            if (attempts > 1) {
              retryingLater(what, segment, attempts - 1, work);
            }
          }
        });
  }

  /** As {@link #retrying}, in a while. */
  @SuppressWarnings("FutureReturnValueIgnored")
  void retryingLater(String what, TieredSegment segment, int attempts, Work work) {
    ScheduledExecutorService thread = of(segment.logFile()).executor();
    submit(
        () ->
            thread.schedule(
                () -> retrying(what, segment, attempts, work), RETRY_SECONDS, TimeUnit.SECONDS));
  }

  private static void execute(Lane lane, Runnable task) {
    submit(() -> lane.executor().execute(task));
  }

  private static void submit(Runnable submission) {
    try {
      submission.run();
    } catch (RejectedExecutionException closing) {
      // The next opening does what is left.
      return;
    }
  }

  /** Takes no more work, and waits for what is under way, though not for a disk that hangs. */
  public void close() {
    lanes().forEach(lane -> lane.executor().shutdown());
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
    for (Lane lane : lanes()) {
      try {
        long left = deadline - System.nanoTime();
        if (!lane.executor().awaitTermination(left, TimeUnit.NANOSECONDS)) {
          lane.executor().shutdownNow();
        }
      } catch (InterruptedException e) {
        lane.executor().shutdownNow();
        Thread.currentThread().interrupt();
      }
    }
  }
}
