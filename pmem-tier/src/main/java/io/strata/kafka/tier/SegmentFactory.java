package io.strata.kafka.tier;

import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.RoomMaker;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.SegmentSettings;
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
  private final RoomMaker roomMaker;
  private final SegmentSettings settings;
  private final SegmentEvents counters;
  private final TierEvents events;
  private final Traffic traffic;
  private final SegmentNotice.Listener listener;
  private final SegmentChanges changes;
  private final LogDisks disks;

  SegmentFactory(
      BooleanSupplier forceSpills,
      RoomMaker roomMaker,
      SegmentEvents counters,
      TierEvents events,
      Traffic traffic,
      SegmentNotice.Listener listener,
      SegmentChanges changes,
      LogDisks disks) {
    this.forceSpills = forceSpills;
    this.roomMaker = roomMaker;
    this.settings = new SegmentSettings(forceSpills, InstantSource.system(), roomMaker);
    this.counters = counters;
    this.events = events;
    this.traffic = traffic;
    this.listener = listener;
    this.changes = changes;
    this.disks = disks;
  }

  /** A segment whose slot is tied to {@code home}, which is there. */
  TieredSegment inPool(Residence residence, Path home) throws IOException {
    SegmentNotice notice = notice();
    long modified = Files.getLastModifiedTime(home).toMillis();
    long changed = Math.max(modified, residence.slot().createdAtMillis());
    Segment segment = new Segment(residence, Files.size(home), changed, settings, notice, notice);
    return named(notice, segment, home, false);
  }

  /**
   * A segment all of whose bytes are at {@code home}, which is there.
   *
   * @param found whether it was there before it was opened
   */
  TieredSegment atHome(Path home, boolean found) throws IOException {
    SegmentNotice notice = notice();
    long modified = Files.getLastModifiedTime(home).toMillis();
    // What compaction writes, and a replica on its way, are acknowledged to nobody.
    SegmentSettings byName =
        new SegmentSettings(
            () -> forceSpills.getAsBoolean() && notice.isCurrent(),
            InstantSource.system(),
            roomMaker);
    Segment segment =
        Segment.atHome(home.toString(), Files.size(home), modified, byName, notice, notice);
    return named(notice, segment, home, found);
  }

  private SegmentNotice notice() {
    return new SegmentNotice(counters, events, traffic, listener);
  }

  private TieredSegment named(SegmentNotice notice, Segment segment, Path home, boolean found)
      throws IOException {
    TieredSegment tiered =
        new TieredSegment(
            ids.incrementAndGet(), segment, home, HomeNames.keyOf(home), found, changes, disks);
    notice.of(tiered);
    return tiered;
  }
}
