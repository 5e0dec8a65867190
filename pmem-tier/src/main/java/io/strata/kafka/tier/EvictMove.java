package io.strata.kafka.tier;

import io.strata.kafka.migration.MoveResult;
import io.strata.kafka.segment.Residence;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;

/**
 * Frees the slot of a clean segment, and removes the log file's tag at once; of any other segment
 * it frees the extents that are clean.
 *
 * <p>Thread safety: any number of segments at a time; may meet {@link PoolSpace}, which evicts the
 * same ones.
 */
final class EvictMove {

  private final SlotRelease release;
  private final PoolSpace space;
  private final MoveStage.Hook hook;

  EvictMove(SlotRelease release, PoolSpace space, MoveStage.Hook hook) {
    this.release = release;
    this.space = space;
    this.hook = hook;
  }

  /** Evicts the clean extents, if there are any, of a segment that stays in its pool. */
  MoveResult part(TieredSegment segment) throws IOException {
    long freed = space.evictPartNow(segment);
    hook.reached(MoveStage.EVICT_PART_FREED);
    return MoveResult.done(freed);
  }

  /**
   * Evicts a segment.
   *
   * @param in where it was clean
   */
  MoveResult run(TieredSegment segment, Residence in) throws IOException {
    Optional<Long> freed = space.evictNow(segment);
    if (freed.isEmpty()) {
      return MoveResult.cancelled("it is not clean any more");
    }
    hook.reached(MoveStage.EVICT_FREED);
    try {
      release.untag(segment, in);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      release.untagAgain(segment, in, e);
    }
    hook.reached(MoveStage.EVICT_UNTAGGED);
    return MoveResult.done(freed.get());
  }
}
