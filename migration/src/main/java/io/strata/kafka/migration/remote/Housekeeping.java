package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.RemoteStats.ScrubStats;
import io.strata.kafka.migration.remote.calls.Deadlines;
import io.strata.kafka.migration.remote.store.CensusEntry;
import io.strata.kafka.migration.remote.store.SegmentKey;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.StoreDirectory;
import io.strata.kafka.migration.remote.store.StoreTiers;
import io.strata.kafka.migration.remote.store.StoreUpkeep;
import io.strata.kafka.migration.remote.store.StoredCopy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the remote tier does by itself: takes the census, clears leftovers away, scrubs, and runs
 * the engine that moves segments between levels, if this is the broker that does.
 *
 * <p>Thread safety: all methods may be called by any number of threads; one thread of its own does
 * the work.
 */
final class Housekeeping implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");
  private static final int CALLS = 8;

  /** Of their own: a lock that hangs must not keep the directories from being looked at. */
  private static final int CALLS_FOR_THE_LOCK = 2;

  /** A directory with a hundred thousand segments, on a slow network. */
  private static final Duration LISTING = Duration.ofMinutes(2);

  /** One that did not answer before: the others wait for it. */
  private static final Duration LISTING_AGAIN = Duration.ofSeconds(10);

  /** Copies go on without a census rather than not at all. */
  private static final Duration FIRST_CENSUS = Duration.ofSeconds(30);

  /** Of a broker that is still there: some of its censuses. */
  private static final int CENSUSES_OF_LATE = 5;

  private static final Duration STOPPING = Duration.ofSeconds(10);

  private final RemoteEnvironment environment;
  private final SegmentStore store;
  private final List<String> levelNames;
  private final StoreUpkeep upkeep;
  private final StoreTiers tiers;
  private final Uncopied uncopied;
  private final ScrubRounds scrub;
  private final Deadlines calls;
  private final Deadlines lockCalls;
  private final EngineEnvironment engineEnvironment;
  private final Thread thread;
  private final Thread scrubber;
  private final CountDownLatch firstCensus = new CountDownLatch(1);
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Map<StoreDirectory, String> troubles = new ConcurrentHashMap<>();
  private final Set<String> disagreed = ConcurrentHashMap.newKeySet();

  /** Of the thread of the rounds. */
  private final ToldOnce movesWait = new ToldOnce();

  /** Of the thread of the scrub. */
  private final ToldOnce scrubWaits = new ToldOnce();

  private volatile RemoteSettings.Live live;
  private volatile boolean mover;
  private volatile OptionalLong oldestUncopied = OptionalLong.empty();
  private volatile @Nullable MigrationEngine engine;

  /** Of the thread of the rounds: whether the engine was told to stop, and may not have ended. */
  private boolean stopping;

  Housekeeping(
      RemoteSettings settings,
      RemoteEnvironment environment,
      SegmentStore store,
      EngineEnvironment engineEnvironment) {
    this.environment = environment;
    this.store = store;
    this.engineEnvironment = engineEnvironment;
    live = settings.live();
    levelNames = settings.levelNames();
    upkeep = new StoreUpkeep(store);
    tiers = new StoreTiers(store, levelNames);
    uncopied = new Uncopied(store);
    scrub = new ScrubRounds(store, engineEnvironment.clock(), engineEnvironment.nanoTime());
    scrub.setRate(live.scrubBytesPerSecond());
    calls = new Deadlines("strata-remote-upkeep", CALLS, engineEnvironment.threads());
    lockCalls =
        new Deadlines("strata-remote-mover", CALLS_FOR_THE_LOCK, engineEnvironment.threads());
    thread = engineEnvironment.threads().newThread(this::run);
    thread.setName("strata-remote-housekeeping");
    scrubber = engineEnvironment.threads().newThread(this::scrubAgainAndAgain);
    scrubber.setName("strata-remote-scrub");
  }

  void start() {
    thread.start();
    scrubber.start();
  }

  /** Waits until the store has been listed once, so that its free room is known; not for long. */
  void awaitFirstCensus() throws InterruptedException {
    boolean unused = firstCensus.await(FIRST_CENSUS.toMillis(), TimeUnit.MILLISECONDS);
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
    scrub.setRate(changed.scrubBytesPerSecond());
    MigrationEngine running = engine;
    if (running != null) {
      running.reconfigure(changed.migration());
    }
  }

  private void run() {
    store.warnings().forEach(warning -> LOG.warn("Remote store: {}", warning));
    boolean more = true;
    while (more) {
      try {
        round();
        more = !stopped.await(live.censusInterval().toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        LOG.error("Housekeeping of the remote store failed; it goes on with the next round", e);
      }
    }
  }

  private void round() throws InterruptedException {
    for (StoreDirectory directory : store.directories()) {
      visit(directory);
    }
    firstCensus.countDown();
    try {
      if (isMover()) {
        move();
      } else {
        stopMoving();
      }
      movesWait.over();
    } catch (IOException e) {
      String reason = Failures.describe(e);
      if (movesWait.isNew(reason)) {
        LOG.warn("Moves between levels of the remote store, and its scrub, wait: {}", reason);
      }
    }
    upkeep.forgetReads();
    OptionalLong oldest = uncopied.oldestMillis();
    long now = engineEnvironment.clock().millis();
    oldestUncopied =
        oldest.isPresent()
            ? OptionalLong.of(Math.max(0, now - oldest.getAsLong()))
            : OptionalLong.empty();
  }

  /** Without the certainty that this is the one that moves, nothing is moved. */
  private boolean isMover() throws IOException, InterruptedException {
    try {
      return lockCalls.call(
          "taking the mover's lock", LISTING, control -> agrees() && upkeep.isMover());
    } catch (IOException e) {
      stopMoving();
      throw e;
    }
  }

  private void move() throws IOException, InterruptedException {
    if (!mover) {
      mover = true;
      tellOfMover("is now");
      // What the one before has done since they were listed.
      for (StoreDirectory directory : store.directories()) {
        visit(directory);
      }
    }
    List<String> unsettled =
        calls.call("ending interrupted moves", LISTING, control -> upkeep.settle());
    unsettled.forEach(problem -> LOG.warn("Remote store: an interrupted move waits: {}", problem));
    startEngine();
  }

  /** The lock goes when no move is under way any more, and not before. */
  private void stopMoving() throws IOException, InterruptedException {
    if (mover) {
      mover = false;
      tellOfMover("is not any more");
    }
    if (hasStopped()) {
      boolean unused =
          lockCalls.call(
              "giving up the mover's lock",
              LISTING_AGAIN,
              control -> {
                upkeep.giveUpMoving();
                return true;
              });
    }
  }

  private void tellOfMover(String is) {
    LOG.info(
        "Broker {} {} the one that moves and scrubs segments of the remote store {}",
        store.brokerId(),
        is,
        store.storeId());
  }

  private void visit(StoreDirectory directory) throws InterruptedException {
    try {
      List<String> problems =
          calls.call(
              "listing " + directory,
              directory.isSuspended() ? LISTING_AGAIN : LISTING,
              control -> upkeep.refresh(directory));
      problems.forEach(problem -> LOG.error("Remote store: {}", problem));
      directory.resume();
    } catch (IOException e) {
      directory.suspend(String.valueOf(e.getMessage()));
      trouble(directory, "cannot be used: " + e.getMessage());
      return;
    }
    try {
      List<Path> removed =
          calls.call(
              "signing in to " + directory,
              LISTING,
              control -> {
                upkeep.signIn(directory);
                return upkeep.clear(directory, orphanAge());
              });
      scrub.removed(removed.size());
      if (!removed.isEmpty()) {
        LOG.info("Remote store: removed leftovers of dead processes: {}", removed);
      }
      directory.writable();
      if (troubles.remove(directory) != null) {
        LOG.info("Remote store: {} can be used again", directory);
      }
    } catch (IOException e) {
      String reason = Failures.describe(e);
      directory.unwritable(directory + " cannot be written to: " + reason);
      trouble(directory, "cannot be written to; it is read only: " + reason);
    }
  }

  private void trouble(StoreDirectory directory, String trouble) {
    if (!trouble.equals(troubles.put(directory, trouble))) {
      LOG.error("Remote store: {} {}", directory, trouble);
    }
  }

  /** No copy is at work for longer. */
  private Duration orphanAge() {
    Duration longest = live.copyTimeout().multipliedBy(2);
    return live.orphanAge().compareTo(longest) < 0 ? longest : live.orphanAge();
  }

  /** Whether all brokers of late use the same directories in the same levels: else nobody moves. */
  private boolean agrees() throws IOException {
    boolean agrees = true;
    long since =
        engineEnvironment.clock().millis()
            - live.censusInterval().multipliedBy(CENSUSES_OF_LATE).toMillis();
    for (StoreDirectory directory : store.directories()) {
      if (!directory.isSuspended()) {
        List<StoreUpkeep.UsingBroker> others = upkeep.disagreeing(directory, since);
        agrees &= others.isEmpty();
        others.forEach(this::warnOf);
      }
    }
    return agrees;
  }

  private void warnOf(StoreUpkeep.UsingBroker other) {
    if (disagreed.add(other.brokerId() + " " + other.directoryIds())) {
      LOG.warn(
          "Remote store: broker {} uses the directories {}, and this broker others, or in another"
              + " order; what one of the two writes the other may not find, and no segment is"
              + " moved between levels. Give rsm.config.levels and its directories the same values"
              + " on all brokers",
          other.brokerId(),
          other.directoryIds());
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
    return !store.isCopyingToCold();
  }

  private void startEngine() {
    if (stopping && !hasStopped()) {
      return; // The old one first: two would not know of each other's moves.
    }
    if (engine != null || levelNames.size() < 2) {
      return;
    }
    RemoteEnvironment.EngineLog log = environment.engineLog(levelNames);
    MigrationEngine made =
        new MigrationEngine(
            tiers,
            live.migration(),
            environment.policies(),
            log.listeners(),
            log.events(),
            engineEnvironment);
    made.start();
    engine = made;
  }

  private void scrubAgainAndAgain() {
    try {
      while (!stopped.await(
          Math.min(live.censusInterval().toMillis(), 60_000), TimeUnit.MILLISECONDS)) {
        try {
          if (mover && isScrubDue()) {
            scrub.round(upkeep, orphanAge());
          }
          scrubWaits.over();
        } catch (IOException e) {
          String reason = Failures.describe(e);
          if (scrubWaits.isNew(reason)) {
            LOG.warn("The scrub of the remote store could not be ended: {}", reason);
          }
        } catch (RuntimeException e) {
          LOG.error("The scrub of the remote store failed", e);
        }
      }
    } catch (InterruptedException e) {
      // The broker stops.
      return;
    }
  }

  private boolean isScrubDue() throws IOException {
    Duration interval = live.scrubInterval();
    return !interval.isZero()
        && engineEnvironment.clock().millis() - upkeep.lastScrubMillis() >= interval.toMillis();
  }

  ScrubStats scrubStats() {
    return scrub.stats();
  }

  OptionalLong oldestUncopiedMillis() {
    return oldestUncopied;
  }

  int stuck() {
    return calls.stuck() + lockCalls.stuck();
  }

  Optional<MigrationStats> migrationStats() {
    return Optional.ofNullable(engine).map(MigrationEngine::stats);
  }

  List<LevelStats> levelStats(LevelMeters meters) {
    long[] segments = new long[levelNames.size()];
    for (CensusEntry entry : store.segments()) {
      Optional<StoredCopy> readable = entry.readable();
      int level = readable.isPresent() ? readable.get().directory().level() : levelNames.size() - 1;
      segments[level]++;
    }
    List<LevelStats> stats = new ArrayList<>();
    for (int level = 0; level < levelNames.size(); level++) {
      long used = 0;
      int directories = 0;
      int unavailable = 0;
      for (StoreDirectory directory : store.directories()) {
        if (directory.level() == level) {
          used += store.usedBytes(directory);
          directories++;
          unavailable += troubles.containsKey(directory) ? 1 : 0;
        }
      }
      stats.add(
          new LevelStats(
              levelNames.get(level),
              level < store.levels() ? store.capacityBytes(level) : 0,
              used,
              segments[level],
              directories,
              unavailable,
              meters.copiedBytes(level),
              meters.fetchedBytes(level),
              meters.deletedBytes(level)));
    }
    return stats;
  }

  @Override
  public void close() {
    stopped.countDown();
    scrub.stop();
    MigrationEngine running = engine;
    boolean ended = running == null || running.stop(STOPPING);
    calls.close();
    lockCalls.close();
    thread.interrupt();
    scrubber.interrupt();
    if (!ended || store.isCopyingToCold()) {
      return; // The lock goes with the process: a move is under way.
    }
    try {
      upkeep.close();
    } catch (IOException e) {
      LOG.warn("The mover's lock of the remote store could not be given up: {}", e.getMessage());
    }
  }
}
