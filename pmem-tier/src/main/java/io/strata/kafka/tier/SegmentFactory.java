package io.strata.kafka.tier;

import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.SegmentSettings;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.durable.DurableNames;
import io.strata.kafka.tier.durable.ModificationTimes;
import io.strata.kafka.tier.durable.SlotRelease;
import io.strata.kafka.tier.durable.UnsyncedRenames;
import io.strata.kafka.tier.durable.WholeLogFiles;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.LogDiskPace;
import io.strata.kafka.tier.spec.TierCounts;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes the objects that stand for segments.
 *
 * <p>Thread safety: all methods may be called by any thread.
 *
 * @param settings of segments in a pool
 * @param disks gives the disk that a file is on
 */
record SegmentFactory(
    SegmentSettings settings,
    SegmentEvents counters,
    TierEvents events,
    TierCounts counts,
    SegmentRegistry registry,
    ModificationTimes times,
    UnsyncedRenames unsynced,
    DurableNames durable,
    SlotRelease release,
    WholeLogFiles wholes,
    Function<Path, LogDiskPace> disks) {

  /** A segment whose slot is tied to {@code logFile}, which is there. */
  TieredSegment inPool(Residence residence, Path logFile) throws IOException {
    Notice notice = new Notice();
    long modified = Files.getLastModifiedTime(logFile).toMillis();
    long changed = Math.max(modified, residence.slot().createdAtMillis());
    long size = Files.size(logFile);
    Segment segment = new Segment(residence, size, changed, settings, notice);
    TieredSegment tiered = named(notice, segment, logFile, false);
    OptionalLong whole = SegmentTag.wholeLength(logFile);
    tiered.notedWhole(whole.isPresent());
    if (whole.equals(OptionalLong.of(size))) {
      segment.logFileIsForced();
    }
    return tiered;
  }

  /**
   * A segment all of whose bytes are at {@code logFile}, which is there.
   *
   * @param found whether it was there before it was opened
   */
  TieredSegment inLogFile(Path logFile, boolean found) throws IOException {
    Notice notice = new Notice();
    long modified = Files.getLastModifiedTime(logFile).toMillis();
    // The bytes that compaction writes, and those of a replica that is being moved, are
    // acknowledged to no client.
    SegmentSettings byName =
        new SegmentSettings(
            () -> forcesAppends() && notice.isCurrent(), settings.clock(), settings.spaceMaker());
    Segment segment =
        Segment.inLogFile(logFile.toString(), Files.size(logFile), modified, byName, notice);
    return named(notice, segment, logFile, found);
  }

  private boolean forcesAppends() {
    return settings.forcesAppends().getAsBoolean();
  }

  private TieredSegment named(Notice notice, Segment segment, Path logFile, boolean found)
      throws IOException {
    TieredSegment tiered =
        new TieredSegment(
            registry.nextId(),
            segment,
            logFile,
            LogFileNames.keyOf(logFile),
            found,
            registry,
            disks);
    notice.segment = tiered;
    return tiered;
  }

  /** Passes what happens to one segment on to those who count and to the tier. */
  private final class Notice implements SegmentEvents {

    /** Set before the segment is used. */
    private volatile @Nullable TieredSegment segment;

    /** Returns whether it is, by its names, a segment of the replica that the broker serves. */
    boolean isCurrent() {
      TieredSegment named = segment;
      return named != null && named.isCurrent();
    }

    @Override
    public void appended(long bytes, long nanos, long ended) {
      counters.appended(bytes, nanos, ended);
      TieredSegment named = segment;
      if (named != null) {
        named.disk().appended(bytes, nanos, ended, named.segment().spilled());
      }
    }

    @Override
    public void read(long bytes, long nanos) {
      counters.read(bytes, nanos);
      TieredSegment named = segment;
      if (named != null) {
        named.changed();
        counts.read(named.residence(), bytes);
      }
    }

    @Override
    public void readInLogFile(long bytes) {
      counters.readInLogFile(bytes);
      TieredSegment named = segment;
      if (named != null && named.inPool()) {
        counts.readTailInLogFile(named.residence(), bytes);
      }
    }

    @Override
    public void spilled(long bytes, boolean first) {
      TieredSegment named = segment;
      if (named == null || !named.inPool()) {
        // It has no bytes in a pool: it is appended to as any file is.
        return;
      }
      counters.spilled(bytes, first);
      // Also when the log file has refused the bytes: then no append follows.
      named.changed();
      counts.spilled(named.residence(), bytes, first);
      if (first) {
        events.spilled(named.logFile(), named.segment().bytesInPool());
      }
    }

    @Override
    public void evicted(long bytes, boolean atOnce) {
      TieredSegment named = segment;
      if (named != null) {
        named.residence().ifPresent(in -> counts.evicted(in, bytes, atOnce));
      }
    }

    @Override
    public void left(Residence in) {
      TieredSegment named = segment;
      if (named != null) {
        named.leftTag(in.tag());
      }
    }

    @Override
    public void appending() throws IOException {
      TieredSegment named = segment;
      if (named != null) {
        named.appendedTo();
        wholes.changing(named);
        if (named.inPool() || forcesAppends()) {
          unsynced.settle(named);
        }
      }
    }

    @Override
    public void forcedInLogFile() throws IOException {
      TieredSegment named = segment;
      if (named != null) {
        durable.forceName(named);
      }
    }

    @Override
    public void truncating() throws IOException {
      TieredSegment named = segment;
      if (named != null) {
        named.appendedTo();
        wholes.truncating(named);
        unsynced.settle(named);
      }
    }

    @Override
    public void changed() {
      TieredSegment named = segment;
      if (named != null) {
        named.changed();
        times.changed(named);
      }
    }

    @Override
    public void idle() {
      TieredSegment named = segment;
      if (named != null) {
        release.forgetIfIdle(named);
      }
    }

    @Override
    public void releaseFailed(Segment released, long bytes, IOException cause) {
      counters.releaseFailed(released, bytes, cause);
      events.backgroundFailure("give back " + bytes + " bytes of " + released.name(), cause);
    }
  }
}
