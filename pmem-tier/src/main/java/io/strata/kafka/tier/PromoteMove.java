package io.strata.kafka.tier;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.migration.MoveControl;
import io.strata.kafka.migration.MoveResult;
import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.segment.CopyResult;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Has a segment read from a higher tier, or a spilled one wholly from its own. What it was copied
 * from stays where it has a use: the segment is clean at once.
 *
 * <p>Thread safety: any number of segments at a time; one move of a segment.
 */
final class PromoteMove {

  private final SegmentRegistry registry;
  private final HomeNames names;
  private final PressureRoom room;
  private final CopySlots slots;
  private final MoveStage.Hook hook;

  PromoteMove(
      SegmentRegistry registry,
      HomeNames names,
      PressureRoom room,
      CopySlots slots,
      MoveStage.Hook hook) {
    this.registry = registry;
    this.names = names;
    this.room = room;
    this.slots = slots;
    this.hook = hook;
  }

  /** Copies the whole segment into a pool of a tier above its own. */
  MoveResult into(PoolTier tier, TieredSegment segment, MoveControl control)
      throws IOException, InterruptedException {
    Optional<Residence> target = slots.allocate(tier, segment, false);
    if (target.isEmpty()) {
      return MoveResult.noRoom("no pool of tier " + tier.name() + " has room for it");
    }
    Residence copy = target.get();
    boolean done = false;
    try {
      CopyResult copied;
      try (FileChannel home = names.with(segment, HomeChannels::toRead)) {
        if (segment.atHome()) {
          // Home is the copy below from now on.
          HomeKeeper.forceEntries(segment.home());
        }
        copied =
            segment
                .segment()
                .copyInto(copy, home, new MovePace(control, hook, MoveStage.PROMOTE_COPIED));
      }
      Optional<MoveResult> ended = Copies.ended(copied, segment);
      if (ended.isPresent()) {
        return ended.get();
      }
      copy.slot().set(SlotFlag.CLEAN);
      hook.reached(MoveStage.PROMOTE_COMMITTED);
      registry.addTag(copy.tag(), segment);
      AtomicReference<Optional<Residence>> superseded = new AtomicReference<>(Optional.empty());
      done =
          names.with(
              segment,
              home ->
                  segment
                      .segment()
                      .moveUp(copied, copy, () -> superseded.set(link(segment, copy, home))));
      if (!done) {
        return MoveResult.cancelled("it was changed meanwhile");
      }
      Optional<Residence> useless = requireNonNull(superseded.get());
      if (useless.isPresent()) {
        segment.segment().freeCopy(useless.get());
      }
      segment.segment().clear(SlotFlag.COPY);
      hook.reached(MoveStage.PROMOTE_DONE);
      room.becameClean(segment);
      return MoveResult.done(copied.bytes());
    } finally {
      if (!done) {
        registry.removeTag(copy.tag(), segment);
        Copies.free(copy);
      }
    }
  }

  /**
   * Ties home to the upper copy, and to the one below if that is in a pool. Under the writer lock.
   *
   * @return the copy that is of no use any more: it was copied from, and the one below it has it
   *     all, too. Nobody comes back to it, whatever happens to the upper one from here on
   */
  private Optional<Residence> link(TieredSegment segment, Residence upper, Path home)
      throws IOException {
    // Not what was copied from: an append may have evicted that since.
    Optional<Residence> from = segment.residence();
    boolean belowHasIt = from.isPresent() && from.get().isClean();
    Optional<Residence> before = segment.lower();
    Optional<Residence> lower = belowHasIt ? before : from;
    if (from.isEmpty() && Files.size(home) != segment.segment().size()) {
      throw new FileSystemException(
          segment.toString(),
          null,
          "it was written past this broker's channels while it was copied");
    }
    boolean linked = false;
    try {
      if (from.isPresent()) {
        // Nothing is lost with it from here on: recovery is to drop it unless home names it.
        from.get().slot().set(SlotFlag.COPY);
      }
      if (lower.isPresent()) {
        lower.get().tag().writeBelow(home);
      } else {
        boolean unused = SegmentTag.removeBelow(home);
      }
      upper.tag().write(home);
      Directories.force(home);
      segment.lower(lower);
      from.ifPresent(left -> registry.removeTag(left.tag(), segment));
      linked = true;
      hook.reached(MoveStage.PROMOTE_TAGGED);
    } finally {
      if (!linked) {
        unlink(from, before, home);
      }
    }
    return belowHasIt ? from : Optional.empty();
  }

  /** Ties home to what it was tied to before. */
  private static void unlink(Optional<Residence> from, Optional<Residence> below, Path home)
      throws IOException {
    if (from.isPresent()) {
      from.get().tag().write(home);
      if (below.isPresent()) {
        below.get().tag().writeBelow(home);
      } else {
        boolean unused = SegmentTag.removeBelow(home);
      }
      from.get().slot().clear(SlotFlag.COPY);
    } else {
      SegmentTag.remove(home);
    }
  }

  /** Brings the tail of a spilled segment into its pool. */
  MoveResult mend(TieredSegment segment, Residence in, MoveControl control)
      throws IOException, InterruptedException {
    long missing = segment.segment().size() - in.roomBytes();
    if (!PressureRoom.hasFree(in.pool(), missing)) {
      return MoveResult.noRoom("its pool has no room for its tail");
    }
    CopyResult copied;
    try (FileChannel home = names.with(segment, HomeChannels::toRead)) {
      copied =
          segment
              .segment()
              .copyTailIntoPool(home, new MovePace(control, hook, MoveStage.MEND_COPIED));
    }
    Optional<MoveResult> ended = Copies.ended(copied, segment);
    if (ended.isPresent()) {
      return ended.get();
    }
    hook.reached(MoveStage.MEND_COMMITTED);
    if (!segment.segment().finishTail(copied)) {
      return MoveResult.cancelled("it was changed meanwhile");
    }
    hook.reached(MoveStage.MEND_DONE);
    return MoveResult.done(copied.bytes());
  }
}
