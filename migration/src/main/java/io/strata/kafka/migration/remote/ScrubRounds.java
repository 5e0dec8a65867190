package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.ByteRateLimiter;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.RemoteStats.ScrubMeter;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.WorkProgress;
import io.strata.kafka.migration.remote.store.keep.CopyRepair;
import io.strata.kafka.migration.remote.store.keep.Scrubber;
import io.strata.kafka.migration.remote.store.keep.Scrubber.Finding;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the whole store, byte by byte, in the background.
 *
 * <p>Thread safety: {@link #due} and {@link #round} are used by one thread, {@link #repairNext} by
 * another; the rest may be called by any.
 */
final class ScrubRounds {

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  /** A directory that had it right may have been away. */
  private static final Duration AGAIN = Duration.ofHours(1);

  /** A scrub or a repair that makes no progress for so long hangs. */
  private static final Duration STALLED = Duration.ofMinutes(10);

  /** Bytes per second: what a disk reads beside other work. */
  private static final long LEAST_RATE = 50_000_000;

  private final SegmentStore store;
  private final InstantSource clock;
  private final ByteRateLimiter limit;
  private final ScrubMeter meter = new ScrubMeter();
  private final Map<StoreDirectory, Integer> left = new ConcurrentHashMap<>();
  private final CopyRepair repair;

  /** The copies that could not be repaired within the last hour. */
  private final Set<CopyRepair.Damaged> tried = ConcurrentHashMap.newKeySet();

  /** When each directory counts as scrubbed, as this broker knows; of the thread of the scrub. */
  private final Map<StoreDirectory, Long> own = new HashMap<>();

  /** Scrubs and repairs that hang: nothing is begun in their directories until they are back. */
  private final Map<WorkProgress, StoreDirectory> hanging = new ConcurrentHashMap<>();

  private final LongSupplier nanoTime;

  /** Since when copies are in {@link #tried}; of the thread of the repairs. */
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

  /** Counts orphans that were removed in passing. */
  void removed(int orphans) {
    meter.orphansRemoved().add(orphans);
  }

  ScrubMeter meter() {
    return meter;
  }

  /** So many orphans of a directory cannot be removed now. */
  void left(StoreDirectory directory, int orphans) {
    Integer before = left.put(directory, orphans);
    meter.orphansLeft().add(orphans - (before == null ? 0 : before));
  }

  private long damaged() {
    return meter.corruptObjects().sum() + meter.missingObjects().sum();
  }

  /**
   * The directories that were not scrubbed within an interval, by this broker or another. A
   * directory that does not answer, or in which a scrub hangs, is not among them.
   */
  List<StoreDirectory> due(Duration interval) throws InterruptedException {
    List<StoreDirectory> due = new ArrayList<>();
    if (interval.isZero()) {
      return due;
    }
    for (StoreDirectory directory : store.directories()) {
      try {
        if (!hangsIn(directory) && isDue(directory, interval)) {
          due.add(directory);
        }
      } catch (IOException e) {
        // A visit says what is wrong with it.
      }
    }
    return due;
  }

  private boolean isDue(StoreDirectory directory, Duration interval)
      throws IOException, InterruptedException {
    long noted =
        directory.brief(
            "reading when " + directory + " was scrubbed", control -> lastScrub(directory));
    long now = clock.millis();
    long known = own.getOrDefault(directory, 0L);
    // The clock was ahead, and is no longer: what is noted in the directory counts.
    return now - Math.max(noted, known > now ? 0 : known) >= interval.toMillis();
  }

  /** Returns when any broker scrubbed a directory last; if none did, when that was first asked. */
  private long lastScrub(StoreDirectory directory) throws IOException {
    directory.checkAvailable();
    Path file = lastScrubFile(directory);
    if (!FileStatus.isThere(file)) {
      Disk.write(file, ByteBuffer.allocate(0));
      Disk.force(file);
      return dated(file);
    }
    long found = Files.getLastModifiedTime(file).toMillis();
    // A clock was ahead: no scrub would be due until then.
    return found > clock.millis() ? dated(file) : found;
  }

  private static Path lastScrubFile(StoreDirectory directory) {
    return directory.path().resolve(StoreNames.LOCKS).resolve("last-scrub");
  }

  /** Dates a file by this broker's clock. */
  private long dated(Path file) throws IOException {
    FileTime now = FileTime.fromMillis(clock.millis());
    return Files.getLastModifiedTime(Files.setLastModifiedTime(file, now)).toMillis();
  }

  /** Notes in a directory that it was scrubbed, if it can be written to. */
  private void scrubbed(StoreDirectory directory) throws InterruptedException {
    try {
      directory.brief(
          "noting that " + directory + " was scrubbed",
          control -> {
            directory.checkAvailable();
            return dated(lastScrubFile(directory));
          });
    } catch (IOException e) {
      // A visit says what is wrong with it.
    }
  }

  /** Checks directories. Each is noted when it has been read: a restart begins with the others. */
  void round(List<StoreDirectory> due, Duration orphanAge, Duration interval)
      throws InterruptedException {
    // Twice what the store's bytes take within the interval.
    long used = store.directories().stream().mapToLong(store.known::usedBytes).sum();
    limit.setRate(Math.max(LEAST_RATE, 2 * used / Math.max(1, interval.toSeconds())));
    long damagedBefore = damaged();
    boolean all = true;
    LOG.info("Scrub of the remote store {} begins: {}", store.storeId(), due);
    for (StoreDirectory directory : due) {
      try {
        WorkProgress progress = directory.progress(STALLED, ended -> {});
        boolean isRead =
            run(
                directory,
                progress,
                "scrubbing " + directory,
                control ->
                    Scrubber.scrub(
                        directory.path(),
                        Scrubber.Options.all(Scrubber.Depth.READ, true, orphanAge),
                        clock,
                        store.publishing.owner(),
                        listener(directory, progress)));
        if (isRead) {
          own.put(directory, clock.millis());
          scrubbed(directory);
        } else {
          all = false;
          LOG.warn("Scrub of {} has not read all, and is made again within an hour", directory);
          again(directory, interval);
        }
      } catch (IOException e) {
        all = false;
        LOG.warn(
            "Scrub of the remote store: {} is left out, and tried again within an hour: {}",
            directory,
            e.getMessage());
        again(directory, interval);
      }
    }
    if (tried.containsAll(repair.known())) {
      tried.clear(); // Otherwise the others first.
    }
    if (all) {
      meter.lastEndMillis().set(OptionalLong.of(clock.millis()));
    }
    meter.rounds().increment();
    LOG.info(
        "Scrub of the remote store {} ended: {} damaged or missing objects",
        store.storeId(),
        damaged() - damagedBefore);
  }

  /** Makes a directory due again before long. */
  private void again(StoreDirectory directory, Duration interval) {
    long wait = Math.min(AGAIN.toMillis(), interval.toMillis());
    own.put(directory, clock.millis() - interval.toMillis() + wait);
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
            .filter(copy -> !tried.contains(copy) && !hangsIn(copy.directory()))
            .findFirst();
    if (next.isEmpty()) {
      return false;
    }
    CopyRepair.Damaged damaged = next.get();
    boolean unused = tried.add(damaged);
    try {
      WorkProgress progress = damaged.directory().progress(STALLED, ended -> {});
      List<Path> replaced =
          run(
              damaged.directory(),
              progress,
              "repairing " + damaged.key() + " in " + damaged.directory(),
              control -> repair.repair(damaged, count -> pass(progress, count)));
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

  private <T> T run(
      StoreDirectory directory, WorkProgress progress, String what, Deadlines.Work<T> work)
      throws IOException, InterruptedException {
    try {
      return progress.run(what, work);
    } catch (TimeLimitException e) {
      hanging.put(progress, directory);
      throw e;
    }
  }

  private boolean hangsIn(StoreDirectory directory) {
    boolean unused = hanging.keySet().removeIf(work -> !work.isUnderWay());
    return hanging.containsValue(directory);
  }

  private void pass(WorkProgress progress, int count) throws InterruptedException {
    progress.waitFor(
        () -> {
          limit.acquire(count, () -> stopping);
          return true;
        });
    if (stopping || progress.isCancelled()) {
      throw new InterruptedException("the caller no longer waits");
    }
  }

  private Scrubber.Listener listener(StoreDirectory directory, WorkProgress progress) {
    return new Scrubber.Listener() {
      @Override
      public void damaged(SegmentKey key, Finding finding) {
        store.lookup.damaged(directory, key, finding.message());
      }

      @Override
      public void before(int count) throws InterruptedException {
        pass(progress, count);
      }

      @Override
      public void checked(SegmentKey key, Path path, int checkedObjects, long checkedBytes) {
        meter.objects().add(checkedObjects);
        meter.bytes().add(checkedBytes);
      }

      @Override
      public void found(Finding finding) {
        if (finding.kind().damage()) {
          (finding.kind() == Finding.Kind.CORRUPT ? meter.corruptObjects() : meter.missingObjects())
              .increment();
          LOG.error(
              "Scrub of the remote store: {}. If the segment is still in a log directory, or"
                  + " another copy of the store has it, restore it from there.",
              finding.message());
        } else {
          LOG.warn("Scrub of the remote store: {}", finding.message());
        }
      }

      @Override
      public void removed(Path orphan) {
        meter.orphansRemoved().increment();
        LOG.info("Scrub of the remote store: removed {}, left by a process that died", orphan);
      }
    };
  }
}
