package io.strata.kafka.tier;

import io.strata.kafka.migration.MoveResult;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;

/**
 * Frees the slot of a clean segment, and removes the log file's tag at once.
 *
 * <p>Thread safety: any number of segments at a time; may meet {@link PressureRoom}, which evicts
 * the same ones.
 */
final class EvictMove {

  private final HomeNames names;
  private final HomeKeeper keeper;
  private final PressureRoom room;
  private final MoveStage.Hook hook;

  EvictMove(HomeNames names, HomeKeeper keeper, PressureRoom room, MoveStage.Hook hook) {
    this.names = names;
    this.keeper = keeper;
    this.room = room;
    this.hook = hook;
  }

  /**
   * Evicts a segment.
   *
   * @param in where it was clean
   */
  MoveResult run(TieredSegment segment, Residence in) throws IOException {
    if (segment.segment().size() == 0) {
      return empty(segment, in);
    }
    Optional<Long> freed = room.evictNow(segment);
    if (freed.isEmpty()) {
      return MoveResult.cancelled("it is not clean any more");
    }
    hook.reached(MoveStage.EVICT_FREED);
    try {
      keeper.untag(segment, in);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      keeper.failed("remove the tag of " + segment.home(), e);
      keeper.untagLater(segment, in);
    }
    hook.reached(MoveStage.EVICT_UNTAGGED);
    return MoveResult.done(freed.get());
  }

  /**
   * Home of a segment without bytes is as hollow as one that has lost its own: it must not be found
   * with a tag whose slot is free.
   */
  private MoveResult empty(TieredSegment segment, Residence in) throws IOException {
    boolean evicted =
        names.with(
            segment,
            home -> {
              SegmentTag.remove(home);
              Directories.force(home);
              boolean left = room.evictNow(segment).isPresent();
              if (!left) {
                in.tag().write(home);
              }
              return left;
            });
    if (!evicted) {
      return MoveResult.cancelled("it is not clean any more");
    }
    keeper.untag(segment, in);
    return MoveResult.done(0);
  }
}
