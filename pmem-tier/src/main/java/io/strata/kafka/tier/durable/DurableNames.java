package io.strata.kafka.tier.durable;

import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.files.LogFile;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes durable what leads to a log file: its directory entry, its tag, and its directory's own
 * entry; ahead of need in the background, and directly where something waits for it.
 *
 * <p>Thread safety: all methods may be called by any thread. Two of them may meet on a segment,
 * whose slot's flag is then set twice.
 *
 * @param directories which of them could not be forced
 */
public record DurableNames(
    SegmentRegistry registry,
    LogFileNames names,
    UnsyncedRenames directories,
    PrecedingLogFile preceding,
    BackgroundWork work) {

  /**
   * Has renames made durable soon, in the background: what is appended next should not wait for it.
   *
   * @param renamedIn the directories in which something has been renamed
   */
  public void settleSoon(List<Path> renamedIn) {
    for (Path directory : renamedIn) {
      BackgroundWork.Lane lane = work.of(directory);
      if (lane.renamedIn().add(directory)) {
        work.soon(
            lane,
            "make the renames in %s durable".formatted(directory),
            () -> {
              lane.renamedIn().remove(directory);
              directories.settleDirectory(directory);
            });
      }
    }
  }

  /** Has the segment's log file made durable soon; all that wait for one disk together. */
  public void makeDurableLater(TieredSegment segment) {
    BackgroundWork.Lane lane = work.of(segment.logFile());
    lane.created().add(segment);
    work.soon(lane, "make new log files durable", () -> makeNewFilesDurable(lane));
  }

  /** The files, then each directory that leads to one of them once, then the flags. */
  private void makeNewFilesDurable(BackgroundWork.Lane lane) throws IOException {
    List<TieredSegment> batch = new ArrayList<>();
    for (TieredSegment next = lane.created().poll(); next != null; next = lane.created().poll()) {
      batch.add(next);
    }
    if (batch.isEmpty()) {
      return;
    }
    boolean done = false;
    try {
      Map<TieredSegment, Path> forced = new LinkedHashMap<>();
      for (TieredSegment segment : batch) {
        Path partition = segment.directory();
        if (forceNewFile(segment)) {
          forced.put(segment, partition);
        }
      }
      forcePartitions(forced);
      for (TieredSegment segment : forced.keySet()) {
        segment.segment().set(SlotFlag.NAME_DURABLE);
      }
      done = true;
    } finally {
      if (!done) {
        // One of them, or its disk: each for itself.
        batch.forEach(this::makeDurableAgain);
      }
    }
  }

  /**
   * Forces what leads to the files in each partition once.
   *
   * @param files with the directory of each; those whose directory is gone are taken out
   */
  private void forcePartitions(Map<TieredSegment, Path> files) throws IOException {
    Map<Path, Boolean> partitions = new LinkedHashMap<>();
    for (Map.Entry<TieredSegment, Path> each : files.entrySet()) {
      Path partition = each.getValue();
      if (survivesReboot(each.getKey()) && !partitions.containsKey(partition)) {
        partitions.put(partition, forceNamesIn(partition));
      }
    }
    // The thread that renamed or deleted it has seen to its files.
    files.values().removeIf(partition -> !partitions.getOrDefault(partition, true));
  }

  /** Returns whether there is such a directory. */
  private boolean forceNamesIn(Path partition) throws IOException {
    try {
      directories.forceNamesIn(partition);
      return true;
    } catch (NoSuchFileException goneOrRenamed) {
      return false;
    }
  }

  /**
   * Forces a new log file; returns whether its flag is to be set when what leads to it is durable.
   */
  private boolean forceNewFile(TieredSegment segment) throws IOException {
    Optional<Residence> in = segment.residence();
    if (in.isEmpty() || isSettled(in.get())) {
      return false;
    }
    try (LogFile file = LogFile.of(segment, registry)) {
      if (survivesReboot(in.get())) {
        force(segment, file::force);
      }
      return true;
    } catch (NoSuchFileException goneOrRenamed) {
      return false;
    }
  }

  private void makeDurableAgain(TieredSegment segment) {
    work.retryingLater(
        "make durable the directory entry of",
        segment,
        BackgroundWork.ATTEMPTS - 1,
        () -> {
          try {
            makeDurableIfThere(segment);
          } catch (Directories.ForceFailedException e) {
            // The flag stays unset until the restart.
            work.failed("make durable the directory entry of " + segment.logFile(), e);
          }
        });
  }

  /**
   * Forces a segment's log file, with the tag on it. After one that failed none is tried: its
   * success would prove nothing.
   */
  public static void force(TieredSegment segment, BackgroundWork.Work force) throws IOException {
    Optional<IOException> before = segment.forceFailure();
    if (before.isPresent()) {
      throw new Directories.ForceFailedException(segment.logFile(), before.get());
    }
    try {
      force.run();
    } catch (Directories.ForceFailedException e) {
      segment.forceFailed(e);
      throw e;
    }
  }

  /** As {@link #makeDurable}, if the segment's file is where it was; recovery knows what to do. */
  public void makeDurableIfThere(TieredSegment segment) throws IOException {
    try {
      makeDurable(segment);
    } catch (NoSuchFileException goneOrRenamed) {
      return;
    }
  }

  /**
   * Makes the log file's directory entry, its tag and its directory's own entry durable, and flags
   * that in the slot, so that recovery takes a missing log file for a removed one from then on.
   * Returns at once when the flag is set.
   *
   * @throws NoSuchFileException if the log file is not where it was; the flag is not set
   * @throws Directories.ForceFailedException if it cannot be forced: the flag is not set, and is
   *     not before the restart
   * @throws IOException if it cannot be opened; the flag is not set
   */
  public void makeDurable(TieredSegment segment) throws IOException {
    Optional<Residence> in = segment.residence();
    if (in.isEmpty() || isSettled(in.get())) {
      return;
    }
    // If the path is another file's by now the flag stays unset, so that recovery will believe the
    // slot and not the missing directory entry.
    try (LogFile file = LogFile.of(segment, registry)) {
      if (survivesReboot(in.get())) {
        force(segment, file::force);
        directories.forceNamesIn(segment.directory());
      }
    }
    segment.segment().set(SlotFlag.NAME_DURABLE);
  }

  /**
   * Makes the log file's name and its directory's durable, if that has not been done since the file
   * got the name: an acknowledged append must not be in a file that nothing leads to. The append
   * itself has forced the file's bytes.
   *
   * @throws IOException if that fails, or if the file is not where it was last seen
   */
  public void forceName(TieredSegment segment) throws IOException {
    for (var place = segment.place(); !segment.nameForced(place); place = segment.place()) {
      // Looked for, and not held: a rename in another partition must not wait for this force.
      names.hold(segment).close();
      try {
        directories.forceNamesIn(place.directory());
      } catch (NoSuchFileException renamed) {
        continue;
      }
      segment.nameIsForced(place);
    }
  }

  /** As {@link #forceName}, soon: an append should not wait for it. */
  public void forceNameLater(TieredSegment segment) {
    work.soon(
        segment.logFile(),
        "force the name of " + segment.logFile(),
        () -> {
          try {
            forceName(segment);
          } catch (NoSuchFileException goneOrRenamed) {
            // The next append, if there is one, sees to it.
            return;
          }
        });
  }

  /**
   * Makes a log file durable with its attributes, its directory entry, and its directory's own; and
   * the log file before it, which a pool must not get ahead of.
   */
  public void forceEntries(TieredSegment segment) throws IOException {
    Path logFile = segment.logFile();
    force(segment, () -> Directories.force(logFile));
    directories.forceNamesIn(Directories.of(logFile));
    preceding.force(logFile);
  }

  /** Forces a directory; see {@link UnsyncedRenames#force}. */
  public void forceDirectory(Path directory) throws IOException {
    directories.force(directory);
  }

  /** Returns whether what leads to the log file is durable, or has not to be. */
  private static boolean isSettled(Residence in) {
    return in.slot().has(SlotFlag.NAME_DURABLE);
  }

  /**
   * Returns whether a segment outlives a reboot in its pool: only then must its log file's name be
   * durable before the pool counts.
   */
  public static boolean survivesReboot(TieredSegment segment) {
    return segment.residence().map(DurableNames::survivesReboot).orElse(false);
  }

  public static boolean survivesReboot(Residence in) {
    return in.pool().memory().durability().survivesReboot();
  }
}
