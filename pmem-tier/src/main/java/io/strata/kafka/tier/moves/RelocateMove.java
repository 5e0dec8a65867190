package io.strata.kafka.tier.moves;

import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.CopyResult;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.PoolSet.PoolTier;
import io.strata.kafka.tier.durable.DurableNames;
import io.strata.kafka.tier.durable.SlotRelease;
import io.strata.kafka.tier.files.LogFileChannels;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.space.CopySlots;
import io.strata.kafka.tier.space.PoolSpace;
import io.strata.kafka.tier.spec.FailureText;
import io.strata.kafka.tier.spec.MoveStage;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Moves a segment into another slot: from the log file up, from one tier's pool to another's, up or
 * down, or within a tier if it has spilled and is to be whole again. The log file's tag decides
 * which of two slots the segment is in; whatever it does not name, and is flagged COPY, is freed by
 * recovery.
 *
 * <p>The log file keeps its bytes: as many bytes are clean in the new pool as were in the old one;
 * all of them if the segment had no slot.
 *
 * <p>Thread safety: any number of segments at a time; one move of a segment.
 */
record RelocateMove(
    SegmentRegistry registry,
    LogFileNames names,
    DurableNames durable,
    SlotRelease release,
    PoolSpace space,
    CopySlots slots,
    MoveStage.Hook hook) {

  /**
   * Copies the whole segment into a pool of a tier, and frees the slot that it was in.
   *
   * @param evict whether clean segments of that tier may be evicted for it
   */
  MoveResult into(PoolTier tier, TieredSegment segment, boolean evict, MoveControl control)
      throws IOException, InterruptedException {
    durable.makeDurable(segment);
    Optional<Residence> target = slots.allocate(tier, segment, segment.segment().size(), evict);
    if (target.isEmpty()) {
      return MoveResult.targetFull("no pool of tier " + tier.name() + " has space for it");
    }
    Tie tie = new Tie(segment, target.get());
    try {
      CopyResult copied;
      try (FileChannel logFile = names.with(segment, LogFileChannels::toRead)) {
        if (!DurableNames.survivesReboot(segment)) {
          // A power failure may have taken its name so far; from now on it may not.
          durable.forceEntries(segment);
        }
        copied =
            segment
                .segment()
                .copyInto(tie.to, logFile, new MovePace(control, hook, MoveStage.RELOCATE_COPIED));
        Optional<MoveResult> ended = MovePace.ended(copied, segment);
        if (ended.isPresent()) {
          return ended.get();
        }
        // Little is left to be forced while the name is held.
        DurableNames.force(segment, () -> Directories.force(logFile));
      }
      hook.reached(MoveStage.RELOCATE_COMMITTED);
      registry.addTag(tie.to.tag(), segment);
      boolean done =
          names.with(
              segment,
              logFile -> {
                tie.file = Optional.of(logFile);
                return segment.segment().relocate(copied, tie.to, tie);
              });
      if (!done) {
        return MoveResult.cancelled("it was changed meanwhile");
      }
      tie.from.ifPresent(left -> release.freeLeft(segment, left));
      segment.segment().clear(SlotFlag.COPY);
      hook.reached(MoveStage.RELOCATE_DONE);
      space.becameClean(segment);
      return MoveResult.done(copied.bytes());
    } finally {
      if (!tie.mayHold) {
        registry.removeTag(tie.to.tag(), segment);
        CopySlots.free(tie.to);
      }
    }
  }

  /** Returns whether a reboot takes what is in a pool, and not where it was. */
  static boolean survivesLess(Pool pool, Residence than) {
    return DurableNames.survivesReboot(than) && !pool.memory().durability().survivesReboot();
  }

  /** Has the log file's tag name the new slot instead of the old one. Used by one thread. */
  private final class Tie implements Segment.Link {
    private final TieredSegment segment;
    private final Residence to;

    /** The log file, by a name that stays while it is tied. */
    private Optional<Path> file = Optional.empty();

    /** Where the segment was when it was tied: an append may evict it while it is copied. */
    private Optional<Residence> from = Optional.empty();

    /** Whether the log file may name the new slot. */
    private boolean mayHold;

    Tie(TieredSegment segment, Residence to) {
      this.segment = segment;
      this.to = to;
    }

    @Override
    public void link() throws IOException {
      Path logFile = file.orElseThrow();
      from = segment.residence();
      if (from.isEmpty() && Files.size(logFile) != segment.segment().size()) {
        throw FailureText.at(
            segment.logFile(), "it was written past this broker's channels while it was copied");
      }
      to.slot().setCleanLength(cleanLength(logFile));
      if (from.isPresent() && !from.get().isClean() && survivesLess(to.pool(), from.get())) {
        throw new FileSystemException(
            segment.toString(),
            to.pool().info().path().toString(),
            "it was changed while it was copied into a pool that a reboot empties; it stays");
      }
      mayHold = true;
      if (from.isPresent()) {
        // Nothing is lost with it: recovery frees the one of the two that the log file does not
        // name.
        from.get().slot().set(SlotFlag.COPY);
      }
      segment.notedWhole(false);
      to.tag().write(logFile);
      DurableNames.force(segment, () -> Directories.force(logFile));
      from.ifPresent(left -> registry.removeTag(left.tag(), segment));
      hook.reached(MoveStage.RELOCATE_TAGGED);
    }

    /**
     * Returns how much of the segment the log file has, durably so when this returns if that
     * matters.
     */
    private long cleanLength(Path logFile) throws IOException {
      if (from.isPresent() && !from.get().isClean()) {
        return from.get().slot().cleanLength();
      }
      // Written back, perhaps, and not forced yet.
      DurableNames.force(segment, () -> Directories.force(logFile));
      long size = segment.segment().size();
      return Files.size(logFile) == size ? size : 0;
    }

    @Override
    public void unlink() throws IOException {
      Path logFile = file.orElseThrow();
      if (!mayHold) {
        return;
      }
      if (from.isPresent()) {
        registry.addTag(from.get().tag(), segment);
        from.get().tag().write(logFile);
      } else {
        SegmentTag.remove(logFile);
      }
      Directories.force(logFile);
      if (from.isPresent()) {
        from.get().slot().clear(SlotFlag.COPY);
      }
      mayHold = false;
    }
  }
}
