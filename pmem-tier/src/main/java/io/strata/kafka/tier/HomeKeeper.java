package io.strata.kafka.tier;

import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * What homes need done off the append path: their directory entries made durable, their
 * modification times brought up to date with the appends, bytes forced in pools that need it, and
 * the slots of deleted segments freed once the deletion itself is durable.
 *
 * <p>Thread safety: all methods may be called by any thread. The background work is done by {@link
 * BackgroundThreads}; {@link #makeDurable} may also be called directly, and both may meet on a
 * segment, whose slot's flag is then set twice.
 */
final class HomeKeeper implements AutoCloseable {

  private static final long RETRY_SECONDS = 5;
  private static final int ATTEMPTS = 10;

  /** How long Linux, too, lets written bytes wait (vm.dirty_expire_centisecs). */
  private static final long FORCE_SECONDS = 30;

  private final SegmentRegistry registry;
  private final HomeNames names;
  private final TierCounts counts;
  private final BackgroundThreads threads;

  /**
   * Over these segments.
   *
   * @param threads do the background work; shut down by {@link #close}
   */
  HomeKeeper(
      SegmentRegistry registry, HomeNames names, TierCounts counts, BackgroundThreads threads) {
    this.registry = registry;
    this.names = names;
    this.counts = counts;
    this.threads = threads;
  }

  /** One daemon thread. */
  static ScheduledExecutorService thread() {
    return Executors.newSingleThreadScheduledExecutor(
        work -> {
          Thread thread = new Thread(work, "strata-home-keeper");
          thread.setDaemon(true);
          return thread;
        });
  }

  /**
   * Begins to refresh modification times, every {@code millis} milliseconds, and to force what has
   * been in the pools for a while.
   */
  @SuppressWarnings("FutureReturnValueIgnored") // they report their failures themselves
  void start(long millis) {
    for (BackgroundThreads.Lane lane : threads.all()) {
      lane.executor()
          .scheduleWithFixedDelay(
              unfailing("refresh modification times", () -> refreshModificationTimes(lane)),
              millis,
              millis,
              TimeUnit.MILLISECONDS);
    }
    threads
        .pools()
        .executor()
        .scheduleWithFixedDelay(
            unfailing("force the pools", this::forcePools),
            FORCE_SECONDS,
            FORCE_SECONDS,
            TimeUnit.SECONDS);
  }

  /** Has something done every {@code millis} milliseconds, on the pools' thread. */
  void every(long millis, Runnable work) {
    every(millis, threads.pools(), work);
  }

  /** As {@link #every(long, Runnable)}, on a thread of choice. */
  @SuppressWarnings("FutureReturnValueIgnored")
  void every(long millis, BackgroundThreads.Lane lane, Runnable work) {
    lane.executor()
        .scheduleWithFixedDelay(
            unfailing("do work in the background", work), millis, millis, TimeUnit.MILLISECONDS);
  }

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
        tell(what, e);
      }
    };
  }

  private void tell(String what, Throwable cause) {
    try {
      counts.failed(what, cause instanceof Exception e ? e : new ExecutionException(cause));
    } catch (RuntimeException | Error nobodyToTell) {
      // The next time, then.
      return;
    }
  }

  /**
   * Forces the bytes in pools that keep only what was forced when the power goes. Kafka forces a
   * segment when it is rolled, and relies upon the kernel to write the rest back within seconds;
   * that a pool's bytes have been written back is not known until they are forced.
   */
  void forcePools() {
    for (TieredSegment segment : registry.all()) {
      Optional<Residence> in = segment.residence();
      if (in.isPresent() && !in.get().slot().isForced()) {
        try {
          // From where it was forced last.
          in.get().slot().force(Long.MAX_VALUE, Long.MAX_VALUE);
        } catch (IOException | RuntimeException e) {
          // Its slot may just have been freed, too: the others' turn comes all the same.
          counts.failed("force the bytes in the pool of " + segment.home(), e);
        }
      }
    }
  }

  /** Has something done soon, once, to a log directory. */
  void soon(Path logDirectory, String what, Work work) {
    execute(
        threads.of(logDirectory),
        () -> {
          try {
            work.run();
          } catch (IOException | RuntimeException | Error e) {
            tell(what + " in " + logDirectory, e);
          }
        });
  }

  /**
   * Has renames made durable soon, in the background: what is appended next should not wait for it.
   *
   * @param directories in which something has been renamed
   */
  void settleSoon(UnsyncedRenames renames, List<Path> directories) {
    for (Path directory : directories) {
      BackgroundThreads.Lane lane = threads.of(directory);
      if (lane.renamedIn().add(directory)) {
        execute(
            lane,
            () -> {
              lane.renamedIn().remove(directory);
              try {
                renames.settleDirectory(directory);
              } catch (IOException | RuntimeException | Error e) {
                tell("make the renames in " + directory + " durable", e);
              }
            });
      }
    }
  }

  /** Has the segment's home made durable soon; all that wait for one disk together. */
  void makeDurableLater(TieredSegment segment) {
    BackgroundThreads.Lane lane = threads.of(segment.home());
    lane.created().add(segment);
    execute(lane, () -> makeNewFilesDurable(lane));
  }

  /** The files, then each directory that leads to one of them once, then the flags. */
  private void makeNewFilesDurable(BackgroundThreads.Lane lane) {
    List<TieredSegment> batch = new ArrayList<>();
    for (TieredSegment next = lane.created().poll(); next != null; next = lane.created().poll()) {
      batch.add(next);
    }
    if (batch.isEmpty()) {
      return;
    }
    try {
      Map<TieredSegment, Path> forced = new LinkedHashMap<>();
      for (TieredSegment segment : batch) {
        Path partition = Directories.of(segment.home());
        if (forceNewFile(segment)) {
          forced.put(segment, partition);
        }
      }
      forcePartitions(forced);
      for (TieredSegment segment : forced.keySet()) {
        segment.segment().set(SlotFlag.HOME_DURABLE);
      }
    } catch (IOException | RuntimeException | Error e) {
      // One of them, or its disk: each for itself.
      tell("make new log files durable", e);
      batch.forEach(this::makeDurableAgain);
    }
  }

  /**
   * Forces each partition's directory once, and each log directory.
   *
   * @param files with the directory of each; those whose directory is gone are taken out
   */
  private static void forcePartitions(Map<TieredSegment, Path> files) throws IOException {
    Map<Path, Boolean> partitions = new LinkedHashMap<>();
    Set<Path> logDirectories = new LinkedHashSet<>();
    for (Map.Entry<TieredSegment, Path> each : files.entrySet()) {
      Path partition = each.getValue();
      if (survivesReboot(each.getKey()) && !partitions.containsKey(partition)) {
        partitions.put(partition, Directories.forceIfThere(partition));
        logDirectories.add(Directories.of(partition));
      }
    }
    for (Path logDirectory : logDirectories) {
      Directories.force(logDirectory);
    }
    // Who has renamed or deleted it has seen to its files.
    files.values().removeIf(partition -> !partitions.getOrDefault(partition, true));
  }

  /**
   * Forces a new log file; returns whether its flag is to be set when what leads to it is durable.
   */
  private boolean forceNewFile(TieredSegment segment) throws IOException {
    Optional<Residence> in = segment.residence();
    if (in.isEmpty() || in.get().slot().has(SlotFlag.HOME_DURABLE)) {
      return false;
    }
    try (LogFile file = LogFile.of(segment, registry)) {
      if (survivesReboot(in.get())) {
        file.force();
      }
      return true;
    } catch (NoSuchFileException goneOrRenamed) {
      return false;
    }
  }

  private void makeDurableAgain(TieredSegment segment) {
    retryingLater(
        "make durable the directory entry of",
        segment,
        ATTEMPTS - 1,
        () -> makeDurableIfThere(segment));
  }

  /** As {@link #makeDurable}, if the segment's file is where it was; recovery knows what to do. */
  void makeDurableIfThere(TieredSegment segment) throws IOException {
    try {
      makeDurable(segment);
    } catch (NoSuchFileException goneOrRenamed) {
      return;
    }
  }

  /**
   * Makes home's directory entry, its tag and its directory's own entry durable, and flags that in
   * the slot, so that recovery takes a missing home for a removed one from then on. Returns at once
   * when the flag is set.
   *
   * @throws NoSuchFileException if home is not where it was; the flag is not set
   * @throws IOException if home cannot be forced; the flag is not set
   */
  void makeDurable(TieredSegment segment) throws IOException {
    Optional<Residence> in = segment.residence();
    if (in.isEmpty() || in.get().slot().has(SlotFlag.HOME_DURABLE)) {
      return;
    }
    // If the path is another file's by now the flag stays unset, so that recovery will believe the
    // slot and not the missing directory entry.
    try (LogFile file = LogFile.of(segment, registry)) {
      if (survivesReboot(in.get())) {
        file.force();
        forceDirectories(segment.home());
      }
    }
    segment.segment().set(SlotFlag.HOME_DURABLE);
  }

  /**
   * Makes the log file's name and its directory's durable, if that has not been done since the file
   * got the name: an acknowledged append must not be in a file that nothing leads to. Of the file
   * the append has forced what counts.
   *
   * @throws IOException if that fails, or if the file is not where it was last seen
   */
  void forceName(TieredSegment segment, UnsyncedRenames directories) throws IOException {
    for (var place = segment.place(); !segment.nameForced(place); place = segment.place()) {
      // Looked for, and not held: a rename in another partition must not wait for this force.
      names.hold(segment).close();
      directories.forceName(place.home());
      segment.nameIsForced(place);
    }
  }

  /** As {@link #forceName}, soon: an append should not wait for it. */
  void forceNameLater(TieredSegment segment, UnsyncedRenames directories) {
    execute(
        threads.of(segment.home()),
        () -> {
          try {
            forceName(segment, directories);
          } catch (NoSuchFileException goneOrRenamed) {
            // The next append, if there is one, sees to it.
            return;
          } catch (IOException | RuntimeException | Error e) {
            tell("force the name of " + segment.home(), e);
          }
        });
  }

  /** Makes a home durable with its attributes, its directory entry, and its directory's own. */
  static void forceEntries(Path home) throws IOException {
    Directories.force(home);
    forceDirectories(home);
  }

  private static void forceDirectories(Path home) throws IOException {
    Path directory = home.getParent();
    if (directory != null) {
      Directories.force(directory);
      Path logDirectory = directory.getParent();
      if (logDirectory != null) {
        Directories.force(logDirectory);
      }
    }
  }

  /**
   * Frees the slot of a segment whose home has been unlinked, when the unlinking is durable: until
   * then a power cut may bring home back, and the slot must still say that it was deleted.
   */
  void freeAfterUnlink(TieredSegment segment, Path directory) {
    if (!survivesReboot(segment)) {
      try {
        segment.segment().free();
        return;
      } catch (IOException e) {
        counts.failed("free the slot of " + segment.home(), e);
      }
    }
    // Opened now: by the time that it is forced the directory may have another name.
    OpenedDirectory unlinkedFrom = OpenedDirectory.of(directory);
    retrying(
        "free the slot of",
        segment,
        ATTEMPTS,
        () -> {
          unlinkedFrom.force();
          segment.segment().free();
        });
  }

  /** Frees a slot that the segment has left, now or soon: the log file names another one. */
  void freeLeft(TieredSegment segment, Residence left) {
    try {
      segment.segment().freeCopy(left);
    } catch (IOException e) {
      counts.failed("free the slot that was left by " + segment.home(), e);
      retryingLater(
          "free the slot that was left by",
          segment,
          ATTEMPTS - 1,
          () -> segment.segment().freeCopy(left));
    }
  }

  /** Removes the tag of the slot that an eviction has freed, soon. */
  void untagLater(TieredSegment segment, Residence left) {
    retrying("remove the tag of", segment, Integer.MAX_VALUE, () -> untag(segment, left));
  }

  /**
   * Removes the tag of the slot that an eviction has freed. How soon matters only where a damaged
   * pool is repaired before.
   */
  void untag(TieredSegment segment, Residence left) throws IOException {
    try {
      boolean unused =
          names.with(
              segment,
              home ->
                  SegmentTag.read(home).equals(Optional.of(left.tag())) && SegmentTag.remove(home));
    } catch (NoSuchFileException gone) {
      // If it was deleted past the provider, its tag went with it. If it was renamed, it is found
      // by its tag, which stays known; the next start removes it.
      return;
    }
    registry.removeTag(left.tag(), segment);
    if (segment.atHome()) {
      registry.removeIfIdle(segment);
    }
  }

  /** Counts and tells of a failure in the background. */
  void failed(String what, Exception cause) {
    counts.failed(what, cause);
  }

  /** Brings the modification time of every home that was appended to up to date. */
  void refreshModificationTimes() {
    for (TieredSegment segment : registry.all()) {
      refreshModificationTime(segment);
    }
  }

  private void refreshModificationTimes(BackgroundThreads.Lane lane) {
    for (TieredSegment segment : registry.all()) {
      if (segment.hasChange() && threads.of(segment.home()).equals(lane)) {
        refreshModificationTime(segment);
      }
    }
  }

  /** Brings home's modification time up to date with the last append. */
  void refreshModificationTime(TieredSegment segment) {
    if (segment.atHome()) {
      // Its appends are home's own.
      return;
    }
    segment
        .takeChange()
        .ifPresent(
            millis -> {
              try {
                Path unused =
                    names.with(
                        segment,
                        file -> Files.setLastModifiedTime(file, FileTime.fromMillis(millis)));
                counts.refreshed();
              } catch (NoSuchFileException gone) {
                // Deleted or renamed meanwhile: the next append, if there is one, tells again.
                return;
              } catch (IOException e) {
                counts.failed("set the modification time of " + segment.home(), e);
              }
            });
  }

  /** Waits for what is under way, refreshes the times once more, and ends the threads. */
  @Override
  public void close() {
    threads.close();
    refreshModificationTimes();
  }

  /** Something that may fail. */
  interface Work {
    void run() throws IOException;
  }

  private void retrying(String what, TieredSegment segment, int attempts, Work work) {
    Runnable task =
        () -> {
          try {
            work.run();
          } catch (IOException | RuntimeException | Error e) {
            tell(what + " " + segment.home(), e);
            if (attempts > 1) {
              retryingLater(what, segment, attempts - 1, work);
            }
          }
        };
    execute(threads.of(segment.home()), task);
  }

  private static void execute(BackgroundThreads.Lane lane, Runnable task) {
    try {
      lane.executor().execute(task);
    } catch (RejectedExecutionException closed) {
      // Closing: what is not done now is done by the next opening.
      return;
    }
  }

  /** As {@link #retrying}, in a while. */
  @SuppressWarnings("FutureReturnValueIgnored")
  private void retryingLater(String what, TieredSegment segment, int attempts, Work work) {
    threads
        .of(segment.home())
        .executor()
        .schedule(() -> retrying(what, segment, attempts, work), RETRY_SECONDS, TimeUnit.SECONDS);
  }

  /** A pool that a power cut empties needs nothing at home to outlive one. */
  static boolean survivesReboot(TieredSegment segment) {
    return segment.residence().map(HomeKeeper::survivesReboot).orElse(false);
  }

  static boolean survivesReboot(Residence in) {
    return in.pool().memory().durability().survivesReboot();
  }
}
