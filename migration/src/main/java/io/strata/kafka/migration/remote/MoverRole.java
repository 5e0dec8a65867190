package io.strata.kafka.migration.remote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.remote.store.MoveConfirmation;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.StoreUpkeep;
import io.strata.kafka.migration.remote.store.StoreUpkeep.UsingBroker;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.MoverLock;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.keep.StoreTiers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides in each round whether this broker moves segments between levels, and runs the engine
 * while it does. One broker of a cluster moves, and none while two of them use different
 * directories. A broker that does not move evicts for its own copies while all agree.
 *
 * <p>Thread safety: {@link #round} is used by one thread; the rest may be called by any.
 */
final class MoverRole {

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  /** The number of listings after which a broker that is not seen no longer counts. */
  private static final int RECENT_INVENTORIES = 5;

  private static final Duration STOPPING = Duration.ofSeconds(10);

  private final RemoteEnvironment environment;
  private final SegmentStore store;
  private final List<String> levelNames;
  private final StoreUpkeep upkeep;
  private final MoverLock lock;
  private final StoreTiers tiers;
  private final List<DirectoryVisits> visits;
  private final Housekeeping.Work visitAll;

  /** The warnings given; a directory's thread may add to it after its caller has gone on. */
  private final Set<String> warned = ConcurrentHashMap.newKeySet();

  private volatile RemoteSettings.Live live;
  private volatile boolean moves;

  /** The time from which this broker moves segments; of the thread of the rounds. */
  private long since;

  /** Is made under the lock of this object, which a stop does not hold while it waits. */
  private volatile @Nullable MigrationEngine engine;

  /** The figures of the engine before; of the thread of the rounds. */
  private Optional<MigrationStats> earlier = Optional.empty();

  @GuardedBy("this")
  private boolean closed;

  /** True when the engine is to end, and may not have ended; of the thread of the rounds. */
  private boolean stopping;

  /**
   * A broker that does not move yet.
   *
   * @param visitAll visits all directories, and waits for the visits, but not for long
   */
  MoverRole(
      RemoteSettings settings,
      RemoteEnvironment environment,
      SegmentStore store,
      StoreUpkeep upkeep,
      List<DirectoryVisits> visits,
      Housekeeping.Work visitAll) {
    this.environment = environment;
    this.store = store;
    this.upkeep = upkeep;
    lock = new MoverLock(store.directories());
    this.visits = visits;
    this.visitAll = visitAll;
    live = settings.live();
    levelNames = settings.levelNames();
    tiers = new StoreTiers(store, levelNames);
    tiers.askBeforeEachMove(lock::isStillHeld);
  }

  synchronized void reconfigure(RemoteSettings.Live changed) {
    MigrationEngine running = engine;
    if (running != null) {
      running.reconfigure(changed.migration());
    }
    live = changed;
  }

  /** Returns whether this broker moves, and with that scrubs, the store's segments. */
  boolean moves() {
    return moves;
  }

  Optional<MigrationStats> stats() {
    return Optional.ofNullable(engine).map(MigrationEngine::stats);
  }

  /** Begins to move segments, continues, or stops, as the other brokers' files say. */
  void round() throws IOException, InterruptedException {
    boolean agrees = false;
    boolean isMover;
    try {
      agrees = agrees();
      isMover = agrees && lock.tryHold();
    } catch (IOException e) {
      stopMoving(false); // Without the certainty that this is the one, nothing is moved.
      throw e;
    }
    if (isMover) {
      move();
    } else {
      stopMoving(agrees);
    }
  }

  private void move() throws IOException, InterruptedException {
    if (!moves) {
      moves = true;
      since = environment.engine().nanoTime().getAsLong();
      log("is now");
      // The one before may have moved segments since they were listed; a listing may be under way.
      for (int i = 0; i < 2 && !visits.stream().allMatch(d -> d.isVisitedSince(since)); i++) {
        visitAll.run();
      }
    }
    for (DirectoryVisits directory : visits) {
      if (!directory.isVisitedSince(since)) {
        throw new StoreUnavailableException(
            directory.directory
                + " is being listed, for what the broker that moved before this one has done");
      }
    }
    new MoveConfirmation(store)
        .settle()
        .forEach(problem -> LOG.warn("Remote store: an interrupted move waits: {}", problem));
    startEngine();
  }

  /**
   * The lock goes when no move is under way any more, and not before. A thread that hangs keeps no
   * copy from its space: a segment that it moves is not evicted.
   *
   * @param evicts whether this broker evicts for its own copies when it has no engine any more
   */
  private void stopMoving(boolean evicts) throws IOException, InterruptedException {
    if (moves) {
      moves = false;
      log("is not any more");
    }
    boolean ended = hasStopped();
    if (!evicts) {
      tiers.evictionOrder(List.of());
    } else if (ended) {
      tiers.evictOldest();
    }
    if (ended && !isAtWork()) {
      lock.close();
    }
  }

  private void log(String is) {
    LOG.info(
        "Broker {} {} the one that moves and scrubs segments of the remote store {}",
        store.options.brokerId(),
        is,
        store.storeId());
  }

  /** Returns whether all recent brokers use the same directories in the same levels. */
  private boolean agrees() throws IOException, InterruptedException {
    boolean agrees = true;
    boolean read = false;
    Optional<IOException> problem = Optional.empty();
    Duration late = live.inventoryInterval().multipliedBy(RECENT_INVENTORIES);
    for (StoreDirectory directory : store.directories()) {
      try {
        List<UsingBroker> others = upkeep.disagreeing(directory, late, this::warnOnce);
        agrees &= others.isEmpty();
        others.forEach(this::warnOf);
        read = true;
      } catch (IOException e) {
        problem = Optional.of(e); // All sign in to all: one that answers is enough.
      }
    }
    if (!read && problem.isPresent()) {
      throw problem.get();
    }
    return agrees;
  }

  private void warnOf(UsingBroker other) {
    warnOnce(
        """
        broker %d uses the directories %s, and this broker others, or in another order; what one \
        of the two writes the other may not find, and no segment is moved between levels. Give \
        rsm.config.levels and its directories the same values on all brokers\
        """
            .formatted(other.brokerId(), other.directoryIds()));
  }

  private void warnOnce(String warning) {
    if (warned.add(warning)) {
      LOG.warn("Remote store: {}", warning);
    }
  }

  private void startEngine() {
    if (stopping && (!hasStopped() || isAtWork())) {
      return; // The old one first: two would not know of each other's moves.
    }
    synchronized (this) {
      if (engine == null && !closed && levelNames.size() > 1) {
        MigrationEngine made =
            environment.migrationEngine(tiers, live.migration(), levelNames, earlier);
        engine = made;
        // Until it has all of its threads: the next round stops it, and makes another.
        stopping = true;
        made.start();
        stopping = false;
      }
    }
  }

  /** Stops the engine; returns whether it has ended: what it has begun may be at work still. */
  private boolean hasStopped() {
    MigrationEngine running = engine;
    if (running != null) {
      stopping = true;
      if (!running.stop(STOPPING)) {
        return false;
      }
      earlier = Optional.of(running.stats());
      engine = null;
      tiers.evictionOrder(List.of());
    }
    stopping = false;
    return true;
  }

  /** Stops the engine for good; returns whether it has ended. */
  boolean close() {
    MigrationEngine running;
    synchronized (this) {
      closed = true;
      running = engine;
    }
    return running == null || running.stop(STOPPING);
  }

  void releaseLock() throws IOException {
    lock.close();
  }

  /**
   * Returns whether a move that was stopped may be at work still. Another thread that hangs, for
   * ever perhaps, does not keep the lock from a broker that answers; nor does an eviction for a
   * copy's own space.
   */
  boolean isAtWork() {
    return store.isCopyingToCold() || tiers.areMoving();
  }
}
