package io.strata.kafka.tier.durable;

import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.files.LogFileChannels;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.offline.AcceptedLoss;
import io.strata.kafka.tier.start.LeftTag;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Has the tags say which log files are whole: those of sealed segments that are clean. It is all
 * that is known of them when the pool is lost ({@link AcceptedLoss}): a compacted segment may end
 * anywhere before the next one begins.
 *
 * <p>A tag says so only after the log file's bytes are durable, and says it no more, durably,
 * before the segment changes. A tag that does not say it costs records only if the pool is lost.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public record WholeLogFiles(LogFileNames names, BackgroundWork work) {

  /**
   * Has the tag say soon what is so.
   *
   * @param whole whether the segment is sealed and clean; asked for later again
   */
  public void settleSoon(TieredSegment segment, BooleanSupplier whole) {
    work.soon(
        segment.logFile(),
        "note in its tag whether it is whole: " + segment.logFile(),
        () -> {
          try {
            settle(segment, whole);
          } catch (NoSuchFileException gone) {
            return; // Its tag is gone with it, or is found by the next start.
          }
        });
  }

  private void settle(TieredSegment segment, BooleanSupplier whole) throws IOException {
    // First: a change that does not see this comes before the question.
    segment.notedWhole(true);
    if (whole.getAsBoolean()) {
      note(segment);
    } else {
      changing(segment);
    }
  }

  private void note(TieredSegment segment) throws IOException {
    boolean done = false;
    try {
      if (segment.segment().spilled()) {
        try (FileChannel logFile = names.with(segment, LogFileChannels::toRead)) {
          DurableNames.force(
              segment, () -> segment.segment().force(() -> Directories.force(logFile)));
        }
        // It may leave its pool from now on.
        segment.changed();
      }
      done =
          names.with(
              segment, file -> segment.segment().whileWhole(size -> note(segment, file, size)));
    } finally {
      if (!done) {
        segment.notedWhole(false);
      }
    }
  }

  /** Writes the tag, while nothing changes the segment. */
  private static boolean note(TieredSegment segment, Path file, long size) throws IOException {
    Optional<SegmentTag> tag = segment.residence().map(Residence::tag);
    if (tag.isEmpty()
        || !tag.equals(SegmentTag.read(file))
        || Files.size(file) != size
        || !segment.notedWhole()) {
      return false;
    }
    tag.get().writeWhole(file, size);
    return true;
  }

  /**
   * Called before a change: withdraws what the tag says, durably. Nearly free if it says nothing.
   * The tag of a slot that the segment has left goes, durably, too: a start would take the changed
   * file for an older copy ({@link LeftTag}).
   */
  public void changing(TieredSegment segment) throws IOException {
    Optional<SegmentTag> left = segment.leftTag();
    if (left.isPresent()) {
      removeLeft(segment, left.get());
    }
    if (segment.notedWhole() && segment.inPool()) {
      try {
        withdraw(segment);
      } catch (NoSuchFileException gone) {
        // Deleted, with its tag.
        segment.notedWhole(false);
      }
    }
  }

  /**
   * Called before a truncation: as {@link #changing}. Forces a log file that this process has found
   * without a slot, too: a killed broker or drain may have removed its tag, which a power failure
   * would bring back onto the shorter file.
   */
  public void truncating(TieredSegment segment) throws IOException {
    changing(segment);
    if (segment.found() && !segment.inPool()) {
      try (FileChannel logFile = names.with(segment, LogFileChannels::toRead)) {
        DurableNames.force(segment, () -> Directories.force(logFile));
      } catch (NoSuchFileException gone) {
        return; // Deleted, with its tag.
      }
    }
  }

  private void removeLeft(TieredSegment segment, SegmentTag left) throws IOException {
    try (FileChannel logFile = names.with(segment, file -> without(left, file))) {
      DurableNames.force(segment, () -> Directories.force(logFile));
    } catch (NoSuchFileException gone) {
      // Deleted, with its tag.
    }
    segment.forgetLeft(left);
  }

  private static FileChannel without(SegmentTag left, Path file) throws IOException {
    if (SegmentTag.read(file).equals(Optional.of(left))) {
      boolean unused = SegmentTag.remove(file);
    }
    return LogFileChannels.toRead(file);
  }

  private void withdraw(TieredSegment segment) throws IOException {
    boolean unused =
        names.with(
            segment,
            file -> {
              boolean noted = SegmentTag.wholeLength(file).isPresent();
              if (noted) {
                SegmentTag.read(file).orElseThrow().write(file);
                DurableNames.force(segment, () -> Directories.force(file));
              }
              segment.notedWhole(false);
              return noted;
            });
  }
}
