package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.DirectoryVisits.ReportOnce;
import io.strata.kafka.migration.remote.RemoteStats.DirectoryStats;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.store.KnownSegment;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.StoreUpkeep;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does the remote tier's background work, in rounds: lists what there is, clears leftovers away,
 * scrubs, and has the {@link MoverRole} decide whether this broker moves segments between levels.
 */
final class Housekeeping implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  /** So many noted deletions may hang before none is tried any more. */
  private static final int NOTED_DELETIONS = 8;

  /** A round waits so long for the visits of the directories; one that takes longer goes on. */
  private static final Duration VISITS = Duration.ofSeconds(10);

  /** So often it is asked whether a directory that was away is back: reads wait for that. */
  private static final Duration ASKING = Duration.ofMillis(200);

  /** One in which calls hang is asked at each of so many times. */
  private static final int HANGING = 25;

  /** So long after the start copies go on without a listing rather than not at all. */
  private static final Duration FIRST_INVENTORY = Duration.ofSeconds(30);

  /** The time that the last visits get to write what they have. */
  private static final Duration LAST_VISITS = Duration.ofSeconds(2);

  private final SegmentStore store;
  private final List<String> levelNames;
  private final StoreUpkeep upkeep;
  private final MoverRole mover;
  private final ScrubRounds scrub;
  private final List<DirectoryVisits> visits;
  private final EngineEnvironment engineEnvironment;
  private final Duration patience;

  /** Until when copies wait for the first listings. */
  private final long firstInventoryEnd;

  /**
   * The rounds, and beside them what may hang: a deletion waits for a directory that the rounds ask
   * after.
   */
  private final List<Thread> threads;

  /** Makes the deletions that were noted. */
  private final Deadlines deletions;

  private final CountDownLatch stopped = new CountDownLatch(1);

  private volatile RemoteSettings.Live live;

  Housekeeping(RemoteSettings settings, RemoteEnvironment environment, SegmentStore store) {
    this.store = store;
    engineEnvironment = environment.engine();
    patience = environment.reads().maxWait();
    firstInventoryEnd = engineEnvironment.nanoTime().getAsLong() + FIRST_INVENTORY.toNanos();
    live = settings.live();
    levelNames = settings.levelNames();
    upkeep = new StoreUpkeep(store);
    deletions = new Deadlines("strata-remote-noted", NOTED_DELETIONS, engineEnvironment.threads());
    scrub = new ScrubRounds(store, engineEnvironment.clock(), engineEnvironment.nanoTime());
    visits =
        store.directories().stream()
            .map(
                directory ->
                    new DirectoryVisits(
                        directory, upkeep, this::orphanAge, scrub, engineEnvironment))
            .toList();
    mover = new MoverRole(settings, environment, store, upkeep, visits, this::visitAll);
    threads =
        List.of(
            thread("housekeeping", this::run),
            nowAndThen("scrub", this::scrub),
            nowAndThen("repairs", this::repair),
            nowAndThen("deletions", this::deletePending));
  }

  private Thread thread(String name, Runnable work) {
    Thread made = engineEnvironment.threads().newThread(work);
    made.setName("strata-remote-" + name);
    return made;
  }

  /** Work that may fail, and is done again later. */
  @FunctionalInterface
  interface Work {
    void run() throws IOException, InterruptedException;
  }

  /** A thread that works until this stops; a failure is logged when it is another one. */
  private Thread nowAndThen(String name, Work work) {
    ReportOnce fails = new ReportOnce();
    return thread(
        name,
        () -> {
          try {
            while (!stopped.await(
                Math.min(live.inventoryInterval().toMillis(), 60_000), TimeUnit.MILLISECONDS)) {
              runOnce(name, work, fails);
            }
          } catch (InterruptedException e) {
            return; // The broker stops.
          }
        });
  }

  /** Whatever fails, the next time may do better: an error of the machine passes too. */
  private void runOnce(String name, Work work, ReportOnce fails) throws InterruptedException {
    try {
      work.run();
      fails.over();
    } catch (IOException e) {
      String reason = RemoteFailures.describe(e);
      if (fails.isNew(reason)) {
        LOG.warn("Remote store: {} wait, and are tried again: {}", name, reason);
      }
    } catch (RuntimeException | Error e) {
      if (stopped.getCount() > 0 && fails.isNew(e.toString())) {
        LOG.error("Remote store: {} failed, and are tried again", name, e);
      }
    }
  }

  void start() {
    threads.forEach(Thread::start);
  }

  /** Waits until the store has been listed once, so that its free space is known; not for long. */
  void awaitFirstInventory() throws InterruptedException {
    for (DirectoryVisits directory : visits) {
      directory.awaitFirst(left(firstInventoryEnd));
    }
  }

  private Duration left(long endNanos) {
    return Duration.ofNanos(Math.max(0, endNanos - engineEnvironment.nanoTime().getAsLong()));
  }

  /** A copy was made, or has failed: says in which directories copies fail. */
  void copyEnded() {
    visits.forEach(DirectoryVisits::reportCopies);
  }

  void reconfigure(RemoteSettings.Live changed) {
    mover.reconfigure(changed);
    live = changed;
  }

  private void run() {
    store.warnings.forEach(warning -> LOG.warn("Remote store: {}", warning));
    store.firstUses.forEach(made -> LOG.info("Remote store: {}", made));
    ReportOnce roundFails = new ReportOnce();
    ReportOnce movesFail = new ReportOnce();
    boolean more = true;
    while (more) {
      try {
        runOnce("housekeeping", this::look, roundFails);
        runOnce("moves between levels, and the scrub", mover::round, movesFail);
        more = !awaitNextRound();
      } catch (InterruptedException e) {
        more = stopped.getCount() > 0;
      }
    }
  }

  /**
   * Waits until it is time, or a directory that did not answer is back; true if this is to stop.
   */
  private boolean awaitNextRound() throws InterruptedException {
    long end = engineEnvironment.nanoTime().getAsLong() + live.inventoryInterval().toNanos();
    for (int time = 1; ; time++) {
      Duration left = left(end);
      Duration wait = left.compareTo(ASKING) < 0 ? left : ASKING;
      if (stopped.await(wait.toNanos(), TimeUnit.NANOSECONDS)) {
        return true;
      }
      if (left(end).isZero() || isOneBack(time % HANGING == 0)) {
        return false;
      }
    }
  }

  private boolean isOneBack(boolean askAll) throws InterruptedException {
    boolean back = false;
    for (StoreDirectory directory : store.directories()) {
      boolean ask = askAll || directory.stuck() == 0;
      if (ask && directory.isSuspended()) {
        try {
          directory.ask();
          back = true;
        } catch (StoreUnavailableException e) {
          // The next round says so, if it is another trouble now.
        }
      }
    }
    return back;
  }

  private void look() throws InterruptedException {
    visitAll();
    boolean unused =
        store
            .reads()
            .keySet()
            .retainAll(
                store.known.entries().stream()
                    .map(entry -> entry.key().id())
                    .collect(Collectors.toSet()));
    // Bytes count as read when this is asked, and no engine asks on a broker that does not move.
    long now = store.clock().millis();
    store.reads().values().forEach(reads -> reads.recentBytes(now));
  }

  /** All at once: one that takes its time does not keep the others from being looked at. */
  private void visitAll() throws InterruptedException {
    for (DirectoryVisits directory : visits) {
      directory.begin();
    }
    long end = engineEnvironment.nanoTime().getAsLong() + VISITS.toNanos();
    for (DirectoryVisits directory : visits) {
      if (!directory.directory.isSuspended()) {
        directory.await(left(end));
      }
    }
  }

  /** No copy is at work for longer. */
  private Duration orphanAge() {
    Duration longest = live.copyTimeout().multipliedBy(2);
    return live.orphanAge().compareTo(longest) < 0 ? longest : live.orphanAge();
  }

  private void deletePending() throws IOException, InterruptedException {
    long end = engineEnvironment.nanoTime().getAsLong() + VISITS.toNanos();
    Optional<IOException> problem =
        store.deletePending(deletions, live.deleteTimeout(), () -> left(end).isZero());
    if (problem.isPresent()) {
      throw problem.get();
    }
  }

  private void scrub() throws InterruptedException {
    List<StoreDirectory> due = mover.moves() ? scrub.due(live.scrubInterval()) : List.of();
    if (!due.isEmpty()) {
      scrub.round(due, orphanAge(), live.scrubInterval());
    }
  }

  /** Beside the scrub, which may take hours. */
  private void repair() throws InterruptedException {
    boolean more = true;
    while (more) {
      more = mover.moves() && scrub.repairNext();
    }
  }

  /** The figures; {@code stuckCalls} are the threads that hang, beside the directories' own. */
  RemoteStats stats(
      RemoteMeters meters,
      int stuckCalls,
      long replacedReads,
      Optional<RemoteStats.HangingCalls> cold) {
    List<KnownSegment> segments = store.known.entries();
    return new RemoteStats(
        meters.operations(),
        IntStream.range(0, levelNames.size())
            .mapToObj(level -> levelStats(level, segments, meters.level(level)))
            .toList(),
        scrub.meter(),
        stuckCalls
            + deletions.stuck()
            + store.stuck()
            + cold.map(RemoteStats.HangingCalls::all).orElse(0),
        cold,
        replacedReads,
        store.damagedSegments(),
        visits.stream()
            .map(
                visited ->
                    new DirectoryStats(
                        visited.directory.path().toString(),
                        levelNames.get(visited.directory.level()),
                        !visited.isTroubled(),
                        visited.directory.copies.reason()))
            .toList(),
        patience,
        mover.stats());
  }

  private LevelStats levelStats(
      int level, List<KnownSegment> segments, RemoteStats.LevelMeter counted) {
    int lowest = levelNames.size() - 1; // Is read from where no copy here can be read.
    List<DirectoryVisits> directories =
        visits.stream().filter(visited -> visited.directory.level() == level).toList();
    List<StoredCopy> copies =
        segments.stream()
            .flatMap(entry -> entry.copies().stream())
            .filter(copy -> copy.directory().level() == level)
            .toList();
    return new LevelStats(
        levelNames.get(level),
        store.allLevels().get(level).capacityBytes(),
        directories.stream().mapToLong(visited -> store.known.usedBytes(visited.directory)).sum(),
        segments.stream()
            .filter(s -> s.readable().map(c -> c.directory().level()).orElse(lowest) == level)
            .count(),
        directories.size(),
        (int)
            directories.stream()
                .filter(
                    visited ->
                        visited.isTroubled() || visited.directory.copies.reason().isPresent())
                .count(),
        copies.stream().filter(StoredCopy::moving).count(),
        copies.stream().filter(StoredCopy::damaged).count(),
        counted);
  }

  @Override
  public void close() {
    stopped.countDown();
    scrub.stop();
    deletions.close();
    boolean ended = mover.close();
    threads.forEach(Thread::interrupt);
    awaitVisits();
    if (!ended || mover.isAtWork()) {
      return; // The lock goes with the process: a move is under way.
    }
    try {
      mover.releaseLock();
    } catch (IOException e) {
      LOG.warn("The mover's lock of the remote store could not be released: {}", e.getMessage());
    }
  }

  /** No visit begins any more; those under way may be writing, and calls that were interrupted. */
  private void awaitVisits() {
    long end = engineEnvironment.nanoTime().getAsLong() + LAST_VISITS.toNanos();
    try {
      for (DirectoryVisits directory : visits) {
        directory.await(left(end));
      }
      for (Thread thread : threads) {
        thread.join(Math.max(1, left(end).toMillis()));
      }
      while ((mover.isAtWork() || store.stuck() > 0) && !left(end).isZero()) {
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
