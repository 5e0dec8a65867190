package io.strata.kafka.tier;

import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.SegmentSettings;
import io.strata.kafka.segment.SpaceMaker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * Makes the objects that stand for segments.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class SegmentFactory {

  private final AtomicLong ids = new AtomicLong();
  private final BooleanSupplier forceSpills;
  private final SpaceMaker spaceMaker;
  private final SegmentSettings settings;
  private final SegmentEvents counters;
  private final TierEvents events;
  private final Traffic traffic;
  private final SegmentNotice.Listener listener;
  private final SegmentChanges changes;
  private final LogDisks disks;

  SegmentFactory(
      BooleanSupplier forceSpills,
      SpaceMaker spaceMaker,
      SegmentEvents counters,
      TierEvents events,
      Traffic traffic,
      SegmentNotice.Listener listener,
      SegmentChanges changes,
      LogDisks disks) {
    this.forceSpills = forceSpills;
    this.spaceMaker = spaceMaker;
    this.settings = new SegmentSettings(forceSpills, InstantSource.system(), spaceMaker);
    this.counters = counters;
    this.events = events;
    this.traffic = traffic;
    this.listener = listener;
    this.changes = changes;
    this.disks = disks;
  }

  /** A segment whose slot is tied to {@code logFile}, which is there. */
  TieredSegment inPool(Residence residence, Path logFile) throws IOException {
    SegmentNotice notice = notice();
    long modified = Files.getLastModifiedTime(logFile).toMillis();
    long changed = Math.max(modified, residence.slot().createdAtMillis());
    Segment segment = new Segment(residence, Files.size(logFile), changed, settings, notice);
    return named(notice, segment, logFile, false);
  }

  /**
   * A segment all of whose bytes are at {@code logFile}, which is there.
   *
   * @param found whether it was there before it was opened
   */
  TieredSegment inLogFile(Path logFile, boolean found) throws IOException {
    SegmentNotice notice = notice();
    long modified = Files.getLastModifiedTime(logFile).toMillis();
    // What compaction writes, and a replica on its way, are acknowledged to nobody.
    SegmentSettings byName =
        new SegmentSettings(
            () -> forceSpills.getAsBoolean() && notice.isCurrent(),
            InstantSource.system(),
            spaceMaker);
    Segment segment =
        Segment.inLogFile(logFile.toString(), Files.size(logFile), modified, byName, notice);
    return named(notice, segment, logFile, found);
  }

  private SegmentNotice notice() {
    return new SegmentNotice(counters, events, traffic, listener);
  }

  private TieredSegment named(SegmentNotice notice, Segment segment, Path logFile, boolean found)
      throws IOException {
    TieredSegment tiered =
        new TieredSegment(
            ids.incrementAndGet(),
            segment,
            logFile,
            LogFileNames.keyOf(logFile),
            found,
            changes,
            disks);
    notice.of(tiered);
    return tiered;
  }
}
