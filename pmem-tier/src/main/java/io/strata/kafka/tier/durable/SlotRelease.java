package io.strata.kafka.tier.durable;

import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Frees the slots of deleted segments, when the deletion is durable, and of relocated ones, and
 * removes the tags that name them. An evicted segment has freed its slot itself: only its tag is
 * left.
 *
 * <p>Thread safety: all methods may be called by any thread.
 *
 * @param directories which of them could not be forced
 */
public record SlotRelease(
    SegmentRegistry registry,
    LogFileNames names,
    UnsyncedRenames directories,
    BackgroundWork work) {

  /**
   * Forgets a segment whose log file has been unlinked, and frees what it has: its extents now, its
   * slot when the unlinking is durable. Until then a power failure may bring the file back, and the
   * slot must still say that it was deleted. If the force fails the slot says so until the restart:
   * a second force that succeeds proves nothing.
   */
  public void freeAfterUnlink(TieredSegment segment, Path directory) {
    registry.remove(segment);
    segment.segment().releaseBytes();
    if (!DurableNames.survivesReboot(segment)) {
      free("free the slot of", segment, segment.segment()::free);
      return;
    }
    // Opened now: by the time that it is forced the directory may have another name.
    Directories.Opened unlinkedFrom = Directories.Opened.of(directory);
    String what = "make durable the deletion of";
    work.retrying(
        what,
        segment,
        BackgroundWork.ATTEMPTS,
        () -> {
          try {
            unlinkedFrom.forceAndClose();
          } catch (Directories.ForceFailedException e) {
            directories.failed(directory, e);
            work.failed(what + " " + segment.logFile(), e);
            return;
          }
          free("free the slot of", segment, segment.segment()::free);
        });
  }

  /** Frees a slot that the segment has left, now or soon: the log file names another one. */
  public void freeLeft(TieredSegment segment, Residence left) {
    free("free the slot that was left by", segment, () -> segment.segment().freeCopy(left));
  }

  private void free(String what, TieredSegment segment, BackgroundWork.Work free) {
    try {
      free.run();
    } catch (IOException e) {
      work.failed(what + " " + segment.logFile(), e);
      work.retryingLater(what, segment, BackgroundWork.ATTEMPTS - 1, free);
    }
  }

  /** As {@link #untagLater}, after a failure. */
  public void untagAgain(TieredSegment segment, Residence left, IOException cause) {
    work.failed("remove the tag of " + segment.logFile(), cause);
    untagLater(segment, left);
  }

  /** Removes the tag of the slot that an eviction has freed, soon. */
  public void untagLater(TieredSegment segment, Residence left) {
    work.retrying("remove the tag of", segment, Integer.MAX_VALUE, () -> untag(segment, left));
  }

  /**
   * Removes the tag of the slot that an eviction has freed. How soon matters only where a damaged
   * pool is repaired before.
   */
  public void untag(TieredSegment segment, Residence left) throws IOException {
    try {
      boolean unused =
          names.with(
              segment,
              logFile ->
                  SegmentTag.read(logFile).equals(Optional.of(left.tag()))
                      && SegmentTag.remove(logFile));
    } catch (NoSuchFileException gone) {
      // If it was deleted past the provider, its tag went with it. If it was renamed, it is found
      // by its tag, which stays known; the next start removes it.
      return;
    }
    registry.removeTag(left.tag(), segment);
    forgetIfIdle(segment);
  }

  /**
   * Forgets a segment that is not found by a tag, when no channel is open on it. It leaves its
   * pool: another object is made of its log file next time.
   */
  public void forgetIfIdle(TieredSegment segment) {
    registry.removeIfIdle(segment);
  }
}
