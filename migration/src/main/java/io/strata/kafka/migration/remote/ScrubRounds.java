package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.ByteRateLimiter;
import io.strata.kafka.migration.remote.RemoteStats.ScrubStats;
import io.strata.kafka.migration.remote.calls.CallControl;
import io.strata.kafka.migration.remote.calls.Deadlines;
import io.strata.kafka.migration.remote.calls.TimeLimitException;
import io.strata.kafka.migration.remote.store.CopyRepair;
import io.strata.kafka.migration.remote.store.Finding;
import io.strata.kafka.migration.remote.store.Scrubber;
import io.strata.kafka.migration.remote.store.SegmentKey;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.StoreDirectory;
import io.strata.kafka.migration.remote.store.StoreUpkeep;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the whole store, byte by byte, in the background.
 *
 * <p>Thread safety: {@link #due}, {@link #round} and {@link #repairNext} are used by one thread;
 * the rest may be called by any.
 */
final class ScrubRounds {

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  /** A directory that had it right may have been away. */
  private static final Duration AGAIN = Duration.ofHours(1);

  /** A scrub or a repair that comes no further for so long hangs. */
  private static final Duration STALLED = Duration.ofMinutes(10);

  /** Bytes per second: what a disk reads beside other work. */
  private static final long LEAST_RATE = 50_000_000;

  private final SegmentStore store;
  private final InstantSource clock;
  private final ByteRateLimiter limit;
  private final LongAdder rounds = new LongAdder();
  private final LongAdder objects = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder corrupt = new LongAdder();
  private final LongAdder missing = new LongAdder();
  private final LongAdder removed = new LongAdder();
  private volatile OptionalLong lastEnd = OptionalLong.empty();
  private final CopyRepair repair;

  /** The copies that could not be repaired within the last hour; of the thread of the scrub. */
  private final Set<CopyRepair.Damaged> tried = new HashSet<>();

  /** When each directory counts as scrubbed, as this broker knows; of the thread of the scrub. */
  private final Map<StoreDirectory, Long> own = new HashMap<>();

  /**
   * The directories in which a scrub or a repair hangs: nothing is begun there until it has come
   * back.
   */
  private final Set<StoreDirectory> hanging = ConcurrentHashMap.newKeySet();

  private final LongSupplier nanoTime;
  private long triedSince;

  private volatile boolean stopping;

  ScrubRounds(SegmentStore store, InstantSource clock, LongSupplier nanoTime) {
    this.store = store;
    this.repair = new CopyRepair(store);
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.limit = new ByteRateLimiter(nanoTime);
    limit.setRate(LEAST_RATE);
  }

  void stop() {
    stopping = true;
    limit.wakeAll();
  }

  /** Orphans were removed in passing. */
  void removed(int orphans) {
    removed.add(orphans);
  }

  ScrubStats stats() {
    return new ScrubStats(
        rounds.sum(),
        objects.sum(),
        bytes.sum(),
        corrupt.sum(),
        missing.sum(),
        removed.sum(),
        lastEnd);
  }

  /**
   * The directories that were not scrubbed within an interval, by this broker or another. One that
   * does not answer, or in which a scrub hangs, is not among them.
   */
  List<StoreDirectory> due(StoreUpkeep upkeep, Duration interval) throws InterruptedException {
    List<StoreDirectory> due = new ArrayList<>();
    if (interval.isZero()) {
      return due;
    }
    for (StoreDirectory directory : store.directories()) {
      if (hanging.contains(directory)) {
        continue;
      }
      OptionalLong noted = upkeep.lastScrubMillis(directory);
      long now = clock.millis();
      long known = own.getOrDefault(directory, 0L);
      // The clock was ahead, and is no longer: what is noted in the directory counts.
      long last = Math.max(noted.orElse(0), known > now ? 0 : known);
      if (noted.isPresent() && now - last >= interval.toMillis()) {
        due.add(directory);
      }
    }
    return due;
  }

  /** Checks directories. Each is noted when it has been read: a restart begins with the others. */
  void round(StoreUpkeep upkeep, List<StoreDirectory> due, Duration orphanAge, Duration interval)
      throws InterruptedException {
    // Twice what the store's bytes take within the interval.
    long used = store.directories().stream().mapToLong(store::usedBytes).sum();
    limit.setRate(Math.max(LEAST_RATE, 2 * used / Math.max(1, interval.toSeconds())));
    long damagedBefore = corrupt.sum() + missing.sum();
    LOG.info("Scrub of the remote store {} begins: {}", store.storeId(), due);
    for (StoreDirectory directory : due) {
      try {
        Task task = new Task(directory);
        boolean unused =
            task.run(
                "scrubbing " + directory,
                control -> {
                  Scrubber.scrub(
                      directory.path(),
                      Scrubber.Options.all(Scrubber.Depth.READ, true, orphanAge),
                      clock,
                      upkeep.owner(),
                      new Progress(task));
                  return true;
                });
        own.put(directory, clock.millis());
        upkeep.scrubbed(directory);
      } catch (IOException e) {
        LOG.warn(
            "Scrub of the remote store: {} is left out, and tried again within an hour: {}",
            directory,
            e.getMessage());
        long wait = Math.min(AGAIN.toMillis(), interval.toMillis());
        own.put(directory, clock.millis() - interval.toMillis() + wait);
      }
    }
    if (tried.containsAll(repair.known())) {
      tried.clear(); // Otherwise the others first.
    }
    lastEnd = OptionalLong.of(clock.millis());
    rounds.increment();
    LOG.info(
        "Scrub of the remote store {} ended: {} damaged or missing objects",
        store.storeId(),
        corrupt.sum() + missing.sum() - damagedBefore);
  }

  /**
   * Repairs a copy that is known to be damaged, if there is one that was not tried since the last
   * scrub, or for an hour: replaces what is wrong by what another copy has.
   *
   * @return whether there was one
   */
  boolean repairNext() throws InterruptedException {
    long now = nanoTime.getAsLong();
    if (tried.isEmpty() || now - triedSince > AGAIN.toNanos()) {
      tried.clear();
      triedSince = now;
    }
    Optional<CopyRepair.Damaged> next =
        repair.known().stream()
            .filter(copy -> !tried.contains(copy) && !hanging.contains(copy.directory()))
            .findFirst();
    if (next.isEmpty()) {
      return false;
    }
    CopyRepair.Damaged damaged = next.get();
    boolean unused = tried.add(damaged);
    try {
      Task task = new Task(damaged.directory());
      List<Path> replaced =
          task.run(
              "repairing " + damaged.key() + " in " + damaged.directory(),
              control -> repair.repair(damaged, task::pass));
      boolean unusedToo = tried.remove(damaged);
      if (!replaced.isEmpty()) {
        LOG.info("Remote store: replaced {}, from another copy of the segment", replaced);
      }
    } catch (IOException e) {
      LOG.error(
          "Remote store: {} in {} stays damaged: {}",
          damaged.key(),
          damaged.directory(),
          e.getMessage());
    }
    return true;
  }

  /** A scrub or a repair. A part of the directory may hang while the rest answers. */
  private final class Task {
    private final StoreDirectory directory;
    private volatile boolean underWay;
    private volatile CallControl control = CallControl.PATIENT;

    /** The time at which it has come further. */
    private volatile long progressed;

    Task(StoreDirectory directory) {
      this.directory = directory;
    }

    <T> T run(String what, Deadlines.Work<T> work) throws IOException, InterruptedException {
      return directory
          .access()
          .write(
              what,
              left -> checkProgress(what),
              given -> {
                control = given;
                progressed = nanoTime.getAsLong();
                underWay = true;
                try {
                  return work.run(given);
                } finally {
                  underWay = false;
                  hanging.remove(directory);
                }
              });
    }

    private void checkProgress(String what) throws TimeLimitException {
      if (!underWay || nanoTime.getAsLong() - progressed < STALLED.toNanos()) {
        return;
      }
      hanging.add(directory);
      if (!underWay) {
        hanging.remove(directory); // It has just come back.
        return;
      }
      throw new TimeLimitException(
          """
          %s: has come no further for %d minutes, though the directory answers: its disk hangs, or \
          a part of it. It is neither scrubbed nor repaired until that has come back; look at its \
          disk\
          """
              .formatted(what, STALLED.toMinutes()));
    }

    private void pass(int count) throws InterruptedException {
      limit.acquire(count, () -> stopping);
      if (stopping || control.isCancelled()) {
        throw new InterruptedException("nobody waits any more");
      }
      progressed = nanoTime.getAsLong();
    }
  }

  private final class Progress implements Scrubber.Listener {
    private final Task task;

    Progress(Task task) {
      this.task = task;
    }

    @Override
    public void damaged(SegmentKey key, Finding finding) {
      store.damaged(task.directory, key, finding.message());
    }

    @Override
    public void before(int count) throws InterruptedException {
      task.pass(count);
    }

    @Override
    public void checked(SegmentKey key, Path directory, int checkedObjects, long checkedBytes) {
      objects.add(checkedObjects);
      bytes.add(checkedBytes);
    }

    @Override
    public void found(Finding finding) {
      if (finding.kind().damage()) {
        (finding.kind() == Finding.Kind.CORRUPT ? corrupt : missing).increment();
        LOG.error(
            "Scrub of the remote store: {}. If the segment is still in a log directory, or another"
                + " copy of the store has it, restore it from there.",
            finding.message());
      } else {
        LOG.warn("Scrub of the remote store: {}", finding.message());
      }
    }

    @Override
    public void removed(Path orphan) {
      removed.increment();
      LOG.info("Scrub of the remote store: removed {}, left by a process that died", orphan);
    }
  }
}
