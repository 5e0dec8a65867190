package io.strata.kafka.migration.remote;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.remote.RemoteStats.DirectoryStats;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.store.KnownSegment;
import io.strata.kafka.migration.remote.store.SegmentKey;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.StoreDirectory;
import io.strata.kafka.migration.remote.store.StoreTiers;
import io.strata.kafka.migration.remote.store.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.StoreUpkeep;
import io.strata.kafka.migration.remote.store.StoredCopy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does the remote tier's background work: lists what there is, clears leftovers away, scrubs, and
 * runs the engine that moves segments between levels, if this is the broker that does.
 *
 * <p>Thread safety: all methods may be called by any number of threads; one thread of its own does
 * the work.
 */
final class Housekeeping implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  /** A round waits so long for the visits of the directories; one that takes longer goes on. */
  private static final Duration VISITS = Duration.ofSeconds(10);

  /** So often it is asked whether a directory that did not answer is back. */
  private static final Duration ASKING = Duration.ofSeconds(5);

  /** Copies go on without a listing rather than not at all. */
  private static final Duration FIRST_CENSUS = Duration.ofSeconds(30);

  /** The number of listings after which a broker that is not seen no longer counts. */
  private static final int RECENT_CENSUSES = 5;

  private static final Duration STOPPING = Duration.ofSeconds(10);

  /** The time that the last visits get to write what they have. */
  private static final Duration LAST_VISITS = Duration.ofSeconds(2);

  private final RemoteEnvironment environment;
  private final SegmentStore store;
  private final List<String> levelNames;
  private final StoreUpkeep upkeep;
  private final StoreTiers tiers;
  private final Uncopied uncopied;
  private final ScrubRounds scrub;
  private final List<DirectoryVisits> visits;
  private final EngineEnvironment engineEnvironment;

  /**
   * The rounds, the scrub, and the deletions, which are not the rounds': a deletion waits as long
   * as a directory hangs, and the rounds ask after it.
   */
  private final List<Thread> threads;

  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Set<String> disagreed = ConcurrentHashMap.newKeySet();

  private volatile RemoteSettings.Live live;
  private volatile boolean mover;

  /** The time from which this broker moves segments; of the thread of the rounds. */
  private long moverSince;

  private volatile OptionalLong oldestUncopied = OptionalLong.empty();
  private volatile @Nullable MigrationEngine engine;

  /** True when the engine was stopped and may not have ended; of the thread of the rounds. */
  private boolean stopping;

  Housekeeping(RemoteSettings settings, RemoteEnvironment environment, SegmentStore store) {
    this.environment = environment;
    this.store = store;
    engineEnvironment = environment.engine();
    live = settings.live();
    levelNames = settings.levelNames();
    upkeep = new StoreUpkeep(store);
    tiers = new StoreTiers(store, levelNames);
    tiers.askBeforeEachMove(upkeep::isStillMover);
    uncopied = new Uncopied(store::endOffset);
    scrub = new ScrubRounds(store, engineEnvironment.clock(), engineEnvironment.nanoTime());
    visits =
        store.directories().stream()
            .map(
                directory ->
                    new DirectoryVisits(
                        directory, upkeep, this::orphanAge, scrub, engineEnvironment))
            .toList();
    threads =
        List.of(
            thread("housekeeping", this::run),
            nowAndThen("scrub", this::scrubOrRepair),
            nowAndThen("deletions", this::deletePending));
  }

  private Thread thread(String name, Runnable work) {
    Thread made = engineEnvironment.threads().newThread(work);
    made.setName("strata-remote-" + name);
    return made;
  }

  /** Work that is done now and then. */
  @FunctionalInterface
  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  /** A thread that works until this stops; a failure is logged when it is another one. */
  private Thread nowAndThen(String name, Work work) {
    ToldOnce fails = new ToldOnce();
    return thread(
        name,
        () -> {
          try {
            while (awaitNextTime()) {
              runOnce(name, work, fails);
            }
          } catch (InterruptedException e) {
            return; // The broker stops.
          }
        });
  }

  /** Whatever fails, the next time may do better: an error of the machine passes, too. */
  private void runOnce(String name, Work work, ToldOnce fails) throws InterruptedException {
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
  void awaitFirstCensus() throws InterruptedException {
    long end = engineEnvironment.nanoTime().getAsLong() + FIRST_CENSUS.toNanos();
    for (DirectoryVisits directory : visits) {
      directory.awaitFirst(left(end));
    }
  }

  private Duration left(long endNanos) {
    return Duration.ofNanos(Math.max(0, endNanos - engineEnvironment.nanoTime().getAsLong()));
  }

  void led(SegmentKey key, Path log) {
    uncopied.led(key, log);
  }

  /** A segment was copied. */
  void changed() {
    tiers.changed();
  }

  void reconfigure(RemoteSettings.Live changed) {
    live = changed;
    MigrationEngine running = engine;
    if (running != null) {
      running.reconfigure(changed.migration());
    }
  }

  private void run() {
    store.warnings().forEach(warning -> LOG.warn("Remote store: {}", warning));
    ToldOnce roundFails = new ToldOnce();
    ToldOnce movesFail = new ToldOnce();
    boolean more = true;
    while (more) {
      try {
        runOnce("housekeeping", this::look, roundFails);
        runOnce("moves between levels, and the scrub", this::moveIfMover, movesFail);
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
    long end = engineEnvironment.nanoTime().getAsLong() + live.censusInterval().toNanos();
    while (true) {
      Duration left = left(end);
      Duration wait = left.compareTo(ASKING) < 0 ? left : ASKING;
      if (stopped.await(wait.toNanos(), TimeUnit.NANOSECONDS)) {
        return true;
      }
      if (left(end).isZero() || isOneBack()) {
        return false;
      }
    }
  }

  private boolean isOneBack() throws InterruptedException {
    boolean back = false;
    for (StoreDirectory directory : store.directories()) {
      if (directory.access().isSuspended()) {
        try {
          directory.access().ask();
          back = true;
        } catch (StoreUnavailableException e) {
          // The next round says so, if it is another trouble now.
        }
      }
    }
    return back;
  }

  private void moveIfMover() throws IOException, InterruptedException {
    boolean agrees = false;
    boolean isMover;
    try {
      agrees = agrees();
      isMover = agrees && upkeep.isMover();
    } catch (IOException e) {
      stopMoving(); // Without the certainty that this is the one, nothing is moved.
      throw e;
    }
    if (isMover) {
      move();
    } else if (stopMoving() && agrees) {
      tiers.evictOldest();
    }
  }

  private void look() throws InterruptedException {
    visitAll();
    upkeep.forgetReads();
    long now = engineEnvironment.clock().millis();
    oldestUncopied =
        uncopied.oldestMillis().stream().map(oldest -> Math.max(0, now - oldest)).findFirst();
  }

  /** All at once: one that takes its time does not keep the others from being looked at. */
  private void visitAll() throws InterruptedException {
    for (DirectoryVisits directory : visits) {
      directory.begin();
    }
    long end = engineEnvironment.nanoTime().getAsLong() + VISITS.toNanos();
    for (DirectoryVisits directory : visits) {
      if (!directory.directory().access().isSuspended()) {
        directory.await(left(end));
      }
    }
  }

  private void move() throws IOException, InterruptedException {
    if (!mover) {
      mover = true;
      moverSince = engineEnvironment.nanoTime().getAsLong();
      tellOfMover("is now");
      // What the one before has done since they were listed; a listing may be under way.
      for (int i = 0; i < 2 && !visits.stream().allMatch(d -> d.isVisitedSince(moverSince)); i++) {
        visitAll();
      }
    }
    for (DirectoryVisits directory : visits) {
      if (!directory.isVisitedSince(moverSince)) {
        throw new StoreUnavailableException(
            directory.directory()
                + " is being listed, for what the broker that moved before this one has done");
      }
    }
    upkeep
        .settle()
        .forEach(problem -> LOG.warn("Remote store: an interrupted move waits: {}", problem));
    startEngine();
  }

  /**
   * The lock goes when no move is under way any more, and not before.
   *
   * @return whether none is
   */
  @CanIgnoreReturnValue
  private boolean stopMoving() throws IOException, InterruptedException {
    if (mover) {
      mover = false;
      tellOfMover("is not any more");
    }
    boolean ended = hasStopped();
    if (ended) {
      upkeep.giveUpMoving();
    }
    return ended;
  }

  private void tellOfMover(String is) {
    LOG.info(
        "Broker {} {} the one that moves and scrubs segments of the remote store {}",
        store.brokerId(),
        is,
        store.storeId());
  }

  /** No copy is at work for longer. */
  private Duration orphanAge() {
    Duration longest = live.copyTimeout().multipliedBy(2);
    return live.orphanAge().compareTo(longest) < 0 ? longest : live.orphanAge();
  }

  /**
   * Returns whether all recent brokers use the same directories in the same levels: otherwise no
   * broker moves segments.
   */
  private boolean agrees() throws IOException, InterruptedException {
    boolean agrees = true;
    boolean read = false;
    Optional<IOException> problem = Optional.empty();
    Duration late = live.censusInterval().multipliedBy(RECENT_CENSUSES);
    for (StoreDirectory directory : store.directories()) {
      try {
        List<StoreUpkeep.UsingBroker> others = upkeep.disagreeing(directory, late, this::warnOnce);
        agrees &= others.isEmpty();
        others.forEach(this::warnOf);
        read = true;
      } catch (IOException e) {
        problem = Optional.of(e); // All sign in to all: another one tells as much.
      }
    }
    if (!read && problem.isPresent()) {
      throw problem.get();
    }
    return agrees;
  }

  private void warnOf(StoreUpkeep.UsingBroker other) {
    warnOnce(
        """
        broker %d uses the directories %s, and this broker others, or in another order; what one \
        of the two writes the other may not find, and no segment is moved between levels. Give \
        rsm.config.levels and its directories the same values on all brokers\
        """
            .formatted(other.brokerId(), other.directoryIds()));
  }

  private void warnOnce(String warning) {
    if (disagreed.add(warning)) {
      LOG.warn("Remote store: {}", warning);
    }
  }

  /** Stops the engine; tells whether nothing is moved any more. */
  private boolean hasStopped() {
    MigrationEngine running = engine;
    if (running != null) {
      stopping = true;
      if (!running.stop(STOPPING)) {
        return false;
      }
      engine = null;
    }
    stopping = false;
    tiers.evictionOrder(List.of());
    return !isAtWork();
  }

  /** Returns whether what was stopped may be at work still. */
  private boolean isAtWork() {
    return store.isCopyingToCold() || stuck() > 0;
  }

  private void startEngine() {
    if (stopping && !hasStopped()) {
      return; // The old one first: two would not know of each other's moves.
    }
    if (engine != null || levelNames.size() < 2) {
      return;
    }
    MigrationEngine made = environment.migrationEngine(tiers, live.migration(), levelNames);
    made.start();
    engine = made;
  }

  private boolean awaitNextTime() throws InterruptedException {
    return !stopped.await(
        Math.min(live.censusInterval().toMillis(), 60_000), TimeUnit.MILLISECONDS);
  }

  private void deletePending() throws IOException, InterruptedException {
    long end = engineEnvironment.nanoTime().getAsLong() + VISITS.toNanos();
    Optional<IOException> problem = upkeep.deletePending(() -> left(end).isZero());
    if (problem.isPresent()) {
      throw problem.get();
    }
  }

  /** Repairs wait for the scrub, and the scrub for one of them. */
  private void scrubOrRepair() throws IOException, InterruptedException {
    if (mover && isScrubDue()) {
      scrub.round(upkeep, orphanAge(), live.scrubInterval());
    }
    boolean more = true;
    while (more) {
      more = mover && !isScrubDue() && scrub.repairNext();
    }
  }

  private boolean isScrubDue() throws InterruptedException {
    Duration interval = live.scrubInterval();
    if (interval.isZero()) {
      return false;
    }
    OptionalLong noted = upkeep.lastScrubMillis();
    long last = Math.max(noted.orElse(Long.MAX_VALUE), scrub.stats().lastEndMillis().orElse(0));
    return last != Long.MAX_VALUE
        && engineEnvironment.clock().millis() - last >= interval.toMillis();
  }

  int stuck() {
    return store.directories().stream().mapToInt(directory -> directory.access().stuck()).sum();
  }

  /** The figures; {@code stuckCalls} are the threads that hang, beside the directories' own. */
  RemoteStats stats(
      RemoteMeters meters,
      long linkedBytes,
      RemoteStats.CacheStats cache,
      int stuckCalls,
      long replacedReads) {
    List<KnownSegment> segments = store.segments();
    return new RemoteStats(
        meters.stats(),
        IntStream.range(0, levelNames.size())
            .mapToObj(level -> levelStats(level, segments, meters.level(level)))
            .toList(),
        linkedBytes,
        cache,
        scrub.stats(),
        oldestUncopied,
        stuckCalls + stuck(),
        replacedReads,
        segments.stream()
            .filter(entry -> entry.copies().stream().allMatch(StoredCopy::damaged))
            .count(),
        visits.stream()
            .map(
                visited ->
                    new DirectoryStats(
                        visited.directory().path().toString(),
                        levelNames.get(visited.directory().level()),
                        !visited.isTroubled()))
            .toList(),
        Optional.ofNullable(engine).map(MigrationEngine::stats));
  }

  private LevelStats levelStats(
      int level, List<KnownSegment> segments, RemoteMeters.Level counted) {
    List<DirectoryVisits> directories =
        visits.stream().filter(visited -> visited.directory().level() == level).toList();
    List<StoredCopy> copies =
        segments.stream()
            .flatMap(entry -> entry.copies().stream())
            .filter(copy -> copy.directory().level() == level)
            .toList();
    return new LevelStats(
        levelNames.get(level),
        store.capacities().get(level),
        directories.stream().mapToLong(visited -> store.usedBytes(visited.directory())).sum(),
        segments.stream().filter(entry -> readFrom(entry) == level).count(),
        directories.size(),
        (int) directories.stream().filter(DirectoryVisits::isTroubled).count(),
        counted.copied().sum(),
        counted.fetched().sum(),
        counted.deleted().sum(),
        copies.stream().filter(StoredCopy::moving).count(),
        copies.stream().filter(StoredCopy::damaged).count());
  }

  /** The level that a segment is read from: the cold manager's if no copy here can be read. */
  private int readFrom(KnownSegment segment) {
    return segment.readable().map(copy -> copy.directory().level()).orElse(levelNames.size() - 1);
  }

  @Override
  public void close() {
    stopped.countDown();
    scrub.stop();
    MigrationEngine running = engine;
    boolean ended = running == null || running.stop(STOPPING);
    threads.forEach(Thread::interrupt);
    awaitVisits();
    if (!ended || isAtWork()) {
      return; // The lock goes with the process: a move is under way.
    }
    try {
      upkeep.close();
    } catch (IOException e) {
      LOG.warn("The mover's lock of the remote store could not be released: {}", e.getMessage());
    }
  }

  /** No visit begins any more; those under way may be writing, and calls that were interrupted. */
  private void awaitVisits() {
    long end = engineEnvironment.nanoTime().getAsLong() + LAST_VISITS.toNanos();
    try {
      for (Thread thread : threads) {
        thread.join(Math.max(1, left(end).toMillis()));
      }
      for (DirectoryVisits directory : visits) {
        directory.await(left(end));
      }
      while (isAtWork() && !left(end).isZero()) {
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
