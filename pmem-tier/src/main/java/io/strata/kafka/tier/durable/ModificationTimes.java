package io.strata.kafka.tier.durable;

import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.TierCounts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;

/**
 * Has the modification times of log files follow the appends to the pools: Kafka asks the file for
 * it.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public record ModificationTimes(
    SegmentRegistry registry, LogFileNames names, TierCounts counts, BackgroundWork work) {

  /** Notes a segment that has changed. Nearly free when that is noted already. */
  public void changed(TieredSegment segment) {
    if (segment.inPool() && segment.timeIsLate()) {
      work.of(segment.logFile()).changed().add(segment);
    }
  }

  /** Brings the modification times of log files in one log directory up to date. */
  public void refresh(BackgroundWork.Lane lane) {
    for (TieredSegment next = lane.changed().poll(); next != null; next = lane.changed().poll()) {
      next.timeIsRefreshed();
      if (work.of(next.logFile()).equals(lane)) {
        refresh(next);
      } else {
        // It has been moved to another log directory.
        changed(next);
      }
    }
  }

  /** Brings the modification time of every log file in one log directory up to date. */
  public void refreshAll(BackgroundWork.Lane lane) {
    for (TieredSegment segment : registry.all()) {
      if (work.of(segment.logFile()).equals(lane)) {
        refresh(segment);
      }
    }
  }

  /** Brings the log file's modification time up to date with the last append. */
  public void refresh(TieredSegment segment) {
    if (!segment.inPool() || segment.shownMillis() == segment.segment().lastChangeMillis()) {
      // In the log file its appends are the file's own.
      return;
    }
    try {
      // Under the file's name, so that no earlier change is set after a later one.
      Path unused =
          names.with(
              segment,
              file -> {
                long millis = segment.segment().lastChangeMillis();
                long shown = Math.max(millis, segment.filledMillis());
                Path set = Files.setLastModifiedTime(file, FileTime.fromMillis(shown));
                segment.shows(millis);
                return set;
              });
      counts.mtimeRefreshes().increment();
    } catch (NoSuchFileException goneOrRenamed) {
      // The next caller, or the next append, retries.
      return;
    } catch (IOException e) {
      counts.failed("set the modification time of " + segment.logFile(), e);
    }
  }
}
