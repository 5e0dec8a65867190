package io.strata.kafka.tier;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.SegmentNames;
import io.strata.kafka.tier.durable.DurableNames;
import io.strata.kafka.tier.durable.SlotRelease;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import java.io.IOException;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Renames files and directories of segments: what the tier knows of them follows.
 *
 * <p>Thread safety: all methods may be called by any thread. A file's names are held by the caller
 * ({@link LogFileNames}), a directory's are held here.
 *
 * @param forcesAppends whether what is appended in the log file is durable when it is acknowledged
 */
record Renames(
    LogFileNames names,
    SegmentRegistry registry,
    SegmentFinder segments,
    DurableNames durable,
    SlotRelease release,
    BooleanSupplier forcesAppends) {

  /**
   * Renames a directory.
   *
   * @return false, and nothing done, if no known segment is in it
   */
  @SuppressWarnings("try") // what is held is only to be released
  boolean directory(Path source, Path target, CopyOption... options) throws IOException {
    // First without the lock, which keeps other threads from the log directory's segments: most of
    // it.
    makeDurable(registry.in(source), source, target);
    try (LogFileNames.Held held = names.lockDirectories(source, target)) {
      List<TieredSegment> inside = registry.in(source);
      if (inside.isEmpty()) {
        return false;
      }
      makeDurable(inside, source, target);
      Files.move(source, target, options);
      Path real = target.toRealPath();
      for (TieredSegment segment : inside) {
        renamed(segment, real.resolve(source.relativize(segment.logFile())));
      }
      if (SegmentNames.isReplica(target, SegmentName.Replica.DELETED)) {
        abandon(inside);
      }
      return true;
    }
  }

  /** Makes durable what has to be before the directory gets another name. */
  private void makeDurable(List<TieredSegment> inside, Path source, Path target)
      throws IOException {
    // The slots keep the old path: from then on only the log files' tags lead to them.
    for (TieredSegment segment : inside) {
      durable.makeDurableIfThere(segment);
    }
    if (!inside.isEmpty()
        && forcesAppends.getAsBoolean()
        && SegmentNames.isReplica(source, SegmentName.Replica.FUTURE)
        && !SegmentNames.isReplica(target, SegmentName.Replica.FUTURE)) {
      // It takes the place of a replica that is about to be deleted. Kafka forces the rename.
      forceLogFiles(inside);
      durable.forceDirectory(source);
    }
  }

  /**
   * Notes that nothing needs the segments: Kafka deletes the directory a minute later, and until
   * then its log directory may be taken out of {@code log.dirs}. Kafka waits for this, so that all
   * share one force of each pool.
   */
  private static void abandon(List<TieredSegment> segments) {
    Map<Pool, List<Slot>> abandoned = new HashMap<>();
    try {
      for (TieredSegment segment : segments) {
        Optional<Residence> in = segment.residence();
        if (in.isPresent()) {
          segment.segment().orphan();
          abandoned
              .computeIfAbsent(in.get().pool(), pool -> new ArrayList<>())
              .add(in.get().slot());
        }
      }
      for (Map.Entry<Pool, List<Slot>> each : abandoned.entrySet()) {
        each.getKey().forceSlots(each.getValue());
      }
    } catch (IOException e) {
      // The directory has been renamed. Without the flag a start insists on the log directory.
      return;
    }
  }

  /** The bytes that were written to the log file unforced, if they were not acknowledged. */
  private static void forceLogFiles(List<TieredSegment> segments) throws IOException {
    for (TieredSegment segment : segments) {
      if (segment.isLive() && (!segment.inPool() || segment.segment().spilled())) {
        // Retention may be deleting it.
        Directories.forceIfThere(segment.logFile());
      }
    }
  }

  /**
   * Renames a file.
   *
   * @return false, and nothing done, if neither name is that of a known segment
   */
  boolean file(Path source, Path target, CopyOption... options) throws IOException {
    Optional<TieredSegment> moved = segments.findHot(source);
    // A symbolic link is replaced itself: the segment that it leads to stays.
    Optional<TieredSegment> replaced =
        FileStatus.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)
            ? segments.findHot(target)
            : Optional.empty();
    if (moved.isEmpty() && replaced.isEmpty()) {
      return moveInLogDirectory(source, target, options);
    }
    if (moved.isPresent() && !Arrays.asList(options).contains(StandardCopyOption.ATOMIC_MOVE)) {
      throw new IllegalArgumentException(
          source + ": a hot segment is renamed, or copied; it is not moved any other way");
    }
    if (replaced.isPresent() && Files.isSameFile(source, target)) {
      return true;
    }
    Optional<TieredSegment> inLogFile =
        moved.isPresent() ? Optional.empty() : segments.findInLogFile(source);
    // It may have come here past the provider, by java.io.File.
    moved.ifPresent(segment -> registry.moved(segment, source));
    replaced.ifPresent(segment -> registry.moved(segment, target));
    List<TieredSegment> both = new ArrayList<>();
    moved.ifPresent(both::add);
    replaced.ifPresent(both::add);
    for (TieredSegment segment : both) {
      durable.makeDurable(segment);
    }
    Files.move(source, target, options);
    if (replaced.isPresent()) {
      durable.forceDirectory(Directories.of(target));
      // Its log file is gone with the rename, and its slot says that the log file was durable: a
      // crash before the next line also frees it.
      replaced.get().segment().markDeleting();
      release.freeAfterUnlink(replaced.get(), Directories.of(target));
    }
    moved.or(() -> inLogFile).ifPresent(segment -> renamed(segment, target));
    return true;
  }

  private boolean moveInLogDirectory(Path source, Path target, CopyOption... options)
      throws IOException {
    Optional<TieredSegment> moved = segments.findInLogFile(source);
    Optional<TieredSegment> replaced = segments.findInLogFile(target);
    if (moved.isEmpty() && replaced.isEmpty()) {
      return false;
    }
    if (replaced.isPresent() && Files.isSameFile(source, target)) {
      return true;
    }
    Files.move(source, target, options);
    if (replaced.isPresent()) {
      replaced.get().segment().markDeleting();
      release.freeAfterUnlink(replaced.get(), Directories.of(target));
    }
    moved.ifPresent(segment -> renamed(segment, target));
    return true;
  }

  private void renamed(TieredSegment segment, Path target) {
    registry.moved(segment, target);
    if (!segment.isCurrent()) {
      // About to be deleted, most likely.
      segment.segment().cancelMoves();
    }
  }
}
