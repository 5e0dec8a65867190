package io.strata.kafka.tier;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The threads of a tier's background work: one for the pools, and one for each log directory, so
 * that a disk that hangs holds up nothing but itself.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class BackgroundThreads {

  /** How long a disk is waited for at the end. */
  static final int CLOSE_SECONDS = 10;

  private final Lane pools;
  private final Map<Path, Lane> byDirectory = new LinkedHashMap<>();

  /**
   * One thread, and what waits for it.
   *
   * @param executor the thread
   * @param created segments whose log files are new
   * @param renamedIn directories with renames that are not durable yet
   * @param changed segments whose log files have older modification times
   */
  record Lane(
      ScheduledExecutorService executor,
      Queue<TieredSegment> created,
      Set<Path> renamedIn,
      Queue<TieredSegment> changed) {

    private static Lane of(Supplier<ScheduledExecutorService> threads) {
      return new Lane(
          threads.get(),
          new ConcurrentLinkedQueue<>(),
          ConcurrentHashMap.newKeySet(),
          new ConcurrentLinkedQueue<>());
    }
  }

  /**
   * Threads for these log directories.
   *
   * @param threads makes each of them
   */
  BackgroundThreads(List<Path> logDirectories, Supplier<ScheduledExecutorService> threads) {
    pools = Lane.of(threads);
    logDirectories.forEach(directory -> byDirectory.put(directory, Lane.of(threads)));
  }

  /** One daemon thread. */
  static ScheduledExecutorService newThread() {
    return Executors.newSingleThreadScheduledExecutor(
        work -> {
          Thread thread = new Thread(work, "strata-background");
          thread.setDaemon(true);
          return thread;
        });
  }

  /** The thread for what concerns no log directory. */
  Lane pools() {
    return pools;
  }

  /** The thread of the log directory that a file is in; that of the pools outside of all. */
  Lane of(Path file) {
    for (Map.Entry<Path, Lane> each : byDirectory.entrySet()) {
      if (file.startsWith(each.getKey())) {
        return each.getValue();
      }
    }
    return pools;
  }

  /** All of them. */
  List<Lane> all() {
    List<Lane> all = new ArrayList<>(byDirectory.values());
    all.add(pools);
    return all;
  }

  /** Takes no more work, and waits for what is under way, though not for a disk that hangs. */
  void close() {
    all().forEach(lane -> lane.executor().shutdown());
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
    for (Lane lane : all()) {
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
