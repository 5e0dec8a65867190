package io.strata.kafka.tier.moves;

import io.strata.kafka.memory.calls.PageCache;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.segment.CopyResult;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.durable.DurableNames;
import io.strata.kafka.tier.durable.FillTime;
import io.strata.kafka.tier.durable.ModificationTimes;
import io.strata.kafka.tier.files.LogFileChannels;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.space.LogDiskReserve;
import io.strata.kafka.tier.space.PoolSpace;
import io.strata.kafka.tier.spec.MoveStage;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Gives a segment of a pool a whole, durable copy in its log file. It is read from where it is, and
 * clean from then on.
 *
 * <p>Thread safety: any number of segments at a time; one move of a segment.
 *
 * @param scarcity of the space that appends find in the segment's tier, from 0 to 1
 */
record DestageMove(
    LogFileNames names,
    DurableNames durable,
    ModificationTimes times,
    PoolSpace space,
    LogDiskReserve reserve,
    ToDoubleFunction<TieredSegment> scarcity,
    MoveStage.Hook hook) {

  /** Copies all that is dirty, piece by piece, up to the first piece that is not copied. */
  MoveResult all(TieredSegment segment, MoveControl control)
      throws IOException, InterruptedException {
    long copied = 0;
    while (segment.segment().dirtyBytes() > 0) {
      MoveResult piece = run(segment, control);
      if (piece.outcome() != MoveResult.Outcome.DONE) {
        return piece;
      }
      copied += piece.bytes();
    }
    return MoveResult.done(copied);
  }

  /** Copies a piece of a dirty segment of a pool into its log file. */
  @SuppressWarnings("try") // what is held is only to be released
  MoveResult run(TieredSegment segment, MoveControl control)
      throws IOException, InterruptedException {
    durable.makeDurable(segment);
    long dirty = segment.segment().dirtyBytes();
    try (LogDiskReserve.Claim space =
        reserve.claim(segment.logFile(), dirty, control.pieceBytes())) {
      return copy(segment, control);
    }
  }

  private MoveResult copy(TieredSegment segment, MoveControl control)
      throws IOException, InterruptedException {
    times.refresh(segment);
    FileTime modified = names.with(segment, Files::getLastModifiedTime);
    long shown = segment.shownMillis();
    boolean fills = fills(segment, names.with(segment, Files::size));
    CopyResult copied;
    DestagePace pace;
    try (FileChannel logFile = names.with(segment, LogFileChannels::toWrite);
        PageCache.WriteOut out = names.with(segment, PageCache::writeOut)) {
      pace =
          new DestagePace(
              control, hook, segment.disk(), () -> scarcity.applyAsDouble(segment), out);
      copied = segment.segment().copyToLogFile(logFile, pace, () -> force(segment, logFile));
    } finally {
      names.with(
          segment,
          file -> {
            if (fills) {
              return fill(segment, file, modified);
            }
            // An append meanwhile may have been shown already.
            long now = segment.shownMillis();
            FileTime time = now == shown ? modified : FileTime.fromMillis(now);
            return Files.setLastModifiedTime(file, time);
          });
    }
    Optional<MoveResult> ended = MovePace.ended(copied, segment);
    if (ended.isPresent()) {
      return ended.get();
    }
    if (!DurableNames.survivesReboot(segment)) {
      // A pool that a reboot empties needs no durable names; from now on the log file counts.
      durable.forceEntries(segment);
    }
    MoveResult result = finish(segment, copied);
    pace.ended(copied.bytes());
    return result;
  }

  /**
   * Forces a log file with a copy in it. The copy is made again after a failure; what has spilled
   * is not, and a force that comes later says nothing of it.
   */
  private static void force(TieredSegment segment, FileChannel logFile) throws IOException {
    boolean spilled = segment.segment().spilled();
    try {
      if (spilled) {
        DurableNames.force(segment, () -> Directories.force(logFile));
      } else {
        logFile.force(true);
      }
    } catch (IOException e) {
      if (!spilled && segment.segment().spilled()) {
        segment.forceFailed(e);
      }
      throw e;
    }
  }

  /** Returns whether a copy writes below the end of the log file, whose length does not show it. */
  private static boolean fills(TieredSegment segment, long size) {
    return segment.residence().map(in -> size > in.slot().cleanLength()).orElse(false);
  }

  private static Path fill(TieredSegment segment, Path file, FileTime before) throws IOException {
    FileTime time = FillTime.of(before, Files.getLastModifiedTime(file), Instant.now());
    segment.filled(time.toMillis());
    return Files.setLastModifiedTime(file, time);
  }

  private MoveResult finish(TieredSegment segment, CopyResult copied) throws IOException {
    if (!segment.segment().markClean(copied)) {
      return MoveResult.cancelled("it was changed meanwhile");
    }
    // Read from the pool until it is evicted, and cold after that.
    PageCache.drop(segment.logFile());
    hook.reached(MoveStage.DESTAGE_CLEAN);
    space.becameClean(segment);
    return MoveResult.done(copied.bytes());
  }
}
