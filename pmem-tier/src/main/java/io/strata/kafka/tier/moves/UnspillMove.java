package io.strata.kafka.tier.moves;

import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.PoolSet.PoolTier;
import io.strata.kafka.tier.durable.DurableNames;
import io.strata.kafka.tier.files.LogFile;
import io.strata.kafka.tier.files.LogFileChannels;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.space.CopySlots;
import io.strata.kafka.tier.space.PoolSpace;
import io.strata.kafka.tier.spec.MoveStage;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Has the appends to an active segment go to a pool again: to its own if it has spilled, to one of
 * a tier if there was no space for it in any. Bytes that were appended to the log file stay there.
 *
 * <p>Thread safety: any number of segments at a time; one move of a segment.
 */
record UnspillMove(
    SegmentRegistry registry,
    LogFileNames names,
    DurableNames durable,
    PoolSpace space,
    CopySlots slots,
    DestageMove destage,
    MoveStage.Hook hook) {

  /**
   * Does it.
   *
   * @param held the segment's log file
   * @param tier gets a segment that has no slot
   */
  MoveResult run(TieredSegment segment, LogFile held, PoolTier tier, MoveControl control)
      throws IOException, InterruptedException {
    if (!segment.inPool() && !enter(segment, held, tier)) {
      return MoveResult.cancelled("no pool of tier " + tier.name() + " has a slot for it");
    }
    Optional<Residence> in = segment.residence();
    if (in.isEmpty() || !space.hasSpaceToGoOn(in.get())) {
      // Its tier has, in another pool.
      return MoveResult.cancelled("its pool has too little space");
    }
    hook.reached(MoveStage.UNSPILL_STARTED);
    durable.makeDurable(segment);
    // Nothing is appended to the pool meanwhile. A piece at a time: the queue has the rest, and
    // appends that press on the disk hold up no thread.
    MoveResult destaged = MoveResult.done(0);
    if (segment.segment().dirtyBytes() > 0) {
      destaged = destage.run(segment, control);
      if (destaged.outcome() != MoveResult.Outcome.DONE || segment.segment().dirtyBytes() > 0) {
        return destaged;
      }
    }
    try (FileChannel logFile = names.with(segment, LogFileChannels::toWrite)) {
      boolean done =
          segment
              .segment()
              .unspill(
                  logFile, () -> DurableNames.force(segment, () -> Directories.force(logFile)));
      if (!done) {
        return MoveResult.cancelled("it was changed meanwhile, or its pool has no space");
      }
    }
    hook.reached(MoveStage.UNSPILL_DONE);
    return destaged;
  }

  private boolean enter(TieredSegment segment, LogFile held, PoolTier tier) throws IOException {
    Optional<Residence> slot =
        slots.allocate(tier, segment, SuperblockLayout.SMALLEST_EXTENT, true);
    if (slot.isEmpty()) {
      return false;
    }
    Tag tag = new Tag(segment, held, slot.get());
    boolean done = false;
    try {
      durable.forceEntries(segment);
      done = segment.segment().enter(slot.get(), tag);
    } finally {
      if (!done && !tag.mayBeThere) {
        CopySlots.free(slot.get());
      }
    }
    if (done) {
      segment.segment().clear(SlotFlag.COPY);
    }
    return done;
  }

  /** The tag of a slot that has no bytes: without it nothing is lost. Used by one thread. */
  private final class Tag implements Segment.Link {
    private final TieredSegment segment;
    private final LogFile held;
    private final Residence to;

    /** Whether the log file may have the tag. */
    private boolean mayBeThere;

    Tag(TieredSegment segment, LogFile held, Residence to) {
      this.segment = segment;
      this.held = held;
      this.to = to;
    }

    @Override
    public void link() throws IOException {
      registry.addTag(to.tag(), segment);
      try (FileChannel logFile = names.with(segment, this::write)) {
        // The name is not held: a rename would wait for all that Kafka has not flushed.
        DurableNames.force(segment, () -> Directories.force(logFile));
      }
      hook.reached(MoveStage.UNSPILL_TAGGED);
    }

    private FileChannel write(Path logFile) throws IOException {
      mayBeThere = true;
      to.tag().write(logFile);
      return LogFileChannels.toRead(logFile);
    }

    @Override
    @SuppressWarnings("try") // what is held is only to be released
    public void unlink() throws IOException {
      // Before the removal: a change from now on makes that durable first.
      segment.leftTag(to.tag());
      // The file itself, which may have been renamed or deleted meanwhile.
      try (LogFileNames.Held name = names.lock(segment.logFile())) {
        boolean unused =
            held.with(
                file ->
                    SegmentTag.read(file).equals(Optional.of(to.tag())) && SegmentTag.remove(file));
      }
      // It may have been truncated when the tag was forced: with the slot free a start would take
      // the two for an older copy.
      DurableNames.force(segment, held::force);
      mayBeThere = false;
      registry.removeTag(to.tag(), segment);
    }
  }
}
